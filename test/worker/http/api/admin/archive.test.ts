import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { ACCOUNTS_COMPARED, shareOf } from "../../../../../src/operations/compared_accounts.ts";
import { ARCHIVES_REQUESTED } from "../../../../../src/operations/due_archives.ts";
import { upkeepOf } from "../../../../../src/services.ts";
import { sha256 } from "../../../../../src/archive/bytes.ts";
import { accountId, archiveNow, archiveState, prove } from "../../../archive/archived.ts";
import { accountFolder } from "../../../../../src/domain/archive_segment.ts";
import { change, fireAlarm } from "../../../support/account_object.ts";
import { passTime } from "../../../support/clock.ts";
import { environmentWith, signIn, signInWithCredits } from "../../../support/passbook.ts";
import { deliver, openCheckout, openStripe, SELLING } from "../../../payments/till.ts";
import { openConsole } from "../../../web/console/pages.ts";
import { operatorOnPages, SETTINGS, signInOperator } from "./operators.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function people() {
  return [await signInOperator(), await signInWithCredits()] as const;
}

const fromBase64Url = (text: string): Uint8Array =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );

describe("the archive for operators", () => {
  it("an operator has an account write, and reads its segments, whose bytes fit the head", async () => {
    const [olga, ada] = await people();
    const path = `/api/admin/accounts/${ada.identity_id}/archive`;
    const before = await olga.get(path);
    expect(before.body).toMatchObject({ line: 2, head: null, segments: [] });
    expect((await olga.send("POST", path)).body).toEqual({ ok: true });
    await fireAlarm(ada.identity_id);
    await vi.waitFor(async () => expect((await olga.get(path)).body.head).not.toBeNull());
    const { body } = await olga.get(path);
    const account_id = await accountId(ada.identity_id);
    expect(body).toEqual({
      account_id,
      identity_id: ada.identity_id,
      line: 2,
      head: { line: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      segments: ["000000000001-000000000002.jsonl.gz"],
    });
    const segment = await olga.get(`${path}/${body.segments[0]}`);
    expect(await sha256(fromBase64Url(segment.body.content))).toBe(body.head.sha256);
    expect((await prove(account_id, body.head)).problems).toEqual([]);
    const { entries } = (await olga.get(`/api/admin/audit?subject=${ada.identity_id}`)).body;
    expect(entries).toMatchObject([{ act: "account.archive", details: { outcome: "done" } }]);
  });

  it("an operator lists the heads of all accounts in pages, and has all of them write", async () => {
    const [olga, ada] = await people();
    const bob = await signInWithCredits("demo", "bob@example.com");
    const requested = await olga.send("POST", "/api/admin/archive");
    expect(requested.body).toEqual({ requested: 3, failed: [] });
    for (const { identity_id } of [ada, bob]) await archiveNow(identity_id);
    const heads: unknown[] = [];
    for (let cursor = ""; ;) {
      const page = await olga.get(`/api/admin/archive?limit=1${cursor}`);
      expect(page.status).toBe(200);
      heads.push(...page.body.heads);
      if (page.body.next_cursor === undefined) break;
      cursor = `&cursor=${page.body.next_cursor}`;
    }
    expect(heads).toHaveLength(2);
    expect(heads).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          identity_id: ada.identity_id,
          head: expect.objectContaining({ line: 2 }),
        }),
      ]),
    );
  });

  it("a segment's name cannot lead to another account's folder, and an unknown one is 404", async () => {
    const [olga, ada] = await people();
    const bob = await signInWithCredits("demo", "bob@example.com");
    await archiveNow(bob.identity_id);
    const other = `../${await accountId(bob.identity_id)}/000000000001-000000000002.jsonl.gz`;
    for (const name of [other, "000000000001-000000000002.jsonl.gz", "heads", "%2e%2e"]) {
      const path = `/api/admin/accounts/${ada.identity_id}/archive/${encodeURIComponent(name)}`;
      expect((await olga.get(path)).status, name).toBe(404);
    }
  });

  it("only the role admin reads the archive, and without a bucket the response says what is missing", async () => {
    const [, ada] = await people();
    const settings = { OPERATORS: "olga@example.com=support" };
    const { person } = await signInOperator();
    const support = operatorOnPages(person, settings);
    const path = `/api/admin/accounts/${ada.identity_id}/archive`;
    for (const read of [path, "/api/admin/archive"]) {
      expect((await support.get(read)).body.code).toBe("role_required");
    }
    const olga = operatorOnPages(person, { ...SETTINGS, ARCHIVE: undefined });
    for (const missing of [await olga.get(path), await olga.send("POST", path)]) {
      expect(missing.status).toBe(404);
      expect(missing.body.error).toContain("Add the bucket ARCHIVE");
    }
  });
});

