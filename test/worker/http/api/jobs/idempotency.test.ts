import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DAY_MS } from "../../../../../src/domain/calendar.ts";
import { dump, evict, fireAlarm, query } from "../../../support/account_object.ts";
import { getToken } from "../../../support/device_logins.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type Answer,
} from "../../../support/passbook.ts";
import worker from "../../../../../src/worker.ts";
import { signInOperator } from "../admin/operators.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 10 };
const KEY = { "Idempotency-Key": "order-66" };

describe("Idempotency-Key", () => {
  it("a request repeated with its key returns the first response with Idempotency-Replayed and runs once", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    expect(first.headers.get("Idempotency-Replayed")).toBeNull();
    await evict(ada.identity_id);
    const second = await ada.post("/api/jobs", JOB, KEY);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(90);
  });

  it("complete and fail repeated with their key return the first response", async () => {
    const ada = await signInWithCredits();
    for (const [path, rest] of [
      ["/api/jobs/complete", { actual_cost: 3 }],
      ["/api/jobs/fail", {}],
    ] as const) {
      const { job_id } = (await ada.post("/api/jobs", JOB)).body;
      const first = await ada.post(path, { job_id, ...rest }, KEY);
      const second = await ada.post(path, { job_id, ...rest }, KEY);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.text).toBe(first.text);
    }
  });

  it("a key with another body gets 422 and changes nothing", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", JOB, KEY);
    const other = await ada.post("/api/jobs", { ...JOB, cost_estimate: 11 }, KEY);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(90);
  });

  it("a key accepts the same body with other white space or order of fields", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    const same = `{ "cost_estimate": 10,\n "action": "draw", "app": "demo" }`;
    expect((await ada.post("/api/jobs", same, KEY)).text).toBe(first.text);
  });

  it("a key belongs to one account and one endpoint", async () => {
    const ada = await signInWithCredits("demo", "ada@example.com");
    const bob = await signInWithCredits("demo", "bob@example.com");
    const first = await ada.post("/api/jobs", JOB, KEY);
    const second = await bob.post("/api/jobs", JOB, KEY);
    expect(second.body.job_id).not.toBe(first.body.job_id);
    const { job_id } = first.body;
    expect((await ada.post("/api/jobs/fail", { job_id }, KEY)).status).toBe(200);
  });

  it("the key of a late completion returns the same response again", async () => {
    await signInWithCredits();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const created = await (await signIn()).post("/api/jobs", { ...JOB, ttl_seconds: 60 }, KEY);
    vi.setSystemTime(Date.now() + 61_000);
    const ada = await signIn();
    const end = { job_id: created.body.job_id, actual_cost: 7 };
    const first = await ada.post("/api/jobs/complete", end, KEY);
    expect(first.body).toMatchObject({ job: { status: "completed" }, credits: 93 });
    await evict(ada.identity_id);
    expect((await ada.post("/api/jobs/complete", end, KEY)).text).toBe(first.text);
    // The expiry used no key, so a fail request with the same key is a new request.
    const failed = await ada.post("/api/jobs/fail", { job_id: end.job_id }, KEY);
    expect(failed).toMatchObject({ status: 400, body: { code: "job_ended" } });
  });

  it("a key appears in no other response, export, stream or table of D1", async () => {
    const operator = await signInOperator();
    const ada = await signInWithCredits();
    const headers = { Upgrade: "websocket", Authorization: `Bearer ${ada.token}` };
    const watch = new Request(new URL("/api/events", BASE_URL), { headers });
    const streamed = await worker.fetch(watch, env, createExecutionContext());
    const messages: unknown[] = [];
    streamed.webSocket?.addEventListener("message", ({ data }) => messages.push(data));
    streamed.webSocket?.accept();
    onTestFinished(() => streamed.webSocket?.close());
    const { job_id } = (await ada.post("/api/jobs", JOB, KEY)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 }, KEY);
    await vi.waitFor(() => expect(messages).toHaveLength(3));
    await fireAlarm(ada.identity_id);
    const texts = [JSON.stringify(messages)];
    const pages = ["", "/jobs", "/statement", "/statement.csv", "/data.json"];
    for (const page of pages.map((it) => `/account${it}`)) {
      const shown = await send("GET", page, { headers: { Cookie: ada.cookies } });
      expect(shown.status).toBe(200);
      texts.push(shown.text);
    }
    const own = ["/api/wallet", "/api/ledger", "/api/jobs", `/api/jobs/${job_id}`];
    for (const path of own) texts.push((await ada.get(path)).text);
    const theirs = `/api/admin/accounts/${ada.identity_id}`;
    for (const path of [theirs, `${theirs}/ledger`, `${theirs}/jobs`]) {
      texts.push((await operator.send("GET", path)).text);
    }
    for (const table of ["accounts", "grants", "jobs", "daily_totals"]) {
      texts.push(JSON.stringify((await env.DB.prepare(`select * from ${table}`).all()).results));
    }
    expect(texts.join()).toContain(job_id);
    expect(texts.filter((text) => /order-66|idempotency_/.test(text))).toEqual([]);
  });

  it("the key of a refused request can be used again", async () => {
    const ada = await signIn();
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(402);
    await ada.get("/api/wallet?app=demo");
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(200);
  });

  it("a key is kept for 24 hours", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    const start_ms = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start_ms + DAY_MS - 60_000 });
    const within = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(within.body.job_id).toBe(first.body.job_id);
    vi.setSystemTime(start_ms + DAY_MS + 1_000);
    const after = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(after.body.job_id).not.toBe(first.body.job_id);
    expect((await (await signIn()).post("/api/jobs", JOB, KEY)).body).toEqual(after.body);
  });

  it("a repeated request returns the balance of the first response even if the balance has changed", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", JOB)).body;
    const started = await ada.post("/api/jobs", JOB, KEY);
    const settled = await ada.post("/api/jobs/complete", { job_id, actual_cost: 12 }, KEY);
    const failed = await ada.post("/api/jobs/fail", { job_id: started.body.job_id }, KEY);
    expect([started, settled, failed].map(({ body }) => body.credits)).toEqual([80, 78, 88]);
    await ada.post("/api/jobs", { ...JOB, cost_estimate: 60 });
    await evict(ada.identity_id);
    const again = [
      await ada.post("/api/jobs", JOB, KEY),
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 12 }, KEY),
      await ada.post("/api/jobs/fail", { job_id: started.body.job_id }, KEY),
    ];
    expect(again.map(({ text }) => text)).toEqual([started.text, settled.text, failed.text]);
    expect(again.every(({ headers }) => headers.get("Idempotency-Replayed") === "true")).toBe(true);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(28);
  });

  it.each([
    ["complete", { actual_cost: 3 }, { actual_cost: 4 }],
    ["fail", {}, { refund: false }],
  ])(
    "the key of %s with another body for the same job gets 422 and changes nothing",
    async (path, one, other) => {
      const ada = await signInWithCredits();
      const { job_id } = (await ada.post("/api/jobs", JOB)).body;
      await ada.post(`/api/jobs/${path}`, { job_id, ...one }, KEY);
      const before = await dump(ada.identity_id);
      const refused = await ada.post(`/api/jobs/${path}`, { job_id, ...other }, KEY);
      expect(refused).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
      expect(await dump(ada.identity_id)).toBe(before);
    },
  );

  it("the key of complete and fail belongs to the job, so another job can be settled with it", async () => {
    const ada = await signInWithCredits();
    const ids = [
      (await ada.post("/api/jobs", JOB)).body.job_id,
      (await ada.post("/api/jobs", JOB)).body.job_id,
    ];
    for (const job_id of ids) {
      const first = await ada.post("/api/jobs/complete", { job_id, actual_cost: 3 }, KEY);
      expect([first.status, first.headers.get("Idempotency-Replayed")]).toEqual([200, null]);
    }
    for (const job_id of ids) {
      const again = await ada.post("/api/jobs/complete", { job_id, actual_cost: 3 }, KEY);
      expect(again.headers.get("Idempotency-Replayed")).toBe("true");
      expect(again.body.job.id).toBe(job_id);
    }
  });

  it("the key of one personal token is separate from those of other tokens and of the holder", async () => {
    const ada = await signInWithCredits();
    const holders = [ada, await getToken(ada), await getToken(ada, { apps: ["demo"] })];
    const firsts: Answer[] = [];
    for (const holder of holders) {
      const created = await holder.post("/api/jobs", JOB, KEY);
      expect([created.status, created.headers.get("Idempotency-Replayed")]).toEqual([200, null]);
      firsts.push(created);
    }
    expect(new Set(firsts.map(({ body }) => body.job_id)).size).toBe(3);
    for (const [at, holder] of holders.entries()) {
      expect((await holder.post("/api/jobs", JOB, KEY)).text).toBe(firsts[at]?.text);
    }
    const [own, other] = [holders[1], holders[2]];
    const end = { job_id: firsts[1]?.body.job_id, actual_cost: 1 };
    const settled = await own?.post("/api/jobs/complete", end, KEY);
    expect((await own?.post("/api/jobs/complete", end, KEY))?.text).toBe(settled?.text);
    for (const stranger of [ada, other]) {
      const refused = await stranger?.post("/api/jobs/complete", end, KEY);
      expect(refused).toMatchObject({ status: 400, body: { code: "job_ended" } });
    }
  });

  it("the key of complete is kept for exactly 24 hours", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const ada = await signInWithCredits();
    const end = { job_id: (await ada.post("/api/jobs", JOB)).body.job_id, actual_cost: 1 };
    const start_ms = Date.now();
    const first = await ada.post("/api/jobs/complete", end, KEY);
    vi.setSystemTime(start_ms + DAY_MS - 1);
    expect((await (await signIn()).post("/api/jobs/complete", end, KEY)).text).toBe(first.text);
    vi.setSystemTime(start_ms + DAY_MS);
    expect((await (await signIn()).post("/api/jobs/complete", end, KEY)).status).toBe(400);
  });

  it("the key of a creation is found after the clock goes back over midnight", async () => {
    const midnight_ms = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
    vi.useFakeTimers({ toFake: ["Date"], now: midnight_ms + 1_000 });
    const first = await (await signInWithCredits()).post("/api/jobs", JOB, KEY);
    vi.setSystemTime(midnight_ms - 1_000);
    expect((await (await signIn()).post("/api/jobs", JOB, KEY)).text).toBe(first.text);
  });

  it("a key that is used again after 24 hours returns the newer response, even after the clock goes back", async () => {
    const midnight_ms = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
    vi.useFakeTimers({ toFake: ["Date"], now: midnight_ms + 1_000 });
    await (await signInWithCredits()).post("/api/jobs", JOB, KEY);
    vi.setSystemTime(midnight_ms + 1_000 + DAY_MS);
    const newer = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(newer.headers.get("Idempotency-Replayed")).toBeNull();
    vi.setSystemTime(midnight_ms + DAY_MS);
    expect((await (await signIn()).post("/api/jobs", JOB, KEY)).text).toBe(newer.text);
  });

  it("the key of a request that was rolled back can be used again", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const before = await dump(ada.identity_id);
    const fails = "before insert on idempotency_keys begin select raise(abort, 'no'); end";
    await query(ada.identity_id, `create trigger broken ${fails}`);
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(500);
    expect(await dump(ada.identity_id)).toBe(before);
    await query(ada.identity_id, "drop trigger broken");
    const made = await ada.post("/api/jobs", JOB, KEY);
    expect([made.status, made.headers.get("Idempotency-Replayed")]).toEqual([200, null]);
    expect((await ada.post("/api/jobs", JOB, KEY)).text).toBe(made.text);
  });

  it("an expired key can be used for a new request", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 60 * 60 * 1000 });
    const later = await signIn();
    const second = await later.post("/api/jobs", { ...JOB, cost_estimate: 11 }, KEY);
    expect(second.status).toBe(200);
    expect(second.body.job_id).not.toBe(first.body.job_id);
  });

  it.each(["", " ", "with space", "x".repeat(256)])("the key %j is refused", async (key) => {
    const ada = await signInWithCredits();
    const response = await ada.post("/api/jobs", JOB, { "Idempotency-Key": key });
    expect(response.status).toBe(400);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
  });
});
