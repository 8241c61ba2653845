import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import {
  BALANCE_MAX_CREDITS,
  JOBS_PER_BATCH_MAX,
  RECENT_JOBS_MAX,
  RECENT_JOBS_PORTION,
} from "../../../src/domain/limits.ts";
import { STUCK_JOB_RETRY_MS } from "../../../src/account/jobs/expiry.ts";
import { expectInvariants, expectReadModel } from "./invariants.ts";
import { dump, evict, fireAlarm, query } from "../support/account_object.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;
const account = () => env.ACCOUNT.getByName(ADA);

const grant = (slug: string, starter_credits: number) =>
  account().wallet(session, { app: { slug, starter_credits } });

const create = (
  cost_estimate: number,
  guard: { key: string; fingerprint: string } | null = null,
) => {
  const job = {
    app_slug: "demo",
    policy: DEFAULT_POLICY,
    action: "draw",
    ttl_seconds: 60,
    metadata_json: null,
  };
  return account().createJob(session, { ...job, cost_estimate }, guard);
};

async function createdId(cost_estimate: number): Promise<string> {
  const answer = await create(cost_estimate);
  return answer.ok ? answer.value.value.job_id : expect.fail("refused");
}

/**
 * Returns the error of an operation as text. An error that leaves `runInDurableObject` would also be reported
 * as unhandled.
 */
function failureOf(work: (instance: ReturnType<typeof account>) => unknown): Promise<unknown> {
  return runInDurableObject(account(), (instance) => {
    try {
      work(instance as never);
      return null;
    } catch (error) {
      return String(error);
    }
  });
}

const armedAt = () => runInDurableObject(account(), (_, state) => state.storage.getAlarm());

/** Makes each matching write fail inside its transaction, until `repair`. */
const failOn = (write: string, condition = "1") =>
  query(
    ADA,
    `create trigger broken before ${write} when ${condition} begin select raise(abort, 'no'); end`,
  );
const repair = () => query(ADA, "drop trigger broken");

beforeEach(async () => {
  await grant("demo", 100);
  await fireAlarm(ADA);
});

const request = {
  app_slug: "demo",
  policy: DEFAULT_POLICY,
  action: "draw",
  cost_estimate: 10,
  ttl_seconds: 60,
  metadata_json: null,
};

/** Creates jobs that cost nothing, a multiple of a hundred. */
async function createFree(jobs: number): Promise<void> {
  const batch = Array.from({ length: JOBS_PER_BATCH_MAX }, () => ({
    ...request,
    cost_estimate: 0,
  }));
  for (let created = 0; created < jobs; created += batch.length) {
    expect(await account().createJobs(session, batch, null)).toMatchObject({ ok: true });
  }
}

describe("a write that fails in the middle of a transaction", () => {
  it("a failing write rolls back the whole transaction with its alarm, and the next transaction arms it", async () => {
    await failOn("insert on jobs");
    const before = await dump(ADA);
    expect(
      await failureOf((instance) => instance.createJob(session, request, null)),
    ).not.toBeNull();
    expect(await dump(ADA)).toBe(before);
    expect(await armedAt()).toBeNull();
    await repair();
    await createdId(10);
    expect(await armedAt()).not.toBeNull();
    await expectInvariants(ADA);
  });

  it("a failing write rolls back a job's expiry too, and the next call expires the job", async () => {
    const job_id = await createdId(30);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await failOn("insert on jobs");
    expect(
      await failureOf((instance) => instance.createJob(session, request, null)),
    ).not.toBeNull();
    await repair();
    const [row] = await query<{ status: string }>(ADA, "select status from jobs");
    expect(row?.status).toBe("started");
    // Reads the wallet before the job, because reading an overdue job expires it.
    expect(await account().wallet(session, { app: null })).toMatchObject({
      value: { account: { credits: 100 } },
    });
    expect(await account().readJob(session, job_id)).toMatchObject({ value: { status: "failed" } });
    await expectInvariants(ADA);
  });
});

describe("an app's first jobs", () => {
  it("a batch that is rolled back leaves the account closed for its app, and the next job opens it", async () => {
    const first = { ...request, app_slug: "other" };
    const access = () => query(ADA, "select access from apps where slug = 'other'");
    await failOn("insert on jobs", "new.action = 'paint'");
    const batch = [first, first, { ...first, action: "paint" }];
    expect(await failureOf((instance) => instance.createJobs(session, batch, null))).not.toBeNull();
    expect(await access()).toEqual([]);
    expect(await account().createJob(session, first, null)).toMatchObject({ ok: true });
    expect(await access()).toEqual([{ access: "open" }]);
  });
});

