import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { LOTS_MAX } from "../../../../../src/domain/lots.ts";
import { accountId, archiveNow, prove } from "../../../archive/archived.ts";
import { query } from "../../../support/account_object.ts";
import { passTime } from "../../../support/clock.ts";
import { getToken, tokenId } from "../../../support/device_logins.ts";
import { signInWithCredits, type SignedIn } from "../../../support/passbook.ts";
import {
  accountOf,
  begin,
  expectSound,
  giveRecovery,
  now,
  pathOf,
  restore,
} from "../../../support/recovery.ts";
import { signInOperator, type Operator } from "./operators.ts";

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const PURCHASE = {
  package_id: "small",
  package_name: "Small",
  credits: 100,
  paid_minor: 500,
  currency: "eur",
};

/** An operator, and a person whose changes the double of point-in-time recovery records. */
async function people(): Promise<readonly [Operator, SignedIn]> {
  await giveRecovery();
  return [await signInOperator(), await signInWithCredits()];
}

async function startJob(ada: Pick<SignedIn, "post">, cost_estimate: number): Promise<string> {
  const job = { app: "demo", action: "draw", cost_estimate, ttl_seconds: 300 };
  const created = await ada.post("/api/jobs", job);
  expect(created.status).toBe(200);
  return created.body.job_id;
}

const complete = (ada: Pick<SignedIn, "post">, job_id: string, actual_cost: number) =>
  ada.post("/api/jobs/complete", { job_id, actual_cost });

const walletOf = async (ada: SignedIn) => {
  const { account, ...wallet } = (await ada.get("/api/wallet")).body;
  return { credits: account.credits, ...wallet };
};

