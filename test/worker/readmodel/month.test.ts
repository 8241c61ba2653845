/**
 * A month of many accounts: job lives through the objects, delivery, maintenance and one rebuild of an empty
 * D1. `npm run month` plays a million jobs; the suite a hundredth of them.
 */
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import type { Account } from "../../../src/account/object.ts";
import { DAY_MS, utcDayOf } from "../../../src/domain/calendar.ts";
import { cleanReadModel } from "../../../src/readmodel/retention.ts";
import { readDailyTotals } from "../../../src/readmodel/totals.ts";
import { NOT_IN_D1 } from "../account/invariants.ts";
import {
  addAccount,
  seriesOf,
  type ModelJob,
  type ModelLine,
  type Totals,
} from "./totals_model.ts";

const JOBS = Number(env.TEST_MONTH_JOBS);
const JOBS_PER_ACCOUNT = 100;
const ACCOUNTS = Math.ceil(JOBS / JOBS_PER_ACCOUNT);
const DAYS = 30;
const ROUNDS = 3;
const ROUND_MS = (DAYS / ROUNDS) * DAY_MS;
const WINDOW_DAYS = 12;
const TTL_SECONDS = 3_600;
const APPS = ["atelier", "sketch", "tune"];
const session = { kind: "holder" } as const;

/**
 * In the future, so that no alarm fires by itself, and later than other tests of the same isolate: ids follow
 * the clock but never go back. Midnight, so that days are whole.
 */
const START_MS = (utcDayOf(Date.now()) + 10_000) * DAY_MS;

const nameOf = (account: number) => `user_month_${account}`;

/** Runs in an account's object, which is asleep before and after. */
async function inside<Value>(
  account: number,
  work: (instance: Account, sql: SqlStorage) => Promise<Value> | Value,
): Promise<Value> {
  const stub = env.ACCOUNT.getByName(nameOf(account));
  const value = await runInDurableObject(stub, (instance: Account, state) =>
    work(instance, state.storage.sql),
  );
  await evictDurableObject(stub);
  return value;
}

/**
 * A third of an account's month: each job is completed, failed, charged, or left to expire. The accounts
 * alternate, so that the clock never goes back, because job ids follow it.
 */
function live(instance: Account, account: number, round: number): void {
  const first = Math.floor((JOBS_PER_ACCOUNT * round) / ROUNDS);
  const jobs = Math.floor((JOBS_PER_ACCOUNT * (round + 1)) / ROUNDS) - first;
  const turn_ms = ROUND_MS / ACCOUNTS;
  const step_ms = turn_ms / (jobs + 1);
  const begin_ms = START_MS + round * ROUND_MS + account * turn_ms;
  const app_slug = APPS[account % APPS.length] ?? "";
  vi.setSystemTime(begin_ms);
  // The started jobs of the last turn expire now.
  instance.wallet(session, { app: { slug: app_slug, starter_credits: 1_000 } });
  if (round === 1) instance.adjustCredits({ amount: (account % 7) - 3, note: "a month" }, null);
  for (let job = 0; job < jobs; job += 1) {
    vi.setSystemTime(begin_ms + (job + 1) * step_ms);
    const slug = job % 5 === 0 ? (APPS[job % 3] ?? "") : app_slug;
    const request = {
      app_slug: slug,
      policy: DEFAULT_POLICY,
      action: "draw",
      cost_estimate: 3,
      metadata_json: null,
    };
    const created = instance.createJob(session, { ...request, ttl_seconds: TTL_SECONDS }, null);
    if (!created.ok) throw new Error(created.refusal.code);
    const { job_id } = created.value.value;
    const ending = (job + account) % 10;
    if (ending < 6) {
      const complete = { job_id, actual_cost: ending, metadata_json: null };
      instance.completeJob(session, complete, null);
    } else if (ending < 9) {
      instance.failJob(
        session,
        { job_id, refund: ending === 8, reason: null, metadata_json: null },
        null,
      );
    }
  }
}