describe("a job's time", () => {
  it.each([
    ["a recent job", 0],
    ["a job that outlasts the recent ones", RECENT_JOBS_MAX],
  ])("the time of %s is over in the exact millisecond, not one earlier", async (_, others) => {
    const job_id = await createdId(30);
    await createFree(others);
    const [job] = await query<{ expires_at_ms: number }>(
      ADA,
      `select expires_at_ms from jobs where id = '${job_id}'`,
    );
    const end_ms = job?.expires_at_ms ?? 0;
    const credits = async () => {
      const wallet = await account().wallet(session, { app: null });
      return wallet.ok && wallet.value.account.credits;
    };
    vi.useFakeTimers({ toFake: ["Date"], now: end_ms - 1 });
    expect(await credits()).toBe(70);
    vi.setSystemTime(end_ms);
    expect(await credits()).toBe(100);
    const [newest] = await query<Record<string, number>>(
      ADA,
      `select recent_jobs, (select count(*) from jobs where id > coalesce(recent_after_job_id, '')) as found
       from entries order by line desc limit 1`,
    );
    expect(newest).toMatchObject({ recent_jobs: newest?.["found"] });
  });
});

describe("the greatest balance", () => {
  it("a grant is not made if the balance could then not take back all held credits", async () => {
    const job_id = await createdId(60);
    expect(await grant("huge", BALANCE_MAX_CREDITS - 100)).toMatchObject({
      value: { app_grant: { granted: true } },
    });
    expect(await grant("more", 1)).toMatchObject({ value: { app_grant: { granted: false } } });
    expect(await account().adjustCredits({ amount: 1, note: "more" }, null)).toMatchObject({
      refusal: { code: "balance_limit" },
    });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    expect(await account().readJob(session, job_id)).toMatchObject({
      value: { status: "failed", failure: "expired" },
    });
    expect(await account().wallet(session, { app: null })).toMatchObject({
      value: { account: { credits: BALANCE_MAX_CREDITS } },
    });
    await expectInvariants(ADA);
  });

  it("an adjustment below the smallest balance is refused and changes nothing", async () => {
    const before = await dump(ADA);
    const answer = await account().adjustCredits(
      { amount: 0 - BALANCE_MAX_CREDITS - 101, note: "all" },
      null,
    );
    expect(answer).toMatchObject({ refusal: { code: "balance_limit" } });
    expect(await dump(ADA)).toBe(before);
  });
});

describe("a job that cannot time out", () => {
  it("a job that cannot expire is set aside and logged, other calls go on, and it ends as soon as it can", async () => {
    const errors = vi.spyOn(console, "error").mockReturnValue();
    const stuck = await createdId(20);
    const other = await createdId(30);
    await failOn("update on jobs", `old.id = '${stuck}'`);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await fireAlarm(ADA);
    expect(errors).toHaveBeenCalledWith(
      expect.objectContaining({ event: "job_set_aside", job_id: stuck }),
    );
    expect(await account().readJob(session, other)).toMatchObject({ value: { status: "failed" } });
    expect(await account().wallet(session, { app: null })).toMatchObject({
      value: { account: { credits: 80 } },
    });
    await createdId(1);
    await fireAlarm(ADA);
    const tries = errors.mock.calls.filter(([line]) => line?.event === "job_set_aside");
    expect(tries).toHaveLength(1);
    await expectReadModel(ADA);
    const overdue = await env.DB.prepare(
      "select id from jobs where status = 'started' and expires_at_ms <= ?",
    )
      .bind(Date.now())
      .all();
    expect(overdue.results).toEqual([{ id: stuck }]);

    // Only the alarm retries the job, even after an eviction.
    await repair();
    await evict(ADA);
    vi.setSystemTime(Date.now() + STUCK_JOB_RETRY_MS);
    await fireAlarm(ADA);
    expect(await account().readJob(session, stuck)).toMatchObject({
      value: { status: "failed", failure: "expired" },
    });
    expect(await query(ADA, "select * from stuck_jobs")).toEqual([]);
    await expectInvariants(ADA);
  });

  it("a job that cannot expire stays set aside when it is no longer recent", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const stuck = await createdId(20);
    await failOn("update on jobs", `old.id = '${stuck}'`);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await fireAlarm(ADA);
    await createFree(RECENT_JOBS_MAX);
    const long = await query<{ job_id: string }>(ADA, "select job_id from long_jobs");
    expect(long).toHaveLength(RECENT_JOBS_PORTION - 1);
    expect(long).not.toContainEqual({ job_id: stuck });
    expect(await query(ADA, "select job_id from stuck_jobs")).toEqual([{ job_id: stuck }]);
  });

  it("a job that cannot expire may still be completed", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const stuck = await createdId(20);
    await failOn("update on jobs", "new.status = 'failed'");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await fireAlarm(ADA);
    const ending = { job_id: stuck, actual_cost: 5, metadata_json: null };
    expect(await account().completeJob(session, ending, null)).toMatchObject({
      value: { value: { credits: 95 } },
    });
    expect(await query(ADA, "select * from stuck_jobs")).toEqual([]);
    await expectInvariants(ADA);
  });
});
