/**
 * Lists of jobs across accounts. A page reads a bounded number of jobs, in the order of their ids, however few of them match.
 * So a page may be short or even empty, and still have a next page.
 */
import {
  beginningOf,
  DAY_MS,
  END_OF_IDS,
  firstIdOf,
  ID_MARGIN_MS,
  timeOfId,
  utcDayOf,
} from "../domain/calendar.ts";
import type { JobStatus } from "../domain/job.ts";
import { LISTED_JOBS_SCANNED } from "../domain/limits.ts";
import type { JobSort } from "../domain/wire.ts";
import type { jobs } from "./schema.ts";

export type FoundJob = typeof jobs.$inferSelect & { readonly identity_id: string };

export interface JobSearch {
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** The app that started it, or the allowance or one of its ancestors. */
  readonly by?: string | undefined;
  readonly identity_id?: string | undefined;
  /** The time of creation; `to_ms` is excluded. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly before_id?: string | undefined;
  /** Left out: the newest first. By cost, only the first page has jobs: those of the newest {@link LISTED_JOBS_SCANNED}. */
  readonly sort?: JobSort | undefined;
  readonly limit: number;
}

export interface JobPage {
  readonly jobs: readonly FoundJob[];
  /** The `before_id` of the next page; null: there is none. */
  readonly next_id: string | null;
}

const IN_RANGE = "from jobs where id >= ?1 and id < ?2 order by id desc";

const MATCHES = `(?4 is null or app_slug = ?4) and (?5 is null or status = ?5)
  and (?6 is null or started_by_json ->> '$.slug' = ?6
    or instr(' ' || allowance_path || ' ', ' ' || ?6 || ' ') > 0)
  and (?7 is null or created_at_ms >= ?7) and (?8 is null or created_at_ms < ?8)
  and (?9 is null or account_id in (select value from json_each(?9)))`;

const ORDERS: Readonly<Record<JobSort, string>> = {
  created: "id desc",
  cost: "actual_cost - refunded desc, id desc",
};

/** Without an `identity_id`: of a deleted account. They are left out after the page is cut, or the next page would skip jobs. */
const found = (order: string): string => `select found.*, accounts.identity_id from (
    select * from (select * ${IN_RANGE} limit ?3) where ${MATCHES} order by ${order} limit ?10
  ) as found left join accounts on accounts.id = found.account_id order by ${order.replaceAll("id ", "found.id ")}`;

const FOUND = { created: found(ORDERS.created), cost: found(ORDERS.cost) };

const LAST_SCANNED = `select id ${IN_RANGE} limit 1 offset ?3 - 1`;

const ACCOUNTS = "select id, created_at_ms from accounts where identity_id = ?1";

/**
 * The newest day up to ?2 on which one of these accounts was active. Without one, the day before the oldest of all accounts: only
 * started jobs are older. Null: no account was active.
 */
const ACTIVE_DAY = `select coalesce(max((select max(day) from account_days
    where account_id = value and day <= ?2)), (select min(day) - 1 from account_days)) as day
  from json_each(?1)`;

/** Ids from `from_id` on, before `to_id`, and the accounts to which the jobs belong; null: any. */
interface Range {
  readonly from_id: string;
  readonly to_id: string;
  readonly account_ids: readonly string[] | null;
}

export async function findJobs(database: D1Database, search: JobSearch): Promise<JobPage> {
  const { app_slug, status, by, from_ms, to_ms, limit, sort = "created" } = search;
  const range = await rangeOf(database, search);
  if (range === null) return { jobs: [], next_id: null };
  const { from_id, to_id, account_ids } = range;
  const filters = [app_slug, status, by, from_ms, to_ms].map((value) => value ?? null);
  const is_filtered = account_ids !== null || filters.some((value) => value !== null);
  const scanned = is_filtered || sort === "cost" ? LISTED_JOBS_SCANNED : limit;
  const accounts_json = account_ids === null ? null : JSON.stringify(account_ids);
  const found_jobs = database
    .prepare(FOUND[sort])
    .bind(from_id, to_id, scanned, ...filters, accounts_json, limit);
  const last_scanned = database.prepare(LAST_SCANNED).bind(from_id, to_id, scanned);
  // In one transaction: a job that is created between them would move the end of what was looked at.
  const [found_rows, scanned_to] = await database.batch<FoundJob & { identity_id: string | null }>(
    sort === "cost" ? [found_jobs] : [found_jobs, last_scanned],
  );
  const rows = found_rows?.results ?? [];
  const jobs = rows.filter(({ identity_id }) => identity_id !== null);
  if (sort === "cost") return { jobs, next_id: null };
  const last = rows.length < limit ? scanned_to?.results[0] : rows.at(-1);
  return { jobs, next_id: last?.id ?? null };
}

/** Ids follow their time, except after a clock that went back. Null: the identity has no account. */
async function rangeOf(database: D1Database, search: JobSearch): Promise<Range | null> {
  const { identity_id, from_ms, to_ms, before_id = END_OF_IDS } = search;
  const end_id = to_ms === undefined ? END_OF_IDS : firstIdOf(to_ms + ID_MARGIN_MS);
  const from_id = from_ms === undefined ? "" : firstIdOf(from_ms - ID_MARGIN_MS);
  const to_id = before_id < end_id ? before_id : end_id;
  if (identity_id === undefined) return { from_id, to_id, account_ids: null };
  const { results: accounts } = await database
    .prepare(ACCOUNTS)
    .bind(identity_id)
    .all<{ id: string; created_at_ms: number }>();
  if (accounts.length === 0) return null;
  const account_ids = accounts.map(({ id }) => id);
  const active_day = await database
    .prepare(ACTIVE_DAY)
    .bind(JSON.stringify(account_ids), dayOf(to_id))
    .first<number>("day");
  const opened_ms = Math.min(...accounts.map(({ created_at_ms }) => created_at_ms));
  const opened_id = firstIdOf(opened_ms - ID_MARGIN_MS);
  const active_id =
    active_day === null ? END_OF_IDS : firstIdOf((active_day + 1) * DAY_MS + ID_MARGIN_MS);
  return {
    from_id: from_id > opened_id ? from_id : opened_id,
    to_id: to_id < active_id ? to_id : active_id,
    account_ids,
  };
}

/** The last day on which a job with a lower id can have been created. */
function dayOf(id: string): number {
  const at_ms = beginningOf(id);
  return at_ms === null ? Number.MAX_SAFE_INTEGER : utcDayOf(at_ms + ID_MARGIN_MS);
}

const JOB = `select jobs.*, accounts.identity_id from jobs
  join accounts on accounts.id = jobs.account_id where jobs.id = ?1`;

/** A job by its id; null: it is not stored, or not any more. */
export function findJob(database: D1Database, id: string): Promise<FoundJob | null> {
  if (timeOfId(id) === null) return Promise.resolve(null);
  return database.prepare(JOB).bind(id).first<FoundJob>();
}
