/** The platform lost the storage of an account, and an operator restores it from the archive. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { accountFolder, jobsFolder, segmentName } from "../../../src/domain/archive_segment.ts";
import { ACCOUNT_FULL_BYTES, ARCHIVE_AFTER_DAYS } from "../../../src/domain/limits.ts";
import { evict, fireAlarm, query, repeatAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { getToken } from "../support/device_logins.ts";
import { signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import {
  accountOf,
  expectSound,
  giveRecovery,
  loseStorage as loseStorageOf,
} from "../support/recovery.ts";
import { signInOperator, type Operator } from "../http/api/admin/operators.ts";
import {
  openShop,
  pay,
  saveCard,
  settleDown,
  switchOn,
  topUpOf,
  topUpsOf,
} from "../top_up/topped_up.ts";
import { moodOfR2 } from "./archive_faults.ts";
import { accountId, archiveNow, archiveState, segmentNames } from "./archived.ts";

const KEY = { "Idempotency-Key": "once" };
const DAY_MS = 24 * 60 * 60 * 1000;
const PURCHASE = {
  checkout_session_id: "cs_1",
  payment_intent_id: "pi_1",
  package_id: "small",
  package_name: "Small",
  credits: 100,
  paid_minor: 500,
  currency: "eur",
};

let olga: Operator;
let ada: SignedIn;

beforeEach(async () => {
  // The Worker's clock is ahead of real time, so that no alarm fires by itself.
  passTime(60 * 60 * 1000);
  olga = await signInOperator();
  ada = await signInWithCredits();
});

async function startJob(cost_estimate: number, metadata = {}): Promise<string> {
  const job = { app: "demo", action: "draw", cost_estimate, ttl_seconds: 300, metadata };
  const created = await ada.post("/api/jobs", job);
  expect(created.status).toBe(200);
  return created.body.job_id;
}

const complete = (job_id: string, actual_cost: number) =>
  ada.post("/api/jobs/complete", { job_id, actual_cost });

async function work(jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= 1) {
    passTime(1_000);
    expect((await complete(await startJob(3), 2)).status).toBe(200);
  }
}

const loseStorage = () => loseStorageOf(ada);

const path = () => `/api/admin/accounts/${ada.identity_id}/lost-storage`;
const plan = () => olga.get(path());
const restore = () => olga.send("POST", path(), { reason: "The storage is gone" });

const everything = async () => ({
  entries: await query<{ line: number }>(ada.identity_id, "select * from entries order by line"),
  jobs: await query<{ id: string }>(ada.identity_id, "select * from jobs order by id"),
  apps: await query(ada.identity_id, "select * from apps"),
  purchases: await query(ada.identity_id, "select * from purchases"),
  reversals: await query(ada.identity_id, "select * from purchase_reversals"),
});

const walletOf = async () => {
  const { account, held } = (await ada.get("/api/wallet")).body;
  return { credits: account.credits, held };
};

/** Changes a stored file. */
async function rewrite(
  key: string,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<Uint8Array> {
  const before = new Uint8Array((await (await env.ARCHIVE.get(key))?.arrayBuffer()) ?? []);
  await env.ARCHIVE.put(key, change(before.slice()));
  return before;
}

describe("restoring an account whose storage was lost", () => {
  it("the account has its archived entries, jobs and purchases again, and works", async () => {
    const ended = await startJob(10, { page: 1 });
    await complete(ended, 6);
    await accountOf(ada).recordPurchase(PURCHASE);
    const reversal = { source_id: "re_1", amount_minor: 250, state: "lost" } as const;
    await accountOf(ada).recordReversal({ payment_intent_id: "pi_1", ...reversal });
    await archiveNow(ada.identity_id);
    const started = await startJob(20);
    await archiveNow(ada.identity_id);
    const before = await everything();
    await loseStorage();
    expect(await plan()).toMatchObject({
      status: 200,
      body: { head: { line: 7 }, read_model: { line: 7, credits: 124, held: 20 }, refusal: null },
    });
    expect(await restore()).toMatchObject({
      status: 200,
      body: { now: { line: 8, credits: 124, held: 20, started_jobs: 1 }, lost_entries: 0 },
    });
    const after = await everything();
    expect(after.entries.slice(0, -1)).toEqual(before.entries);
    expect(after.entries.at(-1)).toMatchObject({ kind: "recovery", amount: 0, previous_line: 7 });
    expect({ ...after, entries: [], jobs: [] }).toEqual({ ...before, entries: [], jobs: [] });
    expect(await walletOf()).toEqual({ credits: 124, held: 20 });
    await expectSound(olga, ada);
    // Its time would be over, but for a day it can be completed.
    passTime(10 * 60 * 1000);
    expect(await complete(started, 15)).toMatchObject({ status: 200, body: { credits: 129 } });
    const refunds = `/api/admin/accounts/${ada.identity_id}/jobs/${ended}/refund`;
    expect((await olga.send("POST", refunds, { reason: "Blurred" }, KEY)).status).toBe(200);
    expect(await walletOf()).toEqual({ credits: 135, held: 0 });
    expect((await ada.get(`/api/jobs/${ended}`)).body.metadata).toEqual({ page: 1 });
    await work(1);
    await expectSound(olga, ada);
    const { entries: audit } = (await olga.get(`/api/admin/audit?subject=${ada.identity_id}`)).body;
    expect(audit.at(-1)).toMatchObject({
      act: "account.restore_lost",
      reason: "The storage is gone",
      details: { outcome: "done" },
    });
    expect((await restore()).body).toMatchObject({ code: "recovery_refused" });
    expect((await plan()).body.refusal).toContain("has its storage");
  });

  it("entries that only the read model had are lost, their numbers are not used again, and the totals still add up", async () => {
    await work(2);
    await archiveNow(ada.identity_id);
    const gone = await startJob(30);
    await accountOf(ada).recordPurchase(PURCHASE);
    await loseStorage();
    expect((await restore()).body).toMatchObject({
      now: { line: 9, credits: 96, held: 0 },
      lost_entries: 2,
    });
    const { entries } = (await ada.get("/api/ledger")).body;
    expect(entries.slice(0, 3)).toMatchObject([
      { line: 9, kind: "recovery", amount: -70, balance_after: 96 },
      { line: 8, kind: "recovery", amount: 70, balance_after: 166 },
      { line: 7, kind: "recovery", amount: 0 },
    ]);
    expect((await ada.get(`/api/jobs/${gone}`)).status).toBe(404);
    await expectSound(olga, ada);
    const jobs = await env.DB.prepare("select count(*) as jobs from jobs").first();
    expect(jobs).toEqual({ jobs: 2 });
    // The payment service has the purchase: it is booked again.
    await accountOf(ada).recordPurchase(PURCHASE);
    await work(1);
    expect(await walletOf()).toEqual({ credits: 194, held: 0 });
    await expectSound(olga, ada);
  });

  it("an account that was opened again and not used gets its ledger back, and keeps what has access", async () => {
    await work(2);
    await archiveNow(ada.identity_id);
    const old = await getToken(ada);
    await loseStorage();
    vi.spyOn(console, "warn").mockReturnValue();
    expect(await walletOf()).toEqual({ credits: 0, held: 0 });
    expect((await ada.get("/api/wallet?app=demo")).body.account.credits).toBe(100);
    const token = await getToken(ada);
    await accountOf(ada).requestArchive();
    await fireAlarm(ada.identity_id);
    const failing = "select failing_since_ms from archive where failing_since_ms is not null";
    await vi.waitFor(async () => expect(await query(ada.identity_id, failing)).toHaveLength(1));
    const { objects } = await env.ARCHIVE.list({ prefix: "ledger/" });
    expect(objects).toHaveLength(1);
    // The read model keeps what the restore begins with.
    const rows = await env.DB.prepare("select line from accounts where identity_id = ?")
      .bind(ada.identity_id)
      .all();
    expect(rows.results).toEqual([{ line: 6 }]);
    expect((await olga.get(`/api/admin/accounts/${ada.identity_id}/archive`)).body).toMatchObject({
      head: { line: 6 },
    });
    expect((await restore()).body).toMatchObject({ now: { line: 7, credits: 96 } });
    expect((await token.get("/api/wallet")).body.account.credits).toBe(96);
    expect((await old.get("/api/wallet")).status).toBe(401);
    await work(1);
    await expectSound(olga, ada);
  });

  it("an account that was used after its storage was lost is refused, and can go on as it is", async () => {
    await work(2);
    await archiveNow(ada.identity_id);
    await loseStorage();
    vi.spyOn(console, "warn").mockReturnValue();
    await ada.get("/api/wallet?app=demo");
    await work(1);
    const refused = await restore();
    expect(refused).toMatchObject({ status: 409, body: { code: "recovery_refused" } });
    expect(refused.body.error).toContain("entry 3 is of the kind reserve");
    expect((await plan()).body.refusal).toContain("passbook admin rebuild");
    expect(await walletOf()).toEqual({ credits: 98, held: 0 });
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/rebuild`, {});
    await expectSound(olga, ada);
    expect((await plan()).body.refusal).toContain("has its storage");
  });

  it("a restore that breaks off shows nothing of the account, and the same request finishes it", async () => {
    for (let segments = 22; segments > 0; segments -= 1) {
      await work(1);
      await archiveNow(ada.identity_id);
    }
    const before = await everything();
    await loseStorage();
    const r2 = moodOfR2();
    const bucket = Object.getPrototypeOf(env.ARCHIVE);
    const get = vi.mocked(bucket.get).getMockImplementation();
    let reads = 0;
    vi.mocked(bucket.get).mockImplementation(function (this: unknown, ...args: unknown[]) {
      reads += 1;
      r2.mood = reads > 15 ? "fails before" : "well";
      return Reflect.apply(get as () => unknown, this, args);
    });
    for (const level of ["log", "error", "warn"] as const)
      vi.spyOn(console, level).mockReturnValue();
    const unreachable = await restore();
    expect(unreachable).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(unreachable.headers.get("Retry-After")).not.toBeNull();
    expect((await archiveState(ada.identity_id))?.line).toBeGreaterThan(2);
    r2.mood = "well";
    vi.mocked(bucket.get).mockImplementation(get as never);
    for (const shown of ["/api/wallet", "/api/ledger", "/api/jobs"]) {
      const refused = await ada.get(shown);
      expect(refused).toMatchObject({ status: 503, body: { code: "account_restoring" } });
      expect(refused.headers.get("Retry-After")).not.toBeNull();
    }
    await evict(ada.identity_id);
    await repeatAlarm(ada.identity_id);
    expect((await ada.get("/api/wallet")).status).toBe(503);
    expect((await plan()).body.refusal).toBeNull();
    expect((await restore()).body).toMatchObject({ now: { line: 47, credits: 56 } });
    const after = await everything();
    expect(after.entries.slice(0, -1)).toEqual(before.entries);
    expect(after.jobs).toEqual(before.jobs);
    await work(1);
    await expectSound(olga, ada);
  });

  it("a segment that is damaged, missing or exchanged is named, and the account can be restored after it is repaired", async () => {
    for (let segments = 3; segments > 0; segments -= 1) {
      await work(1);
      await archiveNow(ada.identity_id);
    }
    const folder = accountFolder(await accountId(ada.identity_id));
    const [first = "", second = "", last = ""] = await segmentNames(
      await accountId(ada.identity_id),
    );
    await loseStorage();
    const flipped = await rewrite(folder + second, (bytes) => {
      bytes[bytes.length - 9] = (bytes[bytes.length - 9] ?? 0) ^ 1;
      return bytes;
    });
    expect((await restore()).body.error).toContain(second);
    await env.ARCHIVE.put(folder + second, await rewrite(folder + first, (bytes) => bytes));
    expect((await restore()).body.error).toContain(`${second} is not the next segment`);
    await env.ARCHIVE.delete(folder + second);
    expect((await restore()).body.error).toContain(`${last} is not the next segment`);
    await env.ARCHIVE.put(folder + second, flipped);
    const newest = await rewrite(folder + last, (bytes) => bytes);
    await env.ARCHIVE.delete(folder + last);
    expect((await restore()).body.error).toContain("The segment after entry 6 is missing");
    // Nothing is left of the attempts.
    expect((await everything()).entries).toEqual([]);
    await env.ARCHIVE.put(folder + last, newest);
    expect((await restore()).body).toMatchObject({ now: { line: 9, credits: 94 } });
    await expectSound(olga, ada);
  });

  it("a segment whose rows are newer than its entries brings back the later entries too", async () => {
    const job_id = await startJob(10);
    const r2 = moodOfR2();
    vi.spyOn(console, "warn").mockReturnValue();
    r2.mood = "fails before";
    await accountOf(ada).requestArchive();
    await fireAlarm(ada.identity_id);
    await vi.waitFor(async () =>
      expect(await archiveState(ada.identity_id)).toMatchObject({ pending_line: 3 }),
    );
    await complete(job_id, 4);
    r2.mood = "well";
    await vi.waitFor(async () => {
      passTime(20 * 60 * 1000);
      await repeatAlarm(ada.identity_id);
      expect(await archiveState(ada.identity_id)).toMatchObject({ line: 3 });
    });
    expect(await segmentNames(await accountId(ada.identity_id))).toEqual([
      segmentName({ first: 1, last: 3 }),
    ]);
    await loseStorage();
    expect((await restore()).body).toMatchObject({
      now: { line: 5, credits: 96, held: 0, started_jobs: 0 },
      lost_entries: 0,
    });
    [ada, olga] = [await signIn(), await signInOperator()];
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ status: "completed" });
    await expectSound(olga, ada);
  });

  it("what an earlier restore undid stays undone", async () => {
    await giveRecovery();
    const kept = await startJob(10);
    await archiveNow(ada.identity_id);
    const to = new Date(Date.now()).toISOString();
    passTime(60_000);
    await complete(kept, 4);
    const gone = await startJob(20);
    await archiveNow(ada.identity_id);
    const earlier = { to, reason: "-" };
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/recovery`, earlier);
    await archiveNow(ada.identity_id);
    const before = await everything();
    vi.restoreAllMocks();
    await loseStorage();
    expect((await restore()).body).toMatchObject({ now: { line: 7, credits: 90, held: 10 } });
    expect((await everything()).jobs).toMatchObject([
      { ...before.jobs[0], expires_at_ms: expect.any(Number) },
    ]);
    expect((await ada.get(`/api/jobs/${gone}`)).status).toBe(404);
    await complete(kept, 4);
    await expectSound(olga, ada);
  });

  it("old rows of a large account leave again while it is restored", async () => {
    for (let segments = 3; segments > 0; segments -= 1) {
      await work(2);
      await archiveNow(ada.identity_id);
    }
    const account_id = await accountId(ada.identity_id);
    passTime((ARCHIVE_AFTER_DAYS.usual + 1) * DAY_MS);
    [ada, olga] = [await signIn(), await signInOperator()];
    const lists = async () => ({
      jobs: (await ada.get("/api/jobs?limit=100")).body.jobs,
      entries: (await ada.get("/api/ledger?limit=100")).body.entries.slice(-14),
    });
    const before = await lists();
    await loseStorage();
    await runInDurableObject(accountOf(ada), (_, { storage }) => {
      const prototype = Object.getPrototypeOf(storage.sql);
      const half = ACCOUNT_FULL_BYTES / 2;
      vi.spyOn(prototype, "databaseSize", "get").mockReturnValue(half);
    });
    expect((await restore()).body).toMatchObject({ now: { line: 15, credits: 88 } });
    await vi.waitFor(async () => {
      passTime(61 * 60 * 1000);
      await repeatAlarm(ada.identity_id);
      const left = await query<{ line: number }>(
        ada.identity_id,
        "select line from balance_forward",
      );
      expect(left).toEqual([{ line: 14 }]);
    });
    const files = await env.ARCHIVE.list({ prefix: jobsFolder(account_id) });
    expect(files.objects.length).toBeGreaterThan(0);
    [ada, olga] = [await signIn(), await signInOperator()];
    expect(await lists()).toEqual(before);
    await expectSound(olga, ada);
  });

  it("the public reason of a suspension that ended is not that of a later suspension", async () => {
    const account = `/api/admin/accounts/${ada.identity_id}`;
    const suspend = (more: object) =>
      olga.send("POST", `${account}/suspend`, { reason: "fraud", ...more });
    await suspend({ public_reason: "One card, many accounts." });
    await archiveNow(ada.identity_id);
    await olga.send("POST", `${account}/restore`, { reason: "an error" });
    passTime(60_000);
    await suspend({});
    await loseStorage();
    expect((await restore()).status).toBe(200);
    const shown = (await olga.get(account)).body.account;
    expect(shown.suspended_at).not.toBeNull();
    expect(shown.suspended_public_reason).toBeNull();
  });

  it("webhooks get each event of a lost account once", async () => {
    const wanted = {
      app_slug: "demo",
      events: ["credits.granted" as const, "job.completed" as const],
      thresholds: [],
      since_ms: 0,
    };
    const read = async (after: object | null) => {
      const page = await accountOf(ada).readWebhookEvents({ ...wanted, after: after as never });
      const { position, events } = page ?? expect.fail("no page");
      return { position, lines: events.map(({ line }) => line) };
    };
    await work(1);
    const first = await read(null);
    expect(first.lines).toEqual([2, 4]);
    await work(1);
    await archiveNow(ada.identity_id);
    await loseStorage();
    await restore();
    const second = await read({ ...first.position, unnumbered: 50 });
    // Not lost, although it was not delivered before. Events without an entry are numbered again.
    expect(second.lines).toEqual([6]);
    expect(second.position.unnumbered).toBe(0);
    await loseStorage();
    await ada.get("/api/wallet?app=demo");
    // The account was opened again, and its senders begin again.
    const third = await read(second.position);
    expect(third.position.line).toBe(2);
    await restore();
    expect((await read(third.position)).lines).toEqual([]);
    await work(1);
    expect((await read(third.position)).lines).toHaveLength(1);
  });

  it("automatic top-up is off, and a new one uses no number again and counts the charges of the month", async () => {
    const stripe = openShop();
    ada = await switchOn(stripe);
    await pay(ada, 60);
    await settleDown(ada);
    await archiveNow(ada.identity_id);
    await loseStorage();
    expect((await restore()).body).toMatchObject({ now: { credits: 140 } });
    await pay(ada, 100);
    await settleDown(ada);
    expect(stripe.charged()).toHaveLength(1);
    await saveCard(stripe, ada);
    expect(await topUpOf(ada)).toMatchObject({ on: true, month_spent_minor: 1_000 });
    await settleDown(ada);
    expect(stripe.charged()).toHaveLength(2);
    expect(await topUpOf(ada)).toMatchObject({ month_spent_minor: 1_000 });
    const numbers = (await topUpsOf(ada)).map(({ number }) => number);
    expect(Math.min(...numbers)).toBeGreaterThan(1_000_000);
    await expectSound(olga, ada);
  });

  it("the deletion of an account that was opened again deletes the lost one too", async () => {
    await work(2);
    await archiveNow(ada.identity_id);
    const account_id = await accountId(ada.identity_id);
    await loseStorage();
    vi.spyOn(console, "warn").mockReturnValue();
    await ada.get("/api/wallet?app=demo");
    await accountOf(ada).deleteAccount({ kind: "holder" } as const);
    await vi.waitFor(async () => {
      passTime(20 * 60 * 1000);
      await repeatAlarm(ada.identity_id);
      expect(await segmentNames(account_id)).toEqual([]);
      const rows = await env.DB.prepare("select id from accounts where identity_id = ?")
        .bind(ada.identity_id)
        .all();
      expect(rows.results).toEqual([]);
    });
    expect((await restore()).status).toBe(404);
  });
});
