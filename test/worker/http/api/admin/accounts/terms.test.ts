import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../../../../src/domain/calendar.ts";
import { LOTS_MAX } from "../../../../../../src/domain/lots.ts";
import { countRowsWritten, evict, fireAlarm } from "../../../../support/account_object.ts";
import { passTime } from "../../../../support/clock.ts";
import { expectInvariants } from "../../../../account/invariants.ts";
import { signIn, signInWithCredits, type SignedIn } from "../../../../support/passbook.ts";
import { signInOperator, type Operator } from "../operators.ts";

let keys = 0;

function give(olga: Operator, { identity_id }: SignedIn, amount: number, terms: object = {}) {
  const path = `/api/admin/accounts/${identity_id}/credits`;
  const headers = { "Idempotency-Key": `give-${(keys += 1)}` };
  return olga.send("POST", path, { amount, reason: "a gift", ...terms }, headers);
}

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

async function people() {
  return [await signInOperator(), await signInWithCredits()] as const;
}

const reserve = (ada: SignedIn, cost_estimate: number, app = "demo") =>
  ada.post("/api/jobs", { app, action: "draw", cost_estimate, ttl_seconds: 30 * 24 * 3_600 });

describe("credits with terms", () => {
  it("a repeated step of a job shows where its credits came from then, not what the job cost", async () => {
    const [olga, ada] = await people();
    await give(olga, ada, 50, { expires_at: inDays(3) });
    const { job_id } = (await reserve(ada, 60)).body;
    const step = { job_id, step: 1, spent: 10 };
    const first = await ada.post("/api/jobs/progress", step);
    expect(first.body.job.from).toMatchObject([{ credits: 50 }, { credits: 10 }]);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 20 });
    expect((await ada.post("/api/jobs/progress", step)).text).toBe(first.text);
  });

  it("credits that an operator gave until a day are used first, and what is left then expires", async () => {
    const [olga, ada] = await people();
    const expires_at = inDays(3);
    const given = await give(olga, ada, 50, { expires_at });
    const { lot_id } = given.body.entry;
    expect(given.body).toMatchObject({
      entry: { amount: 50, terms: { expires_at, app_slugs: null, bought: false } },
      credits: 150,
    });
    const { body } = await ada.get("/api/wallet?app=demo");
    expect(body).toMatchObject({
      account: { credits: 150 },
      bought: 0,
      lots: [{ id: lot_id, origin: "adjustment", left: 50, held: 0, expires_at, note: "a gift" }],
      next_expiry: { credits: 50, at: expires_at },
      spendable: 150,
    });
    const { job_id } = (await reserve(ada, 60)).body;
    const done = await ada.post("/api/jobs/complete", { job_id, actual_cost: 20 });
    expect(done.body).toMatchObject({
      credits: 130,
      job: { from: [{ lot_id, bought: false, credits: 20 }] },
    });
    passTime(3 * DAY_MS);
    const later = await signIn("ada@example.com");
    expect((await later.get("/api/wallet")).body).toMatchObject({
      account: { credits: 100 },
      lots: [],
      next_expiry: null,
    });
    expect((await later.get("/api/ledger?kind=expire")).body.entries).toMatchObject([
      { kind: "expire", amount: -30, balance_after: 100, lot_id, note: "a gift", terms: null },
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("several lots that end at the same time expire together, each by an entry", async () => {
    const [olga, ada] = await people();
    const expires_at = inDays(1);
    for (const amount of [10, 20, 30]) await give(olga, ada, amount, { expires_at });
    await give(olga, ada, 5, { expires_at: inDays(2) });
    passTime(3 * DAY_MS);
    const later = await signIn("ada@example.com");
    const { entries } = (await later.get("/api/ledger?kind=expire")).body;
    expect(entries.map((entry: { amount: number }) => entry.amount)).toEqual([-5, -30, -20, -10]);
    expect((await later.get("/api/wallet")).body).toMatchObject({
      account: { credits: 100 },
      lots: [],
    });
    await expectInvariants(ada.identity_id);
  });

  it("held credits do not expire, and what a slow job gives back is usable for seven days", async () => {
    const [olga, ada] = await people();
    await give(olga, ada, 50, { expires_at: inDays(1) });
    const { job_id } = (await reserve(ada, 40)).body;
    passTime(2 * DAY_MS);
    const later = await signIn("ada@example.com");
    const wallet = (await later.get("/api/wallet")).body;
    expect(wallet).toMatchObject({ account: { credits: 100 }, held: 40, lots: [{ held: 40 }] });
    await later.post("/api/jobs/complete", { job_id, actual_cost: 15 });
    const returned = (await later.get("/api/wallet")).body;
    expect(returned.account.credits).toBe(125);
    expect(returned.lots).toMatchObject([{ origin: "returned", left: 25, expires_at: inDays(7) }]);
    passTime(7 * DAY_MS);
    const last = await signIn("ada@example.com");
    expect((await last.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("the refund of a job comes back to the credits that it used up, and for seven days once their time is over", async () => {
    const [olga, ada] = await people();
    const expires_at = inDays(3);
    const { lot_id } = (await give(olga, ada, 50, { expires_at })).body.entry;
    const { job_id } = (await reserve(ada, 50)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 50 });
    expect((await ada.get("/api/wallet")).body).toMatchObject({
      account: { credits: 100 },
      lots: [],
    });
    const refund = (amount: number) =>
      olga.send(
        "POST",
        `/api/admin/accounts/${ada.identity_id}/jobs/${job_id}/refund`,
        { amount, reason: "It drew nothing" },
        { "Idempotency-Key": `refund-${amount}` },
      );
    await refund(30);
    expect((await ada.get("/api/wallet")).body).toMatchObject({
      account: { credits: 130 },
      lots: [{ id: lot_id, left: 30, held: 0, expires_at }],
    });
    passTime(3 * DAY_MS);
    const later = await signIn("ada@example.com");
    expect((await later.get("/api/wallet")).body).toMatchObject({
      account: { credits: 100 },
      lots: [],
    });
    await refund(20);
    expect((await later.get("/api/wallet")).body).toMatchObject({
      account: { credits: 120 },
      lots: [{ origin: "returned", left: 20, expires_at: inDays(7) }],
    });
    await expectInvariants(ada.identity_id);
  });

  it("an account that nobody calls expires its credits by the alarm", async () => {
    const [olga, ada] = await people();
    await give(olga, ada, 50, { expires_at: inDays(1) });
    await evict(ada.identity_id);
    passTime(DAY_MS);
    await fireAlarm(ada.identity_id);
    await fireAlarm(ada.identity_id);
    const { body } = await olga.get(`/api/admin/accounts?q=${ada.identity_id}`);
    expect(body.accounts).toMatchObject([{ credits: 100 }]);
  });

  it("credits for one app are reserved by that app only, and a refusal says what it can spend", async () => {
    const [olga, ada] = await people();
    await give(olga, ada, 50, { app_slugs: ["demo"] });
    const other = await reserve(ada, 120, "other");
    expect([other.status, other.body]).toMatchObject([
      402,
      { code: "insufficient_credits", credits: 150, spendable: 100, held: 0, required: 120 },
    ]);
    const own = await reserve(ada, 120);
    expect(own.status).toBe(200);
    expect((await ada.get(`/api/jobs/${own.body.job_id}`)).body.from).toMatchObject([
      { credits: 50 },
      { lot_id: null, bought: false, credits: 70 },
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("an overage takes usable credits in the order of use, and then owes", async () => {
    const [olga, ada] = await people();
    await give(olga, ada, 50, { app_slugs: ["other"] });
    await give(olga, ada, 20, { expires_at: inDays(2) });
    const { job_id } = (await reserve(ada, 10)).body;
    const done = await ada.post("/api/jobs/complete", { job_id, actual_cost: 150 });
    expect(done.body.credits).toBe(20);
    const demo = (await ada.get("/api/wallet?app=demo")).body;
    expect([demo.spendable, demo.lots.length]).toEqual([-30, 1]);
    // Credits for all apps pay what is owed first; those for one app do not.
    await give(olga, ada, 40, { expires_at: inDays(2), bought: true });
    const paid = (await ada.get("/api/wallet?app=demo")).body;
    expect([paid.spendable, paid.bought]).toEqual([10, 10]);
    await expectInvariants(ada.identity_id);
  });

  it("a negative adjustment takes credits for all apps only", async () => {
    const [olga, ada] = await people();
    await give(olga, ada, 50, { app_slugs: ["demo"] });
    const refused = await give(olga, ada, -120);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: "balance_below_zero", credits: 100, required: 120 },
    ]);
    expect((await give(olga, ada, -100)).body.credits).toBe(50);
    await expectInvariants(ada.identity_id);
  });

  it("terms that make no sense are refused, and change nothing", async () => {
    const [olga, ada] = await people();
    for (const terms of [
      { expires_at: inDays(-1) },
      { expires_at: "tomorrow" },
      { app_slugs: [] },
      { app_slugs: ["demo", "demo"] },
      { app_slugs: ["No Slug"] },
      { bought: "yes" },
    ]) {
      expect((await give(olga, ada, 10, terms)).body.code).toBe("invalid_request");
    }
    expect((await give(olga, ada, -10, { bought: true })).body.code).toBe("invalid_request");
    const price = { paid_minor: 500, currency: "eur" };
    for (const [amount, terms] of [
      [10, price],
      [10, { ...price, bought: false }],
      [10, { bought: true, paid_minor: 500 }],
      [10, { bought: true, currency: "eur" }],
      [10, { ...price, bought: true, currency: "EUR" }],
      [10, { ...price, bought: true, currency: "euro" }],
      [10, { ...price, bought: true, currency: "qqq" }],
      [10, { ...price, bought: true, paid_minor: 0 }],
      [10, { ...price, bought: true, paid_minor: 1.5 }],
      [-10, price],
    ] as const) {
      const { status, body } = await give(olga, ada, amount, terms);
      expect([status, body.code], JSON.stringify(terms)).toEqual([400, "invalid_request"]);
    }
    expect((await ada.get("/api/wallet")).body).toMatchObject({
      account: { credits: 100 },
      lots: [],
    });
  });

  it("a gift that is repeated with its key after its credits have expired gets its first response", async () => {
    const [olga, ada] = await people();
    const gift = { amount: 50, reason: "a gift", expires_at: inDays(1 / 288) };
    const send = (key: string) =>
      olga.send("POST", `/api/admin/accounts/${ada.identity_id}/credits`, gift, {
        "Idempotency-Key": key,
      });
    const given = await send("gift");
    passTime(DAY_MS / 288);
    const repeated = await send("gift");
    expect([repeated.status, repeated.body]).toEqual([200, given.body]);
    expect(repeated.headers.get("Idempotency-Replayed")).toBe("true");
    const late = await send("another");
    expect([late.status, late.body]).toEqual([
      400,
      { code: "invalid_request", error: "expires_at must be in the future." },
    ]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("an account has at most a hundred lots", async () => {
    const [olga, ada] = await people();
    for (let lots = 0; lots < LOTS_MAX; lots += 1) {
      expect((await give(olga, ada, 1, { expires_at: inDays(1 + lots) })).status).toBe(200);
    }
    const more = await give(olga, ada, 1, { expires_at: inDays(1) });
    expect([more.status, more.body.code]).toEqual([400, "too_many_lots"]);
    expect((await give(olga, ada, 1)).body.credits).toBe(201);
    await expectInvariants(ada.identity_id);
  }, 60_000);

  it("a job of an account without terms writes as many rows as before there were terms", async () => {
    const [, ada] = await people();
    const counted = await countRowsWritten(ada.identity_id);
    const { job_id } = (await reserve(ada, 10)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    // Two entries, the job's row twice.
    expect(counted()).toBe(4);
  });
});
