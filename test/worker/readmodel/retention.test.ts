import { env } from "cloudflare:workers";
import { createScheduledController } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { DAY_MS, utcDayOf } from "../../../src/domain/calendar.ts";
import {
  LISTED_JOBS_SCANNED,
  SESSION_CLEANUP_ROWS,
  UPKEEP_PORTIONS,
} from "../../../src/domain/limits.ts";
import {
  UPKEEP_PORTION_JOBS,
  UPKEEP_PORTION_ROWS,
  cleanReadModel,
  deleteLeftJobs,
} from "../../../src/readmodel/retention.ts";
import { createDirectProjector } from "../../../src/readmodel/direct_projector.ts";
import { ReadModel } from "../../../src/readmodel/queries.ts";
import worker from "../../../src/worker.ts";
import { environmentWith } from "../support/passbook.ts";
import { countingRows, watched } from "./watched.ts";

const NOW_MS = 1_800_000_000_000;
const count = (table: string) => env.DB.prepare(`select count(*) as n from ${table}`).first("n");

/** Accounts inserted by SQL, because many are needed and their origin does not matter. */
async function insertAccounts(accounts: number): Promise<void> {
  await env.DB.exec(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${accounts}) insert into accounts (id, identity_id, plan, created_at_ms, line, credits, reserved, updated_at_ms) select printf('account %06d', i), i, 'free', 1, 1, 0, 0, 1 from n`,
  );
}

/** Jobs of an account, created this many days ago; ids are UUIDv7 of that time. */
async function insertJobs(
  account_id: string,
  jobs: number,
  days_ago: number,
  status = "completed",
) {
  const at_ms = NOW_MS - days_ago * DAY_MS;
  const hex = at_ms.toString(16).padStart(12, "0");
  const id = `'${hex.slice(0, 8)}-${hex.slice(8)}-7' || printf('%011d', i) || '${account_id}'`;
  await env.DB.exec(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${jobs}) insert into jobs select ${id}, '${account_id}', 'demo', 'draw', '${status}', 1, 1, 0, 0, null, null, null, ${at_ms}, ${at_ms}, ${at_ms}, null, null, 1 from n`,
  );
}

describe("a job", () => {
  it("a job leaves the read model only when it is older than the window and not started", async () => {
    await insertAccounts(2);
    await insertJobs("account 000001", 3, 31);
    await insertJobs("account 000002", 2, 29);
    await insertJobs("account 000002", 1, 40, "started");
    const done = await cleanReadModel(env.DB, 30, NOW_MS);
    expect(done).toMatchObject({ deleted_jobs: 3, complete: true });
    expect(await count("jobs")).toBe(3);
    await env.DB.exec("update jobs set status = 'failed' where status = 'started'");
    expect(await cleanReadModel(env.DB, 30, NOW_MS)).toMatchObject({ deleted_jobs: 1 });
  });
});

describe("a list of jobs with a filter", () => {
  it("shows no job twice while others are created", async () => {
    await insertAccounts(1);
    await insertJobs("account 000001", 1, 3);
    await insertJobs("account 000001", LISTED_JOBS_SCANNED - 1, 2, "failed");
    let newer = 0;
    const busy = new ReadModel(
      watched(env.DB, async (call) => {
        const answer = await call();
        newer += 0.001;
        await insertJobs("account 000001", 1, 1 - newer, "failed");
        return answer;
      }),
    );
    const filter = { status: "completed", limit: 50 } as const;
    const first = await busy.findJobs(filter);
    expect(first.jobs).toHaveLength(1);
    const second = await busy.findJobs({ ...filter, before_id: first.next_id ?? "" });
    expect(second.jobs).toEqual([]);
  });
});

describe("a started job that is older than the window", () => {
  it("is in the list of its account, also after the day of its creation left", async () => {
    await insertAccounts(2);
    await insertJobs("account 000001", 1, 40, "started");
    await insertJobs("account 000002", 1, 39, "started");
    const listed = async () => {
      const { jobs } = await new ReadModel(env.DB).findJobs({ identity_id: "1", limit: 50 });
      return jobs.map(({ account_id }) => account_id);
    };
    const insert = env.DB.prepare("insert into account_days values (?1, ?2, 'demo')");
    await insert.bind("account 000001", utcDayOf(NOW_MS) - 40).run();
    expect(await listed()).toEqual(["account 000001"]);
    await cleanReadModel(env.DB, 30, NOW_MS);
    expect(await listed()).toEqual(["account 000001"]);
    await insert.bind("account 000002", utcDayOf(NOW_MS) - 1).run();
    expect(await listed()).toEqual(["account 000001"]);
  });
});

describe("a rebuild", () => {
  it("deletes a started job that the account does not have, also if it is older than the window", async () => {
    await insertAccounts(1);
    await insertJobs("account 000001", 1, 40, "started");
    const range = { account_id: "account 000001", after_id: "", to_id: null, jobs: [] };
    const insert = env.DB.prepare("insert into account_days values (?1, ?2, 'demo')");
    await insert.bind("account 000001", utcDayOf(NOW_MS) - 1).run();
    expect(await createDirectProjector(env.DB).replaceJobs(range)).toBeNull();
    expect(await count("jobs")).toBe(0);
  });
});