describe("restoring an account to an earlier time", () => {
  it("an operator sees the difference before anything changes", async () => {
    const [olga, ada] = await people();
    const ended = await startJob(ada, 10);
    const to = now();
    await complete(ada, ended, 4);
    const gone = await startJob(ada, 20);
    await accountOf(ada).adjustCredits(
      { amount: -50, note: "by mistake", allow_negative: true },
      null,
    );
    const plan = await olga.get(`${pathOf(ada)}?to=${to}`);
    expect(plan).toMatchObject({
      status: 200,
      body: {
        now: { line: 6, credits: 26, held: 20, started_jobs: 1 },
        target: { line: 3, credits: 90, held: 10, started_jobs: 1 },
        undone_entries: 3,
        kept_credits: 0,
        decisions: [
          { what: "job_open_again", line: 4, job_id: ended, amount: 6 },
          { what: "job_gone", line: 5, job_id: gone, amount: -20 },
          { what: "credits_undone", line: 6, job_id: null, amount: -50, note: "by mistake" },
        ],
        decisions_total: 3,
      },
    });
    expect(await walletOf(ada)).toMatchObject({ credits: 26, held: 20 });
  });

  it("the restored account has the earlier credits and jobs, and keeps the undone entries", async () => {
    const [olga, ada] = await people();
    const job_id = await startJob(ada, 10);
    await archiveNow(ada.identity_id);
    const to = now();
    await complete(ada, job_id, 4);
    const gone = await startJob(ada, 20);
    await archiveNow(ada.identity_id);
    await accountOf(ada).adjustCredits(
      { amount: -50, note: "by mistake", allow_negative: true },
      null,
    );
    const restored = await restore(olga, ada, to);
    expect(restored).toMatchObject({
      status: 200,
      body: { now: { line: 7, credits: 90, held: 10, started_jobs: 1 }, lost: [] },
    });
    expect(await walletOf(ada)).toMatchObject({ credits: 90, held: 10 });
    const { entries } = (await ada.get("/api/ledger")).body;
    expect(entries.slice(0, 5)).toMatchObject([
      { line: 7, kind: "recovery", amount: 64, balance_after: 90 },
      { line: 6, kind: "adjustment", amount: -50 },
      { line: 5, kind: "reserve", job_id: gone },
      { line: 4, kind: "settle", job_id },
      { line: 3, kind: "reserve", job_id },
    ]);
    expect((await ada.get(`/api/jobs/${gone}`)).status).toBe(404);
    await expectSound(olga, ada);
    // Its time would be over, but for a day it can be completed again.
    passTime(10 * MINUTE_MS);
    expect(await complete(ada, job_id, 4)).toMatchObject({ status: 200, body: { credits: 96 } });
    await expectSound(olga, ada);
    const jobs = await env.DB.prepare("select id, status from jobs").all();
    expect(jobs.results).toEqual([{ id: job_id, status: "completed" }]);
    const { entries: audit } = (await olga.get(`/api/admin/audit?subject=${ada.identity_id}`)).body;
    expect(audit).toMatchObject([
      { act: "account.recover", reason: "A bad release", details: { to, outcome: "done" } },
    ]);
  });

  it("the archive names the undone entries, also after a second restore", async () => {
    const [olga, ada] = await people();
    const first = now();
    await accountOf(ada).adjustCredits({ amount: 7, note: "-" }, null);
    const second = now();
    await restore(olga, ada, first);
    const head = await archiveNow(ada.identity_id);
    const account_id = await accountId(ada.identity_id);
    expect(await prove(account_id, head)).toMatchObject({
      problems: [],
      undone: [{ first: 3, last: 3, by: 4 }],
      newest: { line: 4, credits: 100 },
    });
    passTime(MINUTE_MS);
    await restore(olga, ada, second);
    expect(await walletOf(ada)).toMatchObject({ credits: 107 });
    await expectSound(olga, ada);
    expect(await prove(account_id, await archiveNow(ada.identity_id))).toMatchObject({
      undone: [{ first: 4, last: 4, by: 5 }],
      newest: { line: 5, credits: 107 },
    });
  });

  it("payments after the time stay, once, with their refunds", async () => {
    const [olga, ada] = await people();
    const bought = { checkout_session_id: "cs_1", payment_intent_id: "pi_1", ...PURCHASE };
    await accountOf(ada).recordPurchase(bought);
    const to = now();
    const later = { checkout_session_id: "cs_2", payment_intent_id: "pi_2", ...PURCHASE };
    await accountOf(ada).recordPurchase({ ...later, expires_after_days: 30 });
    const half = { source_id: "re_1", amount_minor: 250, state: "lost" } as const;
    await accountOf(ada).recordReversal({ payment_intent_id: "pi_1", ...half });
    await accountOf(ada).adjustCredits({ amount: -40, note: "by mistake" }, null);
    expect((await olga.get(`${pathOf(ada)}?to=${to}`)).body.kept_credits).toBe(50);
    expect((await restore(olga, ada, to)).body.now).toMatchObject({ credits: 250 });
    for (const purchase of [bought, later]) await accountOf(ada).recordPurchase(purchase);
    expect(await walletOf(ada)).toMatchObject({ credits: 250 });
    expect((await walletOf(ada)).lots).toMatchObject([{ origin: "purchase", left: 100 }]);
    // The payments of a lot stay in the object.
    const seen = await accountOf(ada).wallet({ kind: "holder" }, { app: null });
    expect(seen).toMatchObject({ value: { lots: [{ left: 100, paid: [] }] } });
    await expectSound(olga, ada);
    const month = (await olga.get(`/api/admin/money?month=${now().slice(0, 7)}`)).body;
    const liability = [{ currency: "eur", credits: 150, amount_minor: 750 }];
    expect(month).toMatchObject({ closing: { bought: 150, given: 100 }, liability });
    await accountOf(ada).recordReversal({ ...half, payment_intent_id: "pi_2", source_id: "re_2" });
    expect(await walletOf(ada)).toMatchObject({ credits: 200, lots: [{ left: 50 }] });
    const after = (await olga.get(`/api/admin/money?month=${now().slice(0, 7)}`)).body;
    expect(after.liability).toEqual([{ currency: "eur", credits: 100, amount_minor: 500 }]);
    await expectSound(olga, ada);
  });

  it("a purchase after the time that had joined the lot of another one leaves that lot as it was", async () => {
    const [olga, ada] = await people();
    const give = () => {
      const terms = { expires_at_ms: Date.now() + 5 * DAY_MS, app_slugs: null, bought: false };
      return accountOf(ada).adjustCredits({ amount: 1, note: "gift", terms }, null);
    };
    for (let lots = 1; lots < LOTS_MAX - 1; lots += 1) await give();
    const first = { checkout_session_id: "cs_1", payment_intent_id: "pi_1", ...PURCHASE };
    await accountOf(ada).recordPurchase({ ...first, expires_after_days: 30 });
    const to = now();
    await give();
    const joining = { checkout_session_id: "cs_2", payment_intent_id: "pi_2", ...PURCHASE };
    await accountOf(ada).recordPurchase({ ...joining, expires_after_days: 10 });
    const boughtLots = async () =>
      (await walletOf(ada)).lots.filter(({ bought }: { bought: boolean }) => bought);
    expect(await boughtLots()).toMatchObject([{ left: 200 }]);
    expect((await restore(olga, ada, to)).status).toBe(200);
    expect(await boughtLots()).toMatchObject([{ left: 100 }, { left: 100 }]);
    await expectSound(olga, ada);
    // Each refund finds its own lot.
    const whole = { payment_intent_id: "pi_2", source_id: "re_1", amount_minor: 500 };
    await accountOf(ada).recordReversal({ ...whole, state: "lost" });
    expect(await boughtLots()).toMatchObject([{ left: 100 }]);
    await expectSound(olga, ada);
  });

  it("the credits of a plan's turn that is undone come again, once", async () => {
    const [olga, ada] = await people();
    const recurring = [{ credits: 10, every: "day", rollover_max: 0, app_slugs: null }];
    const plan = { name: "Studio", recurring };
    await olga.send("PUT", "/api/admin/plans/studio", plan, { "Idempotency-Key": "plan-1" });
    const joined = { plan: "studio", reason: "paid by invoice" };
    const path = `/api/admin/accounts/${ada.identity_id}/plan`;
    await olga.send("POST", path, joined, { "Idempotency-Key": "plan-2" });
    expect((await complete(ada, await startJob(ada, 4), 4)).body.credits).toBe(106);
    const to = now();
    passTime(DAY_MS);
    const before = await signInWithCredits();
    const [turn] = (await walletOf(before)).lots;
    expect(await walletOf(before)).toMatchObject({ credits: 110 });
    await restore(olga, ada, to);
    const wallet = await walletOf(before);
    expect(wallet).toMatchObject({ credits: 110, lots: [{ origin: "recurring", left: 10 }] });
    expect(wallet.lots).toHaveLength(1);
    expect(wallet.lots[0].expires_at).toBe(turn.expires_at);
    await expectSound(olga, ada);
  });

  it("access stays as it is now: a revoked token stays revoked, and a new one has its whole cap", async () => {
    const [olga, ada] = await people();
    const revoked = await getToken(ada);
    const to = now();
    await revoked.revoke(await tokenId(revoked));
    const capped = await getToken(ada, { caps: [{ credits: 30, period: "total" }] });
    await complete(capped, await startJob(capped, 25), 25);
    const texts = { reason: "-", public_reason: "One card, ten accounts." };
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/suspend`, texts);
    expect((await restore(olga, ada, to)).status).toBe(200);
    expect((await ada.get("/api/wallet")).body.public_reason).toBe(texts.public_reason);
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/restore`, { reason: "-" });
    expect((await revoked.get("/api/wallet")).status).toBe(401);
    expect((await capped.get("/api/wallet")).body).toMatchObject({ spendable: 30 });
    await complete(capped, await startJob(capped, 30), 30);
    await expectSound(olga, ada);
  });

  it("webhooks get each event once, also of entries after the restore", async () => {
    const [olga, ada] = await people();
    const to = now();
    const adjust = (amount: number) => accountOf(ada).adjustCredits({ amount, note: "-" }, null);
    await adjust(5);
    const wanted = {
      app_slug: "demo",
      events: ["credits.granted" as const],
      thresholds: [],
      since_ms: 0,
    };
    const before = await accountOf(ada).readWebhookEvents({ ...wanted, after: null });
    expect(before?.events.map(({ line }) => line)).toEqual([2, 3]);
    await restore(olga, ada, to);
    await adjust(8);
    const position = before?.position ?? expect.fail("no position");
    const after = await accountOf(ada).readWebhookEvents({ ...wanted, after: position });
    expect(after?.events.map(({ line }) => line)).toEqual([5]);
  });

  it("a restore whose last step failed is finished by the same command", async () => {
    const [olga, ada] = await people();
    const to = now();
    await accountOf(ada).adjustCredits({ amount: 5, note: "-" }, null);
    await begin(ada, to);
    // A request that comes in between is undone, and named.
    const job_id = await startJob(ada, 10);
    expect(await restore(olga, ada, to)).toMatchObject({
      status: 200,
      body: { now: { line: 4, credits: 100 }, lost: [{ line: 3, job_id, amount: -10 }] },
    });
    await expectSound(olga, ada);
    expect(await accountOf(ada).finishRecovery()).toMatchObject({
      refusal: { code: "recovery_refused" },
    });
    expect((await env.ARCHIVE.list({ prefix: "restores/" })).objects).toEqual([]);
  });

  it("what came after a restore that failed at its end stays when the command is repeated", async () => {
    const [olga, ada] = await people();
    const to = now();
    await accountOf(ada).adjustCredits({ amount: 5, note: "-" }, null);
    const token = await getToken(ada);
    const bucket = Object.getPrototypeOf(env.ARCHIVE);
    const spy = vi.spyOn(bucket, "delete").mockRejectedValue(new Error("R2 does not respond"));
    for (const level of ["log", "error"] as const) vi.spyOn(console, level).mockReturnValue();
    expect((await restore(olga, ada, to)).status).toBe(500);
    spy.mockRestore();
    const job_id = await startJob(ada, 10);
    await token.revoke(await tokenId(token));
    expect(await restore(olga, ada, to)).toMatchObject({
      status: 200,
      body: { now: { credits: 90, held: 10 }, lost: [] },
    });
    expect((await ada.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
    expect((await token.get("/api/wallet")).status).toBe(401);
    await expectSound(olga, ada);
    expect((await env.ARCHIVE.list({ prefix: "restores/" })).objects).toEqual([]);
  });

  it("damage in the rows themselves is gone after the restore", async () => {
    const [olga, ada] = await people();
    await startJob(ada, 10);
    const to = now();
    await accountOf(ada).readArchived();
    await query(ada.identity_id, "update recovery_clock set now_ms = 9e14");
    await query(ada.identity_id, "update entries set balance_after = 5000 where line = 2");
    await query(ada.identity_id, "delete from jobs");
    expect((await restore(olga, ada, to)).body.now).toMatchObject({ credits: 90, held: 10 });
    await expectSound(olga, ada);
  });

  it("a time that the platform cannot restore is refused, and nothing changes", async () => {
    const [olga, ada] = await people();
    const refusedAt = async (ms: number) => {
      const to = new Date(Date.now() + ms).toISOString();
      const refused = await restore(olga, ada, to);
      expect(refused).toMatchObject({ status: 409, body: { code: "recovery_refused" } });
      return refused.body.error;
    };
    expect(await refusedAt(HOUR_MS)).toContain("in the future");
    expect(await refusedAt(-31 * DAY_MS)).toContain("30 days");
    expect(await refusedAt(-HOUR_MS)).toContain("opened after");
    const unknown = await olga.get(`/api/admin/accounts/user_x/recovery?to=${now()}`);
    expect(unknown.status).toBe(404);
    vi.restoreAllMocks();
    expect(await refusedAt(-1_000)).toContain("platform cannot");
    expect(await walletOf(ada)).toMatchObject({ credits: 100 });
  });
});