describe("the schedule", () => {
  const run = (settings: object = {}) => upkeepOf(environmentWith(settings))();

  it("an account that nobody uses any more is written to the archive after ARCHIVE_MAX_AGE_DAYS", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    passTime(2 * DAY_MS);
    await run({ ARCHIVE_MAX_AGE_DAYS: "3" });
    await fireAlarm(ada.identity_id);
    expect(await archiveState(ada.identity_id)).toBeUndefined();
    passTime(2 * DAY_MS);
    await run({ ARCHIVE_MAX_AGE_DAYS: "3" });
    await fireAlarm(ada.identity_id);
    await vi.waitFor(async () =>
      expect(await archiveState(ada.identity_id)).toMatchObject({ line: 2 }),
    );
    // It is not written again, and not even woken.
    passTime(10 * DAY_MS);
    await run();
    expect(await fireAlarm(ada.identity_id)).toBe(false);
  });

  it("one run wakes a bounded number of accounts, wherever in the table they are", async () => {
    const rows = Array.from({ length: ARCHIVES_REQUESTED + 50 }, () => {
      const id = crypto.randomUUID();
      return env.DB.prepare(
        `insert into accounts (id, identity_id, plan, created_at_ms, line, credits, reserved, updated_at_ms)
         values (?1, ?1, 'free', 0, 5, 0, 0, 0)`,
      ).bind(id);
    });
    await env.DB.batch(rows);
    const log = vi.spyOn(console, "log").mockReturnValue();
    await run();
    expect(log.mock.calls.flat()).toContainEqual(
      expect.objectContaining({ archive: { requested: ARCHIVES_REQUESTED } }),
    );
  });
});

async function runSchedule(): Promise<void> {
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(console, "log").mockReturnValue();
  await upkeepOf(environmentWith({}))();
}

