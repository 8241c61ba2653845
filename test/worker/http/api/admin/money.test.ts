import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fireAlarm, repeatAlarm } from "../../../support/account_object.ts";
import { signInWithCredits } from "../../../support/passbook.ts";
import { expectInvariants } from "../../../account/invariants.ts";
import { signInOperator, type Operator } from "./operators.ts";

const csvOf = (olga: Operator, query: string) =>
  olga.send("GET", `/api/admin/money?${query}`, undefined, { Accept: "text/csv" });

const bought = (credits: number) => ({ bought: credits, given: 0 });
const given = (credits: number) => ({ bought: 0, given: credits });
interface Row {
  readonly currency: string | null;
  readonly credits: number;
  readonly amount_minor: number | null;
}

const NOTHING = {
  opening: given(0),
  granted: given(0),
  purchased: given(0),
  adjusted: given(0),
  spent: given(0),
  job_refunded: given(0),
  expired: given(0),
  taken_back: given(0),
  forfeited: given(0),
  closing: given(0),
};

/** A person who spent 6 of 100 credits, got 2 of them back, and bought 40 for 5.00, of which 1.00 was refunded. */
async function liveAMonth(olga: Operator) {
  const ada = await signInWithCredits();
  const body = { app: "demo", action: "draw", cost_estimate: 10 };
  const { job_id } = (await ada.post("/api/jobs", body)).body;
  await ada.post("/api/jobs/complete", { job_id, actual_cost: 6 });
  const account = env.ACCOUNT.getByName(ada.identity_id);
  await account.refundJob({ job_id, amount: 2, note: "sorry" }, null);
  const payment = { checkout_session_id: "cs_1", payment_intent_id: "pi_1" };
  const package_ = { package_id: "small", package_name: "Small", credits: 40 };
  await account.recordPurchase({ ...payment, ...package_, paid_minor: 500, currency: "eur" });
  const reversal = { payment_intent_id: "pi_1", source_id: "re_1", state: "withheld" } as const;
  await account.recordReversal({ ...reversal, amount_minor: 100 });
  await fireAlarm(ada.identity_id);
  await fireAlarm(olga.person.identity_id);
  return ada;
}