describe("a day on which an account was active", () => {
  it("a day's activity leaves the read model with the jobs of that day, and the totals stay", async () => {
    await insertAccounts(2);
    const today = utcDayOf(NOW_MS);
    for (const account of ["account 000001", "account 000002"]) {
      for (const days_ago of [29, 30, 31, 90]) {
        const insert = env.DB.prepare("insert into account_days values (?1, ?2, 'demo')");
        await insert.bind(account, today - days_ago).run();
      }
    }
    expect(await cleanReadModel(env.DB, 30, NOW_MS)).toMatchObject({ complete: true });
    const { results } = await env.DB.prepare("select distinct day from account_days").all();
    expect(results).toEqual([{ day: today - 30 }, { day: today - 29 }]);
  });

  it("old activity is deleted in as many portions as needed", async () => {
    await insertAccounts(1);
    const rows = UPKEEP_PORTION_ROWS * 2 + 5;
    await env.DB.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) insert into account_days select 'account 000001', i, 'demo' from n`,
    );
    expect(await cleanReadModel(env.DB, 30, NOW_MS)).toMatchObject({ complete: true });
    expect(await count("account_days")).toBe(0);
  });
});

describe("a run of the maintenance", () => {
  it("a run is bounded, and the next one continues where it stopped", async () => {
    await insertAccounts(1);
    const jobs = UPKEEP_PORTION_JOBS * UPKEEP_PORTIONS + 10;
    await insertJobs("account 000001", jobs, 100);
    await insertJobs("account 000001", 20, 101, "started");
    const first = await cleanReadModel(env.DB, 30, NOW_MS);
    expect(first).toEqual({
      deleted_jobs: UPKEEP_PORTION_JOBS * UPKEEP_PORTIONS - 20,
      portions: UPKEEP_PORTIONS,
      complete: false,
    });
    // Before the position, which the next run continues from.
    await insertJobs("account 000001", 1, 102);
    const second = await cleanReadModel(env.DB, 30, NOW_MS);
    expect(second).toEqual({ deleted_jobs: 30, portions: 1, complete: true });
    expect(await cleanReadModel(env.DB, 30, NOW_MS)).toMatchObject({ deleted_jobs: 1 });
    expect(await count("jobs")).toBe(20);
  });

  it("a run reads old jobs, but not the jobs that stay", async () => {
    await insertAccounts(10);
    await insertJobs("account 000003", 5, 100);
    await insertJobs("account 000003", 5_000, 1);
    const { database, read, written } = countingRows(env.DB);
    expect(await cleanReadModel(database, 30, NOW_MS)).toMatchObject({ deleted_jobs: 5 });
    expect(read()).toBeLessThan(100);
    expect(written()).toBe(5);
  });
});

describe("the jobs of a deleted account", () => {
  it("are shown by no list, and the schedule deletes them in portions", async () => {
    await insertAccounts(2);
    await insertJobs("account 000001", UPKEEP_PORTION_JOBS, 3);
    await insertJobs("account 000002", 7, 2);
    await insertJobs("account 000001", 7, 1);
    const model = new ReadModel(env.DB);
    expect((await model.findJobs({ limit: 50 })).jobs).toHaveLength(50);
    await createDirectProjector(env.DB).forget("account 000001");
    const { jobs } = await model.findJobs({ limit: 50 });
    expect(new Set(jobs.map(({ account_id }) => account_id))).toEqual(new Set(["account 000002"]));
    expect(await deleteLeftJobs(env.DB)).toEqual({
      deleted_jobs: UPKEEP_PORTION_JOBS + 7,
      portions: 2,
      complete: true,
    });
    expect(await count("jobs")).toBe(7);
  });

  it("make a page with a filter shorter, and the next page skips no job", async () => {
    await insertAccounts(2);
    await insertJobs("account 000002", 7, 2);
    await insertJobs("account 000001", 3, 1);
    await createDirectProjector(env.DB).forget("account 000001");
    const model = new ReadModel(env.DB);
    const filter = { status: "completed", limit: 5 } as const;
    const first = await model.findJobs(filter);
    const second = await model.findJobs({ ...filter, before_id: first.next_id ?? "" });
    expect([first.jobs.length, second.jobs.length]).toEqual([2, 5]);
    expect((await model.findJobs({ ...filter, sort: "cost" })).jobs.length).toBeGreaterThan(0);
  });
});

describe("the schedule", () => {
  const controller = () => createScheduledController({ cron: "*/10 * * * *" });
  const run = (settings: object = {}) =>
    worker.scheduled?.(controller(), environmentWith(settings));

  it("the schedule deletes old jobs by READ_MODEL_DAYS and ended sessions even if another task fails", async () => {
    vi.spyOn(console, "log").mockReturnValue();
    const errors = vi.spyOn(console, "error").mockReturnValue();
    vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
    await insertAccounts(1);
    await insertJobs("account 000001", 2, 5);
    await insertSessions(SESSION_CLEANUP_ROWS + 5, NOW_MS);
    await insertSessions(1, NOW_MS + 1);
    await run();
    expect(await count("jobs")).toBe(2);
    expect(await sessions()).toBe(1);
    await run({ READ_MODEL_DAYS: "4" });
    expect(await count("jobs")).toBe(0);

    await insertSessions(1, NOW_MS);
    await env.DB.exec("alter table jobs rename to jobs_away");
    await expect(run({ READ_MODEL_DAYS: "4" })).rejects.toThrow("read_model");
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ part: "read_model" }));
    expect(await sessions()).toBe(1);
  });

  const sessions = () => env.DIRECTORY.prepare("select count(*) as n from sessions").first("n");
  const insertSessions = (rows: number, expires_at_ms: number) =>
    env.DIRECTORY.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) insert into sessions (secret_hash, id, user_id, created_at_ms, expires_at_ms) select hex(randomblob(16)), hex(randomblob(16)), 'user', 1, ${expires_at_ms} from n`,
    );
});