describe("differences", () => {
  async function archived() {
    const [olga, ada] = await people();
    const who = ada.identity_id;
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 10 });
    await archiveNow(who);
    await fireAlarm(who);
    const check = async () =>
      (await olga.get(`/api/admin/accounts/${who}/differences`)).body.differences;
    expect(await check()).toEqual([]);
    return { olga, who, check };
  }

  it("an account whose own rows do not add up differs in its balance or its held credits", async () => {
    const { who, check } = await archived();
    await change(who, "update jobs set reserved = 11");
    expect(await check()).toEqual([
      { identity_id: who, where: "account", what: "held", expected: 11, found: 10 },
    ]);
    await change(
      who,
      "update jobs set reserved = 10; update entries set amount = 50 where line = 2",
    );
    expect(await check()).toEqual([
      { identity_id: who, where: "account", what: "balance", expected: 40, found: 90 },
      { identity_id: who, where: "archive", what: "entry", expected: 2, found: null },
    ]);
  });

  it("a newest segment that is missing or changed differs, and so does a balance in the read model", async () => {
    const { olga, who, check } = await archived();
    const key = `${accountFolder(await accountId(who))}000000000001-000000000003.jsonl.gz`;
    const bytes = await (await env.ARCHIVE.get(key))?.arrayBuffer();
    await env.ARCHIVE.put(key, new Uint8Array(bytes ?? new ArrayBuffer()).with(9, 7));
    expect(await check()).toMatchObject([{ where: "archive", what: "segment_changed" }]);
    await env.ARCHIVE.delete(key);
    expect(await check()).toMatchObject([{ where: "archive", what: "segment_missing" }]);
    await env.ARCHIVE.put(key, bytes ?? "");
    await env.DB.prepare("update accounts set credits = 91").run();
    const page = await olga.get("/api/admin/differences");
    expect(page.body).toEqual({
      checked: 2,
      differences: [
        // All balances together are not the daily totals either.
        { identity_id: null, where: "read_model", what: "daily_totals", expected: 101, found: 100 },
        { identity_id: who, where: "read_model", what: "balance", expected: 90, found: 91 },
      ],
      failed: [],
    });
  });

  it("the schedule counts differences, so that an operator gets a message, and repairs nothing", async () => {
    const { olga, who, check } = await archived();
    await change(who, "update entries set amount = 50 where line = 2");
    await runSchedule();
    const { figures } = (await olga.get("/api/admin/health")).body;
    expect(figures).toContainEqual(
      expect.objectContaining({
        name: "differences",
        status: "warning",
        value: 2,
        reason: "account: balance",
      }),
    );
    expect(await check()).toHaveLength(2);
  });

  it("the console lists what the schedule found until the account is compared again without a difference", async () => {
    const { who } = await archived();
    const browser = await openConsole();
    const page = () => browser.open("/console/differences");
    expect((await page()).text).toContain("No account differs");
    await env.DB.prepare("update accounts set credits = 91").run();
    await runSchedule();
    const { text } = await page();
    expect(text).toContain(`<a href="/console/accounts/${who}">${who}</a>`);
    for (const shown of ["These lists", "balance", "90", "91"]) expect(text).toContain(shown);
    // All balances together differ from the daily totals, too.
    expect(text).toContain("All accounts");
    expect(text).toContain("daily totals");
    await env.DB.prepare("update accounts set credits = 90").run();
    passTime(25 * 60 * 60 * 1000);
    await runSchedule();
    expect((await page()).text).toContain("No account differs");
  });

  it("the daily totals of all accounts differ from their balances, and the command says so", async () => {
    const { olga } = await archived();
    await env.DB.prepare("update daily_totals set granted = granted + 5 where granted > 0").run();
    const page = await olga.get("/api/admin/differences");
    expect(page.body.differences).toEqual([
      { identity_id: null, where: "read_model", what: "daily_totals", expected: 100, found: 105 },
    ]);
  });

  it("daily totals that count given credits as bought ones differ from the balances", async () => {
    const { olga } = await archived();
    await env.DB.prepare("update daily_totals set adjusted_bought = 5 where granted > 0").run();
    const where = { identity_id: null, where: "read_model" };
    expect((await olga.get("/api/admin/differences")).body.differences).toEqual([
      { ...where, what: "daily_totals_bought", expected: 0, found: 5 },
    ]);
  });

  it("a purchase that the payment service does not know differs", async () => {
    const { who } = await archived();
    const stripe = openStripe();
    const settings = { ...SETTINGS, ...SELLING };
    const olga = operatorOnPages((await signInOperator()).person, settings);
    const check = () => olga.get(`/api/admin/accounts/${who}/differences`);
    const ada = await signIn();
    const id = await openCheckout(ada);
    await deliver(stripe.completes(id));
    expect((await check()).body).toEqual({ checked: 1, differences: [], failed: [] });
    await change(who, "update purchases set payment_intent_id = 'pi_invented'");
    expect((await check()).body.differences).toEqual([
      { identity_id: who, where: "payments", what: "purchase", expected: 100, found: null },
    ]);
  });

  it("each run compares the next share of the accounts, and the next round begins after the last", async () => {
    const [, ada] = await people();
    const others = ["bob@example.com", "cleo@example.com"];
    const three = [ada, ...(await Promise.all(others.map((it) => signInWithCredits("demo", it))))];
    for (const { identity_id } of three) {
      await change(identity_id, "update entries set amount = 50 where line = 2");
    }
    const usual = { ...ACCOUNTS_COMPARED };
    // The first round does not know how many there are.
    Object.assign(ACCOUNTS_COMPARED, { least: 2, most: 2 });
    const found: number[] = [];
    const round = async () => (await env.DB.prepare("select * from comparison").first()) ?? {};
    try {
      // Two runs for four people, and a third one that finds the end.
      for (let runs = 0; runs < 3; runs += 1) {
        await runSchedule();
        const rows = await env.DB.prepare("select distinct account_id from differences").all();
        found.push(rows.results.length);
      }
    } finally {
      Object.assign(ACCOUNTS_COMPARED, usual);
    }
    expect(found[0]).toBeLessThan(3);
    expect(found.slice(1)).toEqual([3, 3]);
    expect(await round()).toMatchObject({ after_id: "" });
    // So that all are done within five days, and at most half of a run's calls are for this.
    expect([0, 1, 720 * 60, 10_000_000].map(shareOf)).toEqual([500, 50, 60, 500]);
  });

  it("a comparison of all accounts that takes more than a week is a warning", async () => {
    const { olga } = await archived();
    await runSchedule();
    const figure = async () =>
      (await olga.get("/api/admin/health")).body.figures.find(
        (it: { readonly name: string }) => it.name === "comparison_age",
      );
    expect(await figure()).toMatchObject({ status: "ok" });
    await env.DB.prepare("update comparison set began_at_ms = ?")
      .bind(Date.now() - 8 * DAY_MS)
      .run();
    expect(await figure()).toMatchObject({ status: "warning", value: 8 * 86_400 });
  });
});