/** The account in D1 equals the object's, and so do the jobs of the window. The entries go to the model. */
async function compare(account: number, before_ms: number, model: Totals): Promise<void> {
  const { id, entries, jobs } = await inside(account, (_, sql) => ({
    id: sql.exec<{ id: string }>("select id from account").one().id,
    entries: sql.exec("select * from entries order by line").toArray(),
    jobs: sql.exec("select * from jobs order by id").toArray(),
  }));
  addAccount(
    model,
    id,
    entries as unknown as readonly ModelLine[],
    jobs as unknown as readonly ModelJob[],
  );
  const last = entries.at(-1);
  const [row, rows] = await env.DB.batch<Record<string, unknown>>([
    env.DB.prepare("select line, credits, reserved from accounts where id = ?").bind(id),
    env.DB.prepare("select * from jobs where account_id = ? order by id").bind(id),
  ]);
  const { line, balance_after: credits, reserved_after: reserved } = last ?? {};
  expect(row?.results).toEqual([{ line, credits, reserved }]);
  const within = jobs.filter((job) => Number(job["created_at_ms"]) >= before_ms);
  for (const job of within) {
    for (const column of NOT_IN_D1) delete job[column];
  }
  expect(rows?.results).toEqual(within.map((job) => ({ account_id: id, ...job })));
}

async function forEachAccount(
  what: string,
  work: (account: number) => Promise<unknown>,
): Promise<void> {
  for (let account = 0; account < ACCOUNTS; account += 1) {
    await work(account);
    // A million jobs take most of an hour.
    if ((account + 1) % 1_000 === 0) console.log(`${what}: ${account + 1} of ${ACCOUNTS} accounts`);
  }
}

async function upkeep(now_ms: number): Promise<{ runs: number; deleted_jobs: number }> {
  let [runs, deleted_jobs, complete] = [0, 0, false];
  while (!complete) {
    const done = await cleanReadModel(env.DB, WINDOW_DAYS, now_ms);
    complete = done.complete;
    deleted_jobs += done.deleted_jobs;
    runs += 1;
  }
  return { runs, deleted_jobs };
}

const countOf = (table: string) =>
  env.DB.prepare(`select count(*) as n from ${table}`).first<number>("n");

async function expectSame(now_ms: number): Promise<number> {
  const model: Totals = new Map();
  await forEachAccount("comparing", (account) =>
    compare(account, now_ms - WINDOW_DAYS * DAY_MS, model),
  );
  const from = utcDayOf(START_MS);
  for (const app of ["*", ...APPS]) {
    const series = await readDailyTotals(env.DB, from, from + DAYS + 9, app === "*" ? null : app);
    expect(series).toEqual(seriesOf(model, app));
  }
  return model.size;
}

it(
  `a month of ${JOBS} jobs in ${ACCOUNTS} accounts: D1 equals the objects in the window, totals are exact`,
  { tags: ["slow"], timeout: 6 * 3_600_000 },
  async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: START_MS });
    const report: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await forEachAccount(`living, part ${round + 1} of ${ROUNDS}`, (account) =>
        inside(account, async (instance) => {
          live(instance, account, round);
          await instance.alarm();
        }),
      );
      const now_ms = START_MS + (round + 1) * ROUND_MS;
      report.push({ round, ...(await upkeep(now_ms)), jobs_in_d1: await countOf("jobs") });
    }
    const end_ms = START_MS + DAYS * DAY_MS;
    report.push({ days_and_apps: await expectSame(end_ms), totals: await countOf("daily_totals") });

    // All rows are deleted, and every account is sent again.
    const tables = ["accounts", "grants", "jobs", "daily_totals", "daily_revenue", "account_days"];
    await env.DB.batch(tables.map((table) => env.DB.prepare(`delete from ${table}`)));
    vi.setSystemTime(end_ms);
    await forEachAccount("rebuilding", (account) =>
      inside(account, (instance) => instance.rebuild()),
    );
    const rebuilt = await countOf("jobs");
    report.push({ rebuilt_jobs: rebuilt, ...(await upkeep(end_ms)) });
    expect(rebuilt).toBe(JOBS);
    await expectSame(end_ms);

    // A second time over existing rows: nothing is counted twice.
    await forEachAccount("rebuilding again", (account) =>
      inside(account, (instance) => instance.rebuild()),
    );
    report.push({ again: await upkeep(end_ms), jobs_in_d1: await countOf("jobs") });
    await expectSame(end_ms);
    console.log(JSON.stringify(report));
  },
);
