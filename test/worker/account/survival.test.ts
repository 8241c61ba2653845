import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { expectInvariants, expectReadModel } from "./invariants.ts";
import { evict, fireAlarm, query, repeatAlarm } from "../support/account_object.ts";
import { findReadModel, loseReadModel } from "./sync/readmodel.ts";

async function createJob(person: SignedIn, cost_estimate = 10): Promise<string> {
  const { body } = await person.post("/api/jobs", { app: "demo", action: "draw", cost_estimate });
  return body.job_id;
}

async function countProjectedJobs(): Promise<number> {
  return (await env.DB.prepare("select count(*) as n from jobs").first<number>("n")) ?? 0;
}

describe("an object evicted between any two calls", () => {
  it("the typical flow has the same result if the object is evicted between any two calls", async () => {
    const ada = await signInWithCredits();
    await evict(ada.identity_id);
    const job_id = await createJob(ada, 30);
    await evict(ada.identity_id);
    const completed = await ada.post("/api/jobs/complete", { job_id, actual_cost: 12 });
    await evict(ada.identity_id);
    expect(completed.body.credits).toBe(88);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(88);
    await expectInvariants(ada.identity_id);
  });

  it("every change reaches the read model, whichever instance made it", async () => {
    const ada = await signInWithCredits();
    await createJob(ada);
    await evict(ada.identity_id);
    await createJob(ada);
    await evict(ada.identity_id);
    await createJob(ada);
    await evict(ada.identity_id);
    expect(await fireAlarm(ada.identity_id)).toBe(true);
    await expectReadModel(ada.identity_id);
  });

  it("an object that was evicted expires a job that an earlier instance created", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 40, ttl_seconds: 60 });
    await fireAlarm(ada.identity_id);
    await evict(ada.identity_id);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    const { body } = await ada.get("/api/jobs");
    expect(body.jobs[0]).toMatchObject({ status: "failed", failure: "expired", actual_cost: 0 });
    vi.useRealTimers();
    await expectInvariants(ada.identity_id);
  });
});

describe("the alarm", () => {
  it("an alarm that fires twice changes nothing the second time", async () => {
    const ada = await signInWithCredits();
    await createJob(ada);
    await fireAlarm(ada.identity_id);
    await repeatAlarm(ada.identity_id);
    expect(await countProjectedJobs()).toBe(1);
    await expectInvariants(ada.identity_id);
  });

  it("the alarm expires overdue jobs with a full refund", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 40, ttl_seconds: 60 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await fireAlarm(ada.identity_id);
    const shown = await env.DB.prepare("select status, failure, actual_cost from jobs").first();
    expect(shown).toEqual({ status: "failed", failure: "expired", actual_cost: 0 });
  });

  it("the alarm is armed for the next expiry once everything is delivered", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 40, ttl_seconds: 3600 });
    await fireAlarm(ada.identity_id);
    const [job] = await query<{ expires_at_ms: number }>(ada.identity_id, "select * from jobs");
    const armed = await runInDurableObject(env.ACCOUNT.getByName(ada.identity_id), (_, state) =>
      state.storage.getAlarm(),
    );
    expect(armed).toBe(job?.expires_at_ms);
  });

  it("the alarm is not armed if nothing is left to do", async () => {
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    expect(await fireAlarm(ada.identity_id)).toBe(false);
  });
});

describe("with D1 out of reach", () => {
  it("jobs go on while D1 is down, and the read model catches up when D1 is back", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await loseReadModel();
    const job_id = await createJob(ada, 30);
    await fireAlarm(ada.identity_id);
    const completed = await ada.post("/api/jobs/complete", { job_id, actual_cost: 12 });
    expect(completed).toMatchObject({ status: 200, body: { credits: 88 } });
    await fireAlarm(ada.identity_id);
    await findReadModel();
    expect(await countProjectedJobs()).toBe(0);
    await fireAlarm(ada.identity_id);
    await expectReadModel(ada.identity_id);
  });

  it("an object that is evicted while D1 is down still delivers everything", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await signInWithCredits();
    await loseReadModel();
    await createJob(ada);
    await fireAlarm(ada.identity_id);
    await evict(ada.identity_id);
    await createJob(ada);
    await evict(ada.identity_id);
    await findReadModel();
    await fireAlarm(ada.identity_id);
    await expectReadModel(ada.identity_id);
    expect(await query(ada.identity_id, "select * from read_model_behind")).toEqual([]);
  });

  it("the log of a failed delivery contains nothing of the data", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await loseReadModel();
    await ada.post("/api/jobs", {
      app: "demo",
      action: "draw",
      cost_estimate: 1,
      metadata: { description: "a private matter" },
    });
    await fireAlarm(ada.identity_id);
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ event: "projection_failed" }));
    expect(JSON.stringify(warn.mock.calls)).not.toContain("private matter");
  });
});

describe("a rebuild of the read model", () => {
  it("a rebuild replaces everything that D1 has of the account", async () => {
    const ada = await signInWithCredits();
    await createJob(ada);
    await createJob(ada);
    await fireAlarm(ada.identity_id);
    await env.DB.batch([
      env.DB.prepare("update jobs set actual_cost = 999, line = 999 where 1"),
      env.DB.prepare("update grants set amount = 5"),
      env.DB.prepare(
        `insert into jobs select account_id, 'stray', app_slug, action, status, reserved, actual_cost, refunded, step, spent,
         failure, failure_reason, created_at_ms, updated_at_ms, expires_at_ms, allowance_path, started_by_json, line
         from jobs limit 1`,
      ),
    ]);
    await env.ACCOUNT.getByName(ada.identity_id).rebuild();
    await expectReadModel(ada.identity_id);
  });

  it("a rebuild of an account that was never opened creates nothing", async () => {
    await env.ACCOUNT.getByName("nobody").rebuild();
    expect(await env.DB.prepare("select count(*) as n from accounts").first("n")).toBe(0);
  });
});

describe("a long backlog", () => {
  it("a long backlog reaches the read model completely, in batches", async () => {
    const ada = await signInWithCredits();
    for (let index = 0; index < 60; index += 1) await createJob(ada, 1);
    await fireAlarm(ada.identity_id);
    expect(await countProjectedJobs()).toBe(60);
    await expectReadModel(ada.identity_id);
  });
});
