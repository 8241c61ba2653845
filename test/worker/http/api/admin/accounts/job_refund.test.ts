import { describe, expect, it, vi } from "vitest";
import { expectInvariants } from "../../../../account/invariants.ts";
import { passTime } from "../../../../support/clock.ts";
import { getToken, type TokenHolder } from "../../../../support/device_logins.ts";
import { query } from "../../../../support/account_object.ts";
import {
  forgetEnvironments,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../../../support/passbook.ts";
import { signInOperator, type Operator } from "../operators.ts";

const of = (person: SignedIn) => `/api/admin/accounts/${person.identity_id}`;
const key = (name: string) => ({ "Idempotency-Key": name });
let keys = 0;

/** A job of the demo app that cost so many credits. */
async function jobThatCost(
  person: Pick<SignedIn, "post">,
  actual_cost: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const body = { app: "demo", action: "draw", cost_estimate: 10 };
  const { job_id } = (await person.post("/api/jobs", body)).body;
  await person.post("/api/jobs/complete", { job_id, actual_cost }, headers);
  return job_id;
}

const refund = (olga: Operator, ada: SignedIn, job_id: string, body: object = {}, name?: string) =>
  olga.send(
    "POST",
    `${of(ada)}/jobs/${job_id}/refund`,
    { reason: "It drew nothing", ...body },
    key(name ?? `refund-${(keys += 1)}`),
  );

async function people() {
  return [await signInOperator(), await signInWithCredits()] as const;
}

describe("refunding a job", () => {
  it("the audit log has the amount that was really given back, whatever was requested", async () => {
    const [olga, ada] = await people();
    const job_id = await jobThatCost(ada, 6);
    await refund(olga, ada, job_id, { amount: 2 });
    await refund(olga, ada, job_id, {}, "rest");
    const again = await refund(olga, ada, job_id, {}, "rest");
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    const { entries } = (await olga.get(`/api/admin/audit?subject=${ada.identity_id}`)).body;
    expect(entries).toMatchObject([
      {
        details: { job_id, amount: "all that is left", outcome: "done" },
        changed: { refunded: { from: 2, to: 6 }, credits: { from: 96, to: 100 } },
      },
      {
        details: { job_id, amount: 2 },
        changed: { refunded: { from: 0, to: 2 }, credits: { from: 94, to: 96 } },
      },
    ]);
  });

  it("a repeated batch of completions gets its first response after an operator refunded one of its jobs", async () => {
    const [olga, ada] = await people();
    const body = { app: "demo", action: "draw", cost_estimate: 10 };
    const { results } = (await ada.post("/api/jobs/batch", { jobs: [body, body] })).body;
    const jobs = results.map(({ job_id }: { job_id: string }) => ({ job_id, actual_cost: 6 }));
    const settle = () => ada.post("/api/jobs/complete/batch", { jobs }, key("batch"));
    const first = await settle();
    expect(first.body.results).toMatchObject([{ job: { actual_cost: 6 } }, { job: {} }]);
    passTime(1_000);
    for (const amount of [1, 2]) {
      expect((await refund(olga, ada, jobs[0].job_id, { amount })).status).toBe(200);
    }
    const again = await settle();
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    await expectInvariants(ada.identity_id);
  });

  it("a refund of a job appears in the job, the ledger, the audit log and the daily totals", async () => {
    const [olga, ada] = await people();
    const job_id = await jobThatCost(ada, 6);
    const given_back = await refund(olga, ada, job_id, { amount: 4 });
    expect(given_back.status).toBe(200);
    expect(given_back.body).toMatchObject({
      job: { id: job_id, status: "completed", actual_cost: 6, refunded: 4 },
      entry: { kind: "job_refund", amount: 4, job_id, app: "demo", note: "It drew nothing" },
      credits: 98,
    });
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toEqual(given_back.body.job);
    expect((await olga.get(`${of(ada)}/jobs/${job_id}`)).body).toEqual(given_back.body.job);
    const { entries } = (await ada.get(`/api/ledger?job_id=${job_id}`)).body;
    expect(entries.map((entry: { kind: string }) => entry.kind)).toEqual([
      "job_refund",
      "settle",
      "reserve",
    ]);
    const { body } = await olga.get(`/api/admin/audit?subject=${ada.identity_id}`);
    expect(body.entries).toMatchObject([
      {
        actor: olga.person.identity_id,
        act: "account.job.refund",
        reason: "It drew nothing",
        details: { job_id, amount: 4, outcome: "done" },
      },
    ]);
    await expectInvariants(ada.identity_id);
    const { series } = (await olga.get("/api/admin/stats?app=demo")).body;
    expect(series).toMatchObject([{ settled: 6, refunded: 4, job_refunded: 4, failed: 0 }]);
    const { jobs } = (await olga.get(`/api/admin/jobs?identity_id=${ada.identity_id}`)).body;
    expect(jobs).toMatchObject([{ id: job_id, actual_cost: 6, refunded: 4 }]);
  });

  it("refunds of a job give back at most what it cost, however many arrive at once", async () => {
    const [olga, ada] = await people();
    const job_id = await jobThatCost(ada, 6);
    const answers = await Promise.all(
      [1, 2, 3].map(() => refund(olga, ada, job_id, { amount: 3 })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.body).toMatchObject({ code: "refund_limit", limit: 0 });
    const other = await jobThatCost(ada, 6);
    expect((await refund(olga, ada, other, { amount: 7 })).body).toMatchObject({
      code: "refund_limit",
      limit: 6,
    });
    const rest = await Promise.all([refund(olga, ada, other), refund(olga, ada, other)]);
    expect(rest.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("a refund that is repeated with its key happens once, and needs a key and a reason", async () => {
    const [olga, ada] = await people();
    const job_id = await jobThatCost(ada, 6);
    const once = () => refund(olga, ada, job_id, { amount: 2 }, "one");
    const [first, again] = [await once(), await once()];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await refund(olga, ada, job_id, { amount: 3 }, "one")).status).toBe(422);
    const path = `${of(ada)}/jobs/${job_id}/refund`;
    for (const [body, headers] of [
      [{ reason: "why" }, {}],
      [{}, key("two")],
      [{ reason: "why", amount: 0 }, key("two")],
      [{ reason: "why", amount: 1.5 }, key("two")],
    ] as const) {
      const refused = await olga.send("POST", path, body, headers);
      expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
    }
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(96);
  });

  it("a job that is started, cost nothing or is unknown cannot be refunded", async () => {
    const [olga, ada] = await people();
    const body = { app: "demo", action: "draw", cost_estimate: 10 };
    const started = (await ada.post("/api/jobs", body)).body.job_id;
    const free = await jobThatCost(ada, 0);
    for (const job_id of [started, free]) {
      expect((await refund(olga, ada, job_id)).body).toMatchObject({
        code: "refund_limit",
        limit: 0,
      });
    }
    for (const unknown of ["018f0000-0000-7000-8000-000000000000", "nonsense"]) {
      const refused = await refund(olga, ada, unknown);
      expect([refused.status, refused.body.code]).toEqual([404, "job_not_found"]);
    }
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(90);
    await expectInvariants(ada.identity_id);
  });

  it("an operator can refund a job of a suspended account", async () => {
    const [olga, ada] = await people();
    const job_id = await jobThatCost(ada, 6);
    await olga.send("POST", `${of(ada)}/suspend`, { reason: "why" }, key("suspend"));
    expect((await refund(olga, ada, job_id)).body.credits).toBe(100);
  });

  it("a retry of the request that completed a job gets its first response after a refund", async () => {
    const [olga, ada] = await people();
    const job_id = await jobThatCost(ada, 6, key("done"));
    const retry = () => ada.post("/api/jobs/complete", { job_id, actual_cost: 6 }, key("done"));
    const first = await retry();
    await refund(olga, ada, job_id);
    const again = await retry();
    expect(again.body).toEqual(first.body);
    expect(again.body).toMatchObject({ job: { refunded: 0 }, credits: 94 });
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  });

  it("an expired job that was charged and refunded cannot be completed late", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const [olga, ada] = await people();
    const app = { name: "Slow", starter_credits: 100, origins: [], daily_starter_budget: null };
    await olga.send("PUT", "/api/admin/apps/slow", { ...app, on_expiry: "charge" });
    forgetEnvironments();
    const body = { app: "slow", action: "draw", cost_estimate: 10, ttl_seconds: 60 };
    const { job_id } = (await ada.post("/api/jobs", body)).body;
    vi.setSystemTime(Date.now() + 61_000);
    expect((await refund(olga, ada, job_id, { amount: 4 })).body.job).toMatchObject({
      failure: "expired",
      actual_cost: 10,
      refunded: 4,
    });
    const late = await ada.post("/api/jobs/complete", { job_id, actual_cost: 3 });
    expect([late.status, late.body.code]).toEqual([400, "job_ended"]);
    await expectInvariants(ada.identity_id);
    const { series } = (await olga.get("/api/admin/stats?app=slow")).body;
    expect(series).toMatchObject([{ settled: 10, failed: 1, refunded: 4, job_refunded: 4 }]);
    vi.useRealTimers();
  });

  it("a refund gives a capped token its room back in the same period, and not in a later one", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const [olga, ada] = await people();
    const cap = { credits: 50, period: "total" };
    const agent: TokenHolder = await getToken(ada, { caps: [cap] });
    const job_id = await jobThatCost(agent, 6);
    const spent = async (): Promise<number | undefined> =>
      (
        await query<{ spent: number }>(
          ada.identity_id,
          "select caps_json ->> '$[0].spent' as spent from allowances",
        )
      )[0]?.spent;
    expect(await spent()).toBe(6);
    await refund(olga, ada, job_id, { amount: 2 });
    expect(await spent()).toBe(4);
    vi.setSystemTime(Date.now() + 31 * 86_400_000);
    const later = await signInOperator();
    const grace = await signIn();
    await jobThatCost(agent, 5);
    await refund(later, grace, job_id);
    expect(await spent()).toBe(5);
    await expectInvariants(ada.identity_id);
    vi.useRealTimers();
  });
});
