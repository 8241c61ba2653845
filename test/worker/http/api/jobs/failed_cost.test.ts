/** `cost` of a failed job, where it meets caps, policies, refunds of operators, statements and totals. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { dump, fireAlarm } from "../../../support/account_object.ts";
import { getToken } from "../../../support/device_logins.ts";
import { signInWithCredits, type Answer, type SignedIn } from "../../../support/passbook.ts";
import { openAppServer } from "../../caller/app_server.ts";
import { expectInvariants } from "../../../account/invariants.ts";

let ada: SignedIn;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  ada = await signInWithCredits("demo");
});
afterEach(async () => {
  await expectInvariants(ada.identity_id);
});

type Poster = Pick<SignedIn, "post">;

const credits = async (): Promise<number> => (await ada.get("/api/wallet")).body.account.credits;

async function start(cost_estimate: number, by: Poster = ada, more: object = {}): Promise<string> {
  const job = { app: "demo", action: "render", cost_estimate, ...more };
  return (await by.post("/api/jobs", job)).body.job_id;
}

const fail = (job_id: string, terms: object, by: Poster = ada): Promise<Answer> =>
  by.post("/api/jobs/fail", { job_id, ...terms });

describe("a job that failed at a cost", () => {
  it.each([
    [0, "refund", 60],
    [25, "settle", 35],
    [60, "settle", 0],
  ])(
    "a failed job of 60 credits with a cost of %i has the entry %s, and the rest of the reserve comes back",
    async (cost, kind, amount) => {
      const job_id = await start(60);
      const failed = await fail(job_id, { cost, reason: "out of ink" });
      expect(failed).toMatchObject({
        status: 200,
        body: {
          job: {
            status: "failed",
            failure: "reported",
            failure_reason: "out of ink",
            actual_cost: cost,
          },
          credits: 100 - cost,
        },
      });
      const { entries } = (await ada.get(`/api/ledger?job_id=${job_id}`)).body;
      expect(entries[0]).toMatchObject({ kind, amount });
    },
  );

  it("a cost above what the job holds is refused with that limit, and nothing changes", async () => {
    const job_id = await start(60);
    await ada.post("/api/jobs/progress", { job_id, step: 1, reserve: 40, spent: 30 });
    const before = await dump(ada.identity_id);
    const refused = await fail(job_id, { cost: 41 });
    expect(refused).toMatchObject({ status: 400, body: { code: "spent_limit", limit: 40 } });
    expect(await dump(ada.identity_id)).toBe(before);
    // What was spent is no lower bound: the app may be generous.
    expect((await fail(job_id, { cost: 10 })).body).toMatchObject({
      job: { actual_cost: 10, spent: 30 },
      credits: 90,
    });
  });

  it("a cost together with refund is refused, whatever refund says, and so is a cost that is not whole", async () => {
    const job_id = await start(60);
    for (const terms of [
      { cost: 10, refund: true },
      { cost: 10, refund: false },
      { cost: -1 },
      { cost: 1.5 },
      { cost: null },
    ]) {
      const refused = await fail(job_id, terms);
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    }
    expect((await fail(job_id, { cost: 10, refund: true })).body.error).toBe(
      "refund must be left out if cost says what the job costs.",
    );
    expect(await credits()).toBe(40);
    await fail(job_id, {});
  });

  it("under settle app only the app's key fails a job at a cost", async () => {
    const server = await openAppServer("demo", { settle: "app", max_overage_percent: 0 });
    const act = server.in(ada.identity_id);
    const job_id = await start(60, act);
    const by_holder = await fail(job_id, { cost: 0 });
    expect(by_holder).toMatchObject({ status: 403, body: { code: "app_settles" } });
    expect((await fail(job_id, { cost: 60 }, act)).body).toMatchObject({ credits: 40 });
  });

  it("a job that has ended cannot fail at a cost, and one that failed at a cost cannot be completed", async () => {
    const [expired, cancelled, failed] = [
      await start(10, ada, { ttl_seconds: 60 }),
      await start(10),
      await start(10),
    ];
    await ada.post("/api/jobs/cancel", { job_id: cancelled });
    expect((await fail(failed, { cost: 4 })).status).toBe(200);
    vi.setSystemTime(Date.now() + 61_000);
    for (const job_id of [expired, cancelled, failed]) {
      expect((await fail(job_id, { cost: 1 })).body.code).toBe("job_ended");
    }
    const late = await ada.post("/api/jobs/complete", { job_id: failed, actual_cost: 10 });
    expect(late.body.code).toBe("job_ended");
    expect(await credits()).toBe(96);
  });

  it("a capped token gets back the rest of the reserve, and its job can cost the whole reserve once it has expired", async () => {
    const act = (await openAppServer("demo")).in(ada.identity_id);
    const token = await getToken(ada, { caps: [{ credits: 50, period: "total" }] });
    await fail(await start(30, token), { cost: 10 }, act);
    const [{ caps, expires_at }] = (await ada.getOwn("/api/tokens")).body.tokens;
    expect(caps).toMatchObject([{ spent: 10 }]);
    vi.setSystemTime(Date.parse(expires_at) - 60_000);
    const job_id = await start(30, token, { ttl_seconds: 3_600 });
    vi.setSystemTime(Date.parse(expires_at) + 60_000);
    expect((await fail(job_id, { cost: 30 }, act)).body).toMatchObject({
      job: { actual_cost: 30 },
      credits: 60,
    });
    ada = await signInWithCredits("demo");
  });

  it("the cost counts as settled in the day's totals, and an operator can refund it", async () => {
    const server = await openAppServer("demo");
    const act = server.in(ada.identity_id);
    const job_id = await start(60, act);
    await fail(job_id, { cost: 25 }, act);
    await fireAlarm(ada.identity_id);
    const totals = await env.DB.prepare(
      "select sum(settled) as settled, sum(refunded) as refunded, sum(failed) as failed from daily_totals where app_slug = 'demo'",
    ).first();
    expect(totals).toEqual({ settled: 25, refunded: 0, failed: 1 });
    const refund = (amount: number) =>
      server.operator.send(
        "POST",
        `/api/admin/accounts/${ada.identity_id}/jobs/${job_id}/refund`,
        { amount, reason: "sorry" },
        { "Idempotency-Key": `refund-${amount}` },
      );
    expect((await refund(26)).body).toMatchObject({ code: "refund_limit", limit: 25 });
    expect((await refund(25)).body).toMatchObject({ job: { refunded: 25 }, credits: 100 });
  });
});
