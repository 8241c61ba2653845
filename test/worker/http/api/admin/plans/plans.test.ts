import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS, monthOf } from "../../../../../../src/domain/calendar.ts";
import { BALANCE_MAX_CREDITS } from "../../../../../../src/domain/limits.ts";
import { planListOf } from "../../../../../../src/directory/plan_list.ts";
import { upkeepOf } from "../../../../../../src/services.ts";
import { expectInvariants } from "../../../../account/invariants.ts";
import { change, evict, fireAlarm, query, readAlarm } from "../../../../support/account_object.ts";
import { passTime } from "../../../../support/clock.ts";
import { signIn, signInWithCredits, type SignedIn } from "../../../../support/passbook.ts";
import { signInOperator, type Operator } from "../operators.ts";

const DAILY = { credits: 10, every: "day", rollover_max: 4, app_slugs: null } as const;
const REASON = { reason: "paid by invoice" };
let keys = 0;

const key = () => ({ "Idempotency-Key": `plan-${(keys += 1)}` });

const save = (olga: Operator, body: object, id = "studio") =>
  olga.send("PUT", `/api/admin/plans/${id}`, { name: "Studio", ...body }, key());

const join = (olga: Operator, { identity_id }: SignedIn, plan: string, more: object = {}) =>
  olga.send("POST", `/api/admin/accounts/${identity_id}/plan`, { plan, ...REASON, ...more }, key());

/** Ada has 100 credits without terms. */
async function people(...recurring: readonly object[]) {
  const olga = await signInOperator();
  const saved = await save(olga, { recurring: recurring.length === 0 ? [DAILY] : recurring });
  expect(saved.status).toBe(200);
  return [olga, await signInWithCredits()] as const;
}

async function entriesOf(ada: SignedIn) {
  const { entries } = (await ada.get("/api/ledger")).body;
  return entries.map(({ kind, amount }: { kind: string; amount: number }) => [kind, amount]);
}

const spend = async (ada: SignedIn, cost_estimate: number) => {
  const started = await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate });
  const { job_id } = started.body;
  await ada.post("/api/jobs/complete", { job_id, actual_cost: cost_estimate });
};

const lotsOf = async (ada: SignedIn) =>
  (await ada.get("/api/wallet")).body.lots.map(
    ({ origin, left }: { origin: string; left: number }) => [origin, left],
  );

const NEWEST_TWO = "select kind, amount from entries order by line desc limit 2";

/** Moves the clock to the second day of a month. @returns the time. */
function beginMonth(): number {
  passTime(monthOf(Date.now()).to_ms + DAY_MS - Date.now());
  return Date.now();
}

const isAgain = () => signIn("ada@example.com");

it("there are at most a hundred plans, which can still be changed", async () => {
  const olga = await signInOperator();
  for (let number = 0; number < 100; number += 1) {
    expect((await save(olga, { recurring: [] }, `plan-${number}`)).status).toBe(200);
  }
  const one_more = await save(olga, { recurring: [] }, "one-more");
  expect(one_more).toMatchObject({ status: 400, body: { of: "plans", limit: 100 } });
  const changed = await save(olga, { recurring: [DAILY], version: 1 }, "plan-7");
  expect(changed.status).toBe(200);
});

