/** Keys wherever they lie: in the ledger line alone, in a page of many, or in a row of their own. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { DAY_MS } from "../../src/domain/day.ts";
import { IDEMPOTENCY_TABLE_LINES, LEDGER_CLOCK_SKEW_MS } from "../../src/domain/limits.ts";
import { evict, query } from "../support/account_object.ts";
import { getToken } from "../support/device_logins.ts";
import { signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { keepFewKeys } from "./few_keys.ts";

const BOUNDS = { lines_max: 4, page_lines: 2, pages_max: 3 };
const JOB = { app: "demo", action: "draw", cost_estimate: 1 };
const KEY = { "Idempotency-Key": "order-66" };

beforeEach(() => {
  onTestFinished(keepFewKeys(BOUNDS));
});

const start = (person: SignedIn, key: string, body: object = { ...JOB, cost_estimate: 0 }) =>
  person.post("/api/jobs", body, { "Idempotency-Key": key });

/** Requests under so many other keys, which move older ones on. */
async function crowd(person: SignedIn, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    expect((await start(person, crypto.randomUUID())).status).toBe(200);
  }
}

interface Places {
  readonly pages: number;
  readonly rows: number;
}

async function places({ identity_id }: SignedIn): Promise<Places> {
  const [found] = await query<Places>(
    identity_id,
    `select (select count(*) from kept_key_pages) as pages,
      (select count(*) from kept_answers) as rows`,
  );
  return found ?? { pages: 0, rows: 0 };
}

describe.each([
  ["in its line alone", 0, { pages: 0, rows: 0 }],
  ["in a page of many", BOUNDS.lines_max, { pages: 1, rows: 0 }],
  [
    "in a row of its own",
    BOUNDS.lines_max + BOUNDS.page_lines * BOUNDS.pages_max,
    { pages: 3, rows: 2 },
  ],
])("a key that lies %s", (_, others, expected) => {
  /** A job of ten credits under the key, and then so many others that it lies where it shall. */
  async function keep(ada: SignedIn, body: object, path = "/api/jobs") {
    // The oldest keys of all are in pages, so those that go to rows come after them.
    if (expected.rows > 0) await crowd(ada, BOUNDS.page_lines * BOUNDS.pages_max);
    const first = await ada.post(path, body, KEY);
    expect(first.status).toBe(200);
    await crowd(ada, expected.rows > 0 ? BOUNDS.lines_max : others);
    return first;
  }

  it("gives its first answer again after any waking, and no other body gets one", async () => {
    const ada = await signInWithCredits();
    const first = await keep(ada, JOB);
    expect(await places(ada)).toEqual(expected);
    for (let time = 0; time < 2; time += 1) {
      const again = await ada.post("/api/jobs", JOB, KEY);
      expect(again.text).toBe(first.text);
      expect(again.headers.get("Idempotency-Replayed")).toBe("true");
      const other = await ada.post("/api/jobs", { ...JOB, cost_estimate: 2 }, KEY);
      expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
      await evict(ada.identity_id);
    }
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(99);
  });

  it("gives an end's first answer again, as it was", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", JOB)).body;
    const body = { job_id, actual_cost: 3, metadata: { description: "a fox", ["__proto__"]: 1 } };
    const first = await keep(ada, body, "/api/jobs/complete");
    await evict(ada.identity_id);
    expect((await ada.post("/api/jobs/complete", body, KEY)).text).toBe(first.text);
  });

  it("tells a token limited to other apps nothing, and its own token its answer", async () => {
    const ada = await signInWithCredits();
    const [own, other] = [
      await getToken(ada, { apps: ["demo"] }),
      await getToken(ada, { apps: ["other"] }),
    ];
    if (expected.rows > 0) await crowd(ada, BOUNDS.page_lines * BOUNDS.pages_max);
    const first = await own.post("/api/jobs", JOB, KEY);
    await crowd(ada, expected.rows > 0 ? BOUNDS.lines_max : others);
    expect(await places(ada)).toEqual(expected);
    expect((await other.post("/api/jobs", JOB, KEY)).status).toBe(422);
    expect((await own.post("/api/jobs", JOB, KEY)).text).toBe(first.text);
    expect((await ada.post("/api/jobs", JOB, KEY)).text).toBe(first.text);
  });

  it("is kept for 24 hours to the millisecond, and then is anyone's again", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const ada = await signInWithCredits();
    const first = await keep(ada, JOB);
    const at_ms = Date.now();
    vi.setSystemTime(at_ms + DAY_MS - 1);
    expect((await start(await signIn(), "order-66", JOB)).text).toBe(first.text);
    vi.setSystemTime(at_ms + DAY_MS);
    const anew = await start(await signIn(), "order-66", { ...JOB, cost_estimate: 2 });
    expect(anew.status).toBe(200);
    expect(anew.headers.get("Idempotency-Replayed")).toBeNull();
    await evict(ada.identity_id);
    const again = await start(await signIn(), "order-66", { ...JOB, cost_estimate: 2 });
    expect(again.text).toBe(anew.text);
  });
});