describe("GET /api/admin/money", () => {
  it("the money of a period has outstanding credits, credits by app, and money by package", async () => {
    const olga = await signInOperator();
    await liveAMonth(olga);
    const { status, body } = await olga.get("/api/admin/money");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      outstanding: { credits: 100 - 6 + 2 + 40 - 8, held: 0, accounts: 1 },
      by_app: [{ app: "demo", granted: 100, settled: 6, refunded: 2, job_refunded: 2 }],
      revenue: [
        { package: "small", currency: "eur", purchases: 1, amount_minor: 500, refunded_minor: 100 },
      ],
    });
    const past = (await olga.get("/api/admin/money?from=2020-01-01&to=2020-02-01")).body;
    expect(past).toMatchObject({ outstanding: { credits: 128 }, by_app: [], revenue: [] });
  });

  it("the changes of a month, also credits taken back and those of deleted accounts, add up to its closing", async () => {
    const olga = await signInOperator();
    const ada = await liveAMonth(olga);
    const month = new Date().toISOString().slice(0, 7);
    const read = async (name = month) => (await olga.get(`/api/admin/money?month=${name}`)).body;
    const figures = {
      month,
      ...NOTHING,
      granted: given(100),
      purchased: bought(40),
      spent: given(-6),
      job_refunded: given(2),
      taken_back: bought(-8),
      closing: { bought: 32, given: 96 },
      liability: [{ currency: "eur", credits: 32, amount_minor: 400 }],
    };
    expect(await read()).toMatchObject(figures);
    const csv = await csvOf(olga, `month=${month}&list=month`);
    const [head, row] = csv.text.split("\r\n");
    expect(head).toMatch(/^"month","opening_bought","opening_given","granted_bought",/);
    expect(head).toMatch(/,"closing_given","liability_eur_credits","liability_eur_minor"$/);
    expect(row).toBe(`"${month}",0,0,0,100,40,0,0,0,0,-6,0,2,0,0,-8,0,0,0,32,96,32,400`);
    expect(await read("2020-01")).toMatchObject(NOTHING);

    await env.ACCOUNT.getByName(ada.identity_id).deleteAccount({ kind: "service" });
    await repeatAlarm(ada.identity_id);
    const forfeited = { bought: -32, given: -96 };
    expect(await read()).toMatchObject({
      ...figures,
      forfeited,
      closing: given(0),
      liability: [],
    });
  });

  it("bought credits that pay what an account owes count as purchased and spent, and so as not spent given ones", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const body = { app: "demo", action: "draw", cost_estimate: 100 };
    const { job_id } = (await ada.post("/api/jobs", body)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 130 });
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const month = new Date().toISOString().slice(0, 7);
    const read = async () => {
      await fireAlarm(ada.identity_id);
      return (await olga.get(`/api/admin/money?month=${month}`)).body;
    };
    expect(await read()).toMatchObject({ spent: given(-130), closing: given(-30) });
    const payment = { checkout_session_id: "cs_1", payment_intent_id: "pi_1", package_id: "small" };
    const package_ = { package_name: "Small", credits: 40, paid_minor: 400, currency: "eur" };
    await account.recordPurchase({ ...payment, ...package_ });
    const spent = { bought: -30, given: -100 };
    expect(await read()).toMatchObject({ purchased: bought(40), spent, closing: bought(10) });
    const terms = { expires_at_ms: null, app_slugs: null, bought: true };
    await account.adjustCredits({ amount: 5, note: "paid by invoice", terms }, null);
    expect(await read()).toMatchObject({ adjusted: bought(5), closing: bought(15) });
    const reversal = { payment_intent_id: "pi_1", source_id: "re_1", state: "withheld" } as const;
    await account.recordReversal({ ...reversal, amount_minor: 400 });
    expect(await read()).toMatchObject({
      purchased: bought(40),
      taken_back: bought(-40),
      spent: { bought: -5, given: -125 },
      closing: given(-25),
    });
  });

  it("the liability values a lot by its purchase, and the base by its newest purchases, and the rest has no price", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const month = new Date().toISOString().slice(0, 7);
    const liability = async () => {
      await fireAlarm(ada.identity_id);
      const money = (await olga.get(`/api/admin/money?month=${month}`)).body;
      const credits = money.liability.reduce((sum: number, it: Row) => sum + it.credits, 0);
      expect(credits).toBe(money.closing.bought);
      return money.liability.map((it: Row) => [it.currency, it.credits, it.amount_minor]);
    };
    const buy = async (number: number, paid_minor: number, terms: object = {}) => {
      const payment = {
        checkout_session_id: `cs_${number}`,
        payment_intent_id: `pi_${number}`,
        package_id: "small",
        package_name: "Small",
      };
      await account.recordPurchase({
        ...payment,
        credits: 30,
        paid_minor,
        currency: "eur",
        ...terms,
      });
    };
    let keys = 0;
    const give = (amount: number, terms: object) =>
      olga.send(
        "POST",
        `/api/admin/accounts/${ada.identity_id}/credits`,
        { amount, reason: "why", ...terms },
        { "Idempotency-Key": `give-${(keys += 1)}` },
      );
    const spend = async (credits: number) => {
      const body = { app: "demo", action: "draw", cost_estimate: credits };
      const { job_id } = (await ada.post("/api/jobs", body)).body;
      await ada.post("/api/jobs/complete", { job_id, actual_cost: credits });
      return job_id as string;
    };
    expect(await liability()).toEqual([]);
    await buy(1, 100);
    await buy(2, 200);
    // A third of a cent for each credit: rounded once.
    await buy(3, 10, { expires_after_days: 30 });
    await buy(4, 10, { app_slugs: ["other"] });
    expect(await liability()).toEqual([["eur", 120, 320]]);
    expect((await give(9, { bought: true })).status).toBe(200);
    expect((await give(10, { bought: true, paid_minor: 900, currency: "jpy" })).status).toBe(200);
    const priced = [
      ["eur", 120, 320],
      ["jpy", 10, 900],
    ];
    expect(await liability()).toEqual([...priced, [null, 9, null]]);
    // The 100 given credits, all of the lot, and 10 of the oldest purchase of the base. Held credits still count.
    const reserve = { app: "demo", action: "draw", cost_estimate: 140 };
    const held = (await ada.post("/api/jobs", reserve)).body.job_id;
    expect(await liability()).toEqual([...priced, [null, 9, null]]);
    await ada.post("/api/jobs/complete", { job_id: held, actual_cost: 140 });
    expect((await liability())[0]).toEqual(["eur", 80, 277]);
    const job_id = await spend(20);
    expect((await liability())[0]).toEqual(["eur", 60, 210]);
    await account.refundJob({ job_id, amount: 15, note: "sorry" }, null);
    expect((await liability())[0]).toEqual(["eur", 75, 260]);
    // The second purchase is returned, and then it is not.
    const reversal = { payment_intent_id: "pi_2", source_id: "dp_1", amount_minor: 200 } as const;
    await account.recordReversal({ ...reversal, state: "withheld" });
    expect((await liability())[0]).toEqual(["eur", 45, 60]);
    await account.recordReversal({ ...reversal, state: "reinstated" });
    expect((await liability())[0]).toEqual(["eur", 75, 260]);
    // An account that owes credits has no bought ones in the base.
    await give(-200, { allow_negative: true });
    expect(await liability()).toEqual([["eur", 30, 10]]);
    await give(200, { bought: true, paid_minor: 1_000, currency: "eur" });
    expect((await liability())[0]?.[1]).toBeLessThan(230);
    const { revenue } = (await olga.get("/api/admin/money")).body;
    const given = { package: null, purchases: 1, refunded_minor: 0 };
    expect(revenue.slice(0, 2)).toEqual([
      { ...given, currency: "eur", amount_minor: 1_000 },
      { ...given, currency: "jpy", amount_minor: 900 },
    ]);
    await expectInvariants(ada.identity_id);
  });

  it("what a deleted account owed is forfeited until its holder returns and owes it again", async () => {
    const olga = await signInOperator();
    const debtor = env.ACCOUNT.getByName("user_debtor");
    await debtor.adjustCredits({ amount: -30, note: "fraud", allow_negative: true }, null);
    await debtor.deleteAccount({ kind: "service" });
    await repeatAlarm("user_debtor");
    const month = new Date().toISOString().slice(0, 7);
    const read = async () => (await olga.get(`/api/admin/money?month=${month}`)).body;
    expect(await read()).toMatchObject({
      adjusted: given(-30),
      forfeited: given(30),
      closing: given(0),
    });
    const returned = env.ACCOUNT.getByName("user_returned");
    await returned.oweDebts([{ id: "debt", credits: 30 }]);
    await fireAlarm("user_returned");
    expect(await read()).toMatchObject({
      adjusted: given(-30),
      forfeited: given(0),
      closing: given(-30),
    });
    expect((await olga.get("/api/admin/money")).body.outstanding.credits).toBe(-30);
  });

  it("each list of the money can be read as CSV", async () => {
    const olga = await signInOperator();
    const ada = await liveAMonth(olga);
    const by_app = await csvOf(olga, "list=by_app&from=2020-01-01&to=2020-02-01");
    expect(by_app.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(by_app.headers.get("Content-Disposition")).toBe(
      'attachment; filename="by_app-2020-01-01-2020-02-01.csv"',
    );
    expect(by_app.text).toBe('"app","granted","settled","refunded","job_refunded"\r\n');
    expect((await csvOf(olga, "list=by_app")).text).toContain('\r\n"demo",100,6,2,2\r\n');
    expect((await csvOf(olga, "list=revenue")).text).toBe(
      '"package","currency","purchases","amount_minor","refunded_minor"\r\n"small","eur",1,500,100\r\n',
    );
    expect((await csvOf(olga, "list=accounts")).text).toBe(
      `"identity_id","credits","held"\r\n"${ada.identity_id}",128,0\r\n`,
    );
  });

  it("the list of accounts is read in portions, and a spreadsheet runs no cell of it as a formula", async () => {
    const olga = await signInOperator();
    await env.DB.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < 5001)
       insert into accounts (id, identity_id, plan, created_at_ms, line, credits, reserved, updated_at_ms)
       select printf('%06d', i), iif(i = 0, '=1+1', 'user ' || i), 'free', 0, 1, i - 1, 0, 0 from n`,
    ).run();
    const { text } = await csvOf(olga, "list=accounts");
    const [, first, ...rest] = text.trimEnd().split("\r\n");
    expect(first).toBe(`"'=1+1",-1,0`);
    // One account has nothing.
    expect(rest).toHaveLength(5_000);
    expect(new Set(rest).size).toBe(5_000);
  });

  it("the money refuses a list without CSV, CSV without a list, and wrong periods", async () => {
    const olga = await signInOperator();
    const answers = [
      await olga.get("/api/admin/money?list=by_app"),
      await csvOf(olga, ""),
      await csvOf(olga, "list=jobs"),
      await olga.get("/api/admin/money?from=2026-02-01&to=2026-02-01"),
      await olga.get("/api/admin/money?from=2026-02-30"),
      await olga.get("/api/admin/money?month=2026-13"),
      await olga.get("/api/admin/money?month=2999-01"),
      await olga.get("/api/admin/money?month=2026-01&from=2026-01-01"),
      await csvOf(olga, "list=month"),
      // Without an end, the period ends today.
      await olga.get("/api/admin/money?from=2020-01-01"),
    ];
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([400, "invalid_request"]);
    }
    expect(answers[1]?.body.error).toContain("Accept: text/csv");
  });
});