describe("plans with credits", () => {
  it("a plan brings its credits at once, and they expire when the next ones come", async () => {
    const [olga, ada] = await people({ ...DAILY, rollover_max: 0 });
    const begun_ms = Date.now();
    const { body } = await join(olga, ada, "studio");
    expect(body).toMatchObject({ ok: true, account: { plan: "studio", credits: 110 } });
    const wallet = (await ada.get("/api/wallet?app=demo")).body;
    expect(wallet).toMatchObject({
      account: { plan: "studio", credits: 110 },
      lots: [{ origin: "recurring", left: 10, bought: false, app_slugs: null }],
      spendable: 110,
    });
    const expires_ms = Date.parse(wallet.lots[0].expires_at);
    expect(expires_ms).toBeGreaterThanOrEqual(begun_ms + DAY_MS);
    expect(expires_ms).toBeLessThanOrEqual(Date.now() + DAY_MS);
    await spend(ada, 3);
    passTime(DAY_MS);
    const later = await isAgain();
    expect((await entriesOf(later)).slice(0, 2)).toEqual([
      ["recurring", 10],
      ["expire", -7],
    ]);
    expect(await lotsOf(later)).toEqual([["recurring", 10]]);
    await expectInvariants(ada.identity_id);
  });

  it("at the turn, what a rule keeps goes on for one more period, and does not roll over again", async () => {
    const [olga, ada] = await people();
    await join(olga, ada, "studio");
    await spend(ada, 3);
    passTime(DAY_MS);
    const second = await isAgain();
    expect((await entriesOf(second)).slice(0, 3)).toEqual([
      ["recurring", 10],
      ["rollover", 0],
      ["expire", -3],
    ]);
    expect(await lotsOf(second)).toEqual([
      ["rollover", 4],
      ["recurring", 10],
    ]);
    await spend(second, 1);
    passTime(DAY_MS);
    const third = await isAgain();
    expect((await entriesOf(third)).slice(0, 3)).toEqual([
      ["recurring", 10],
      ["rollover", 0],
      // 3 of the credits that rolled over, and 6 of the period's.
      ["expire", -9],
    ]);
    expect((await third.get("/api/wallet")).body.account.credits).toBe(114);
    await expectInvariants(ada.identity_id);
  });

  it("an account that is used has its turn by the alarm, and one that is not sleeps until its next call", async () => {
    beginMonth();
    const [olga, ada] = await people();
    await join(olga, ada, "studio");
    const { identity_id } = ada;
    const turn_ms = Date.parse((await ada.get("/api/wallet")).body.lots[0].expires_at);
    passTime(DAY_MS);
    await fireAlarm(identity_id);
    const asleep_ms = await readAlarm(identity_id);
    // Nothing is left but deliveries to the read model, and the end of the month.
    const { to_ms } = monthOf(turn_ms);
    const is_delivery = (asleep_ms ?? 0) < turn_ms + DAY_MS / 2;
    expect(is_delivery || (asleep_ms ?? 0) >= to_ms - DAY_MS / 2).toBe(true);
    passTime(8 * DAY_MS);
    const later = await isAgain();
    expect((await entriesOf(later)).slice(0, 4)).toEqual([
      ["recurring", 14],
      ["expire", -14],
      ["recurring", 10],
      ["rollover", 0],
    ]);
    expect(await lotsOf(later)).toEqual([
      ["rollover", 4],
      ["recurring", 10],
    ]);
    await expectInvariants(identity_id);
  });

  it("an account that sleeps wakes before the month ends, so that nothing expired is owed then", async () => {
    const begun_ms = beginMonth();
    const { to_ms } = monthOf(begun_ms);
    const [olga, ada] = await people({ ...DAILY, every: "week", rollover_max: 0 });
    await join(olga, ada, "studio");
    const { identity_id } = ada;
    passTime(7 * DAY_MS);
    await fireAlarm(identity_id);
    // Nothing is left to do for the read model, so the alarm is the account's own.
    await fireAlarm(identity_id);
    const wakes_ms = (await readAlarm(identity_id)) ?? 0;
    expect(wakes_ms).toBeGreaterThan(to_ms - DAY_MS / 2);
    expect(wakes_ms).toBeLessThan(to_ms);
    passTime(wakes_ms - Date.now());
    await fireAlarm(identity_id);
    expect(await query(identity_id, NEWEST_TWO)).toEqual([
      { kind: "recurring", amount: 10 },
      { kind: "expire", amount: -10 },
    ]);
    await fireAlarm(identity_id);
    // It sleeps again, until the end of the next month.
    const again_ms = (await readAlarm(identity_id)) ?? 0;
    expect(again_ms).toBeGreaterThan(monthOf(to_ms).to_ms - DAY_MS / 2);
    await expectInvariants(identity_id);
  });

  it("a job that is started over a turn keeps its credits, which come back for seven days", async () => {
    const [olga, ada] = await people({ ...DAILY, rollover_max: 0 });
    await join(olga, ada, "studio");
    const job = { app: "demo", action: "draw", cost_estimate: 6, ttl_seconds: 5 * 24 * 3_600 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    passTime(DAY_MS);
    const later = await isAgain();
    expect((await entriesOf(later)).slice(0, 2)).toEqual([
      ["recurring", 10],
      ["expire", -4],
    ]);
    await later.post("/api/jobs/fail", { job_id });
    expect(await lotsOf(later)).toEqual([
      ["recurring", 10],
      ["returned", 6],
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("credits of a rule for some apps are usable there only, and other credits are not lost", async () => {
    const [olga, ada] = await people({ ...DAILY, app_slugs: ["paint"] }, DAILY);
    await join(olga, ada, "studio");
    expect((await ada.get("/api/wallet?app=demo")).body).toMatchObject({ spendable: 110 });
    expect((await ada.get("/api/wallet?app=paint")).body).toMatchObject({
      // With 100 starter credits of the app.
      spendable: 220,
    });
    await expectInvariants(ada.identity_id);
  });

  it("the same plan again changes nothing, and a return within the period brings no second credits", async () => {
    const [olga, ada] = await people();
    await join(olga, ada, "studio");
    const before = await entriesOf(ada);
    await join(olga, ada, "studio", { anchor: new Date(Date.now() - 3_600_000).toISOString() });
    expect(await entriesOf(ada)).toEqual(before);
    await join(olga, ada, "free");
    expect(await lotsOf(ada)).toEqual([["recurring", 10]]);
    await join(olga, ada, "studio");
    expect(await lotsOf(ada)).toEqual([["recurring", 10]]);
    await join(olga, ada, "free");
    passTime(2 * DAY_MS);
    const later = await isAgain();
    expect((await entriesOf(later))[0]).toEqual(["expire", -10]);
    expect(await lotsOf(later)).toEqual([]);
    await join(olga, ada, "studio");
    expect(await lotsOf(later)).toEqual([["recurring", 10]]);
    await expectInvariants(ada.identity_id);
  });

  it("the anchor says when the next credits come, and cannot be in the future", async () => {
    const [olga, ada] = await people();
    const anchor_ms = Date.now() - 6 * 3_600_000;
    await join(olga, ada, "studio", { anchor: new Date(anchor_ms).toISOString() });
    const { lots } = (await ada.get("/api/wallet")).body;
    expect(Date.parse(lots[0].expires_at)).toBe(anchor_ms + DAY_MS);
    const later = await join(olga, ada, "free", {
      anchor: new Date(Date.now() + DAY_MS).toISOString(),
    });
    expect(later.status).toBe(400);
    expect(later.body.error).toContain("must not be in the future");
  });

  it.each([
    ["owes has every turn of a plan whose credits pay what it owes", -200, null, false],
    ["owes sleeps if its plan's credits are for some apps only", -200, ["demo"], true],
    ["has nothing and owes nothing sleeps", -110, null, true],
  ])("an account that %s", async (_, amount, app_slugs, sleeps) => {
    const { to_ms } = monthOf(beginMonth());
    const [olga, ada] = await people({ ...DAILY, rollover_max: 0, app_slugs });
    await join(olga, ada, "studio");
    const { identity_id } = ada;
    const take = { amount, allow_negative: true, reason: "a mistake" };
    await olga.send("POST", `/api/admin/accounts/${identity_id}/credits`, take, key());
    passTime(DAY_MS);
    await fireAlarm(identity_id);
    // Nothing is left to do for the read model, so the alarm is the account's own.
    await fireAlarm(identity_id);
    const next_ms = (await readAlarm(identity_id)) ?? 0;
    if (sleeps) expect(next_ms).toBeGreaterThan(to_ms - DAY_MS / 2);
    else expect(next_ms).toBeLessThanOrEqual(Date.now() + DAY_MS);
    await expectInvariants(identity_id);
  });

  it("an account that was used in a period is armed for the end of the period", async () => {
    beginMonth();
    const [olga, ada] = await people();
    await join(olga, ada, "studio");
    await spend(ada, 3);
    await fireAlarm(ada.identity_id);
    await fireAlarm(ada.identity_id);
    const { lots } = (await ada.get("/api/wallet")).body;
    expect(await readAlarm(ada.identity_id)).toBe(Date.parse(lots[0].expires_at));
  });

  it.each([
    ["of one credit that is left, one is kept and nothing is gone", 1, [["rollover", 0]]],
    ["of one credit that is left, one is gone and nothing is kept", 0, [["expire", -1]]],
  ])("%s", async (_, rollover_max, turned) => {
    const [olga, ada] = await people({ ...DAILY, rollover_max });
    await join(olga, ada, "studio");
    await spend(ada, 9);
    passTime(DAY_MS);
    const later = await isAgain();
    expect((await entriesOf(later)).slice(0, 3)).toEqual([
      ["recurring", 10],
      ...turned,
      ["settle", 0],
    ]);
    const kept = rollover_max === 0 ? [] : [["rollover", 1]];
    expect(await lotsOf(later)).toEqual([...kept, ["recurring", 10]]);
    expect((await later.get("/api/wallet")).body.account.credits).toBe(110 + rollover_max);
    await expectInvariants(ada.identity_id);
  });

  it("an entry of recurring credits names their lot, unless credits of a period that was slept through come with them", async () => {
    const [olga, ada] = await people({ ...DAILY, rollover_max: 1 });
    await join(olga, ada, "studio");
    const newest = async (person: SignedIn) => {
      const { entries } = (await person.get("/api/ledger?kind=recurring")).body;
      return { amount: entries[0].amount, lot_id: entries[0].lot_id };
    };
    const lots = async (person: SignedIn) => (await person.get("/api/wallet")).body.lots;
    expect(await newest(ada)).toEqual({ amount: 10, lot_id: (await lots(ada))[0].id });
    passTime(DAY_MS);
    const second = await isAgain();
    expect(await newest(second)).toEqual({ amount: 10, lot_id: (await lots(second))[1].id });
    passTime(5 * DAY_MS);
    const woken = await isAgain();
    expect(await newest(woken)).toEqual({ amount: 11, lot_id: null });
    expect(await lotsOf(woken)).toEqual([
      ["rollover", 1],
      ["recurring", 10],
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("a turn brings nothing beyond the greatest balance, and the next turn that fits brings its credits", async () => {
    const [olga, ada] = await people({ ...DAILY, rollover_max: 0 });
    await join(olga, ada, "studio");
    const adjust = (amount: number) =>
      env.ACCOUNT.getByName(ada.identity_id).adjustCredits({ amount, note: "a test" }, null);
    const creditsNow = async () => {
      passTime(DAY_MS);
      return (await (await isAgain()).get("/api/wallet")).body.account.credits;
    };
    expect(await adjust(BALANCE_MAX_CREDITS - 110)).toMatchObject({ ok: true });
    expect(await creditsNow()).toBe(BALANCE_MAX_CREDITS);
    await spend(await isAgain(), 4);
    expect(await adjust(4)).toMatchObject({ ok: true });
    expect(await creditsNow()).toBe(BALANCE_MAX_CREDITS - 6);
    expect(await creditsNow()).toBe(BALANCE_MAX_CREDITS - 6);
    expect(await adjust(-4)).toMatchObject({ ok: true });
    expect(await creditsNow()).toBe(BALANCE_MAX_CREDITS);
  });

  it("what an account owes is paid by its plan's credits first", async () => {
    const [olga, ada] = await people();
    const take = { amount: -105, allow_negative: true, reason: "a mistake" };
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/credits`, take, key());
    await join(olga, ada, "studio");
    expect((await ada.get("/api/wallet")).body).toMatchObject({
      account: { credits: 5 },
      lots: [{ origin: "recurring", left: 5 }],
    });
    await expectInvariants(ada.identity_id);
  });
});

describe("changes of plans", () => {
  it("the schedule brings changed rules to the accounts that have the plan, from their next turn on", async () => {
    const [olga, ada] = await people();
    await join(olga, ada, "studio");
    const behind = async () => {
      const { plan } = (await olga.get("/api/admin/plans/studio")).body;
      return [plan.accounts, plan.behind];
    };
    await fireAlarm(ada.identity_id);
    expect(await behind()).toEqual([1, 0]);
    const changed = await save(olga, { recurring: [{ ...DAILY, credits: 25 }], version: 1 });
    expect(changed.body.plan).toMatchObject({ version: 2, recurring: [{ credits: 25 }] });
    expect(await behind()).toEqual([1, 1]);
    await upkeepOf(env)();
    await fireAlarm(ada.identity_id);
    expect(await behind()).toEqual([1, 0]);
    expect(await lotsOf(ada)).toEqual([["recurring", 10]]);
    passTime(DAY_MS);
    expect(await lotsOf(await isAgain())).toEqual([
      ["rollover", 4],
      ["recurring", 25],
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("an account that fails does not keep changed rules from the accounts of other plans", async () => {
    const [olga, ada] = await people();
    const bob = await signInWithCredits("demo", "bob@example.com");
    await save(olga, { recurring: [DAILY] }, "artist");
    await join(olga, bob, "artist");
    await join(olga, ada, "studio");
    for (const { identity_id } of [ada, bob]) await fireAlarm(identity_id);
    for (const id of ["artist", "studio"]) {
      await save(olga, { recurring: [{ ...DAILY, credits: 25 }], version: 1 }, id);
    }
    for (const level of ["log", "warn", "error"] as const) {
      vi.spyOn(console, level).mockReturnValue();
    }
    await change(bob.identity_id, "alter table lots rename to away");
    await evict(bob.identity_id);
    await expect(upkeepOf(env)()).rejects.toThrow();
    expect((await entriesOf(ada))[0]).toEqual(["plan", 0]);
    await change(bob.identity_id, "alter table away rename to lots");
  });

  it("the next call of an account brings changed rules too", async () => {
    const [olga, ada] = await people();
    await join(olga, ada, "studio");
    await save(olga, { recurring: [{ ...DAILY, credits: 25 }], version: 1 });
    planListOf(env.DIRECTORY).forget();
    await ada.get("/api/wallet");
    await vi.waitFor(async () => expect((await entriesOf(ada))[0]).toEqual(["plan", 0]));
    passTime(DAY_MS);
    expect(await lotsOf(await isAgain())).toContainEqual(["recurring", 25]);
  });

  it("a plan that accounts have cannot be deleted, and another one can", async () => {
    const [olga, ada] = await people();
    await save(olga, { recurring: [] }, "empty");
    await join(olga, ada, "studio");
    await fireAlarm(ada.identity_id);
    const refused = await olga.send("DELETE", "/api/admin/plans/studio", undefined, key());
    expect(refused).toMatchObject({ status: 409, body: { code: "plan_in_use", accounts: 1 } });
    expect((await olga.send("DELETE", "/api/admin/plans/empty", undefined, key())).status).toBe(
      200,
    );
    const { plans } = (await olga.get("/api/admin/plans")).body;
    expect(plans.map(({ id }: { id: string }) => id)).toEqual(["studio"]);
    expect((await olga.get("/api/admin/plans/empty")).body.code).toBe("plan_not_found");
  });

  it("a save names the version that it changes", async () => {
    const [olga] = await people();
    const outdated = await save(olga, { recurring: [], version: 7 });
    expect(outdated).toMatchObject({ status: 409, body: { code: "plan_changed" } });
    const repeated = await save(olga, { recurring: [DAILY] });
    expect(repeated.body.plan.version).toBe(1);
  });

  it.each([
    ["studio", { recurring: [{ ...DAILY, credits: 0 }] }, "recurring.0.credits"],
    ["studio", { recurring: [{ ...DAILY, every: "year" }] }, "must be one of day, week, month"],
    ["studio", { recurring: Array.from({ length: 5 }, () => DAILY) }, "must have at most 4 rules"],
    ["studio", { recurring: [{ ...DAILY, price: 1 }] }, "price"],
    ["free", { recurring: [DAILY] }, "must not be free"],
    ["Studio!", { recurring: [DAILY] }, "must be 1 to 64 of"],
  ])("a plan %s with %j is refused and says why", async (id, body, text) => {
    const olga = await signInOperator();
    const refused = await save(olga, body, id);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toContain(text);
  });
});