describe("keys in lines", () => {
  it("cost a row for each page of them, and pages of yesterday are written over", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    let ada = await signInWithCredits();
    const held = BOUNDS.lines_max + BOUNDS.page_lines * BOUNDS.pages_max;
    await crowd(ada, held);
    expect(await places(ada)).toEqual({ pages: BOUNDS.pages_max, rows: 0 });
    for (let day = 0; day < 3; day += 1) {
      vi.setSystemTime(Date.now() + DAY_MS + 60_001);
      ada = await signIn();
      await crowd(ada, held);
      expect(await places(ada)).toEqual({ pages: BOUNDS.pages_max, rows: 0 });
      await evict(ada.identity_id);
    }
  });

  it("that go to rows late are kept no longer, and make no table begin before now", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const at_ms = Date.now();
    let ada = await signInWithCredits();
    await crowd(ada, BOUNDS.page_lines * BOUNDS.pages_max);
    await start(ada, "order-66");
    await crowd(ada, BOUNDS.lines_max - 1);
    vi.setSystemTime(at_ms + DAY_MS - 1_000);
    ada = await signIn();
    // As if so many lines had been written since the tables last changed places.
    const grow = `update account set kept_since_line = -${IDEMPOTENCY_TABLE_LINES}`;
    await query(ada.identity_id, grow);
    await crowd(ada, 1);
    expect(await places(ada)).toEqual({ pages: BOUNDS.pages_max, rows: BOUNDS.page_lines });
    const since = await query(ada.identity_id, "select kept_since_ms from account");
    expect(since).toEqual([{ kept_since_ms: Date.now() }]);
    vi.setSystemTime(at_ms + DAY_MS);
    const anew = await start(ada, "order-66");
    expect([anew.status, anew.headers.get("Idempotency-Replayed")]).toEqual([200, null]);
  });

  it("are found behind any number of lines without one", async () => {
    const ada = await signInWithCredits();
    const first = await start(ada, "order-66");
    for (let at = 0; at < 10; at += 1) await ada.post("/api/jobs", { ...JOB, cost_estimate: 0 });
    const second = await start(ada, "order-67");
    await ada.post("/api/jobs/batch", { jobs: [JOB, JOB, JOB] }, KEY);
    await evict(ada.identity_id);
    expect((await start(ada, "order-66")).text).toBe(first.text);
    expect((await start(ada, "order-67")).text).toBe(second.text);
    expect(await places(ada)).toEqual({ pages: 0, rows: 1 });
  });

  it("stay for their 24 hours where the clock goes back, by whatever it does", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    let ada = await signInWithCredits();
    const at_ms = Date.now();
    const first = await start(ada, "order-66");
    vi.setSystemTime(at_ms - 5 * 60 * 60 * 1000);
    ada = await signIn();
    await crowd(ada, BOUNDS.lines_max + BOUNDS.page_lines);
    for (const later_ms of [at_ms, at_ms + DAY_MS - 1]) {
      vi.setSystemTime(later_ms);
      ada = await signIn();
      await crowd(ada, 1);
      await evict(ada.identity_id);
      expect((await start(ada, "order-66")).text).toBe(first.text);
    }
  });

  it("are not forgotten by a clock that is ahead by less than a minute", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const at_ms = Date.now();
    const first = await start(await signInWithCredits(), "order-66");
    vi.setSystemTime(at_ms + DAY_MS + LEDGER_CLOCK_SKEW_MS - 1);
    await crowd(await signIn(), 1);
    vi.setSystemTime(at_ms + DAY_MS - 1);
    expect((await start(await signIn(), "order-66")).text).toBe(first.text);
  });

  it("that a failing store undid are nobody's, and those before and after are", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const first = await start(ada, "order-66");
    // What fails comes after the line and, with the fifth key, after a page of older ones.
    for (const key of ["second", "third", "fourth", "fifth"]) {
      await query(
        ada.identity_id,
        "create trigger broken before insert on jobs begin select raise(abort, 'no'); end",
      );
      expect((await start(ada, key)).status).toBe(500);
      await query(ada.identity_id, "drop trigger broken");
      const made = await start(ada, key);
      expect([made.status, made.headers.get("Idempotency-Replayed")]).toEqual([200, null]);
      expect((await start(ada, key)).text).toBe(made.text);
    }
    await evict(ada.identity_id);
    expect((await start(ada, "order-66")).text).toBe(first.text);
    expect(await places(ada)).toEqual({ pages: 1, rows: 0 });
  });
});
