/**
 * The last hours: totals of an app's UTC day at the minutes of it, and the accounts and apps that spend now. A mark of a
 * minute is what its first delivery found, so an app has at most one written row a minute, whatever it does.
 */
import { firstIdOf, utcDayOf } from "../domain/calendar.ts";

/** The sums that a mark keeps. */
const MARKED = ["settled", "job_refunded", "jobs", "failed"] as const;

/** Marks are read for today and the two days before. */
const MARKS_KEPT_DAYS = 3;

/** Jobs whose costs one query adds up: a day of the busiest app that one D1 can carry reads in about a second. */
export const JOBS_SUMMED_MAX = 100_000;

/**
 * Marks the minute of a delivery's first entry in each app. It must run before the entries are counted. `counted`: the CTE
 * with the entries.
 */
export function markMinutes(counted: string): string {
  const columns = MARKED.map((name) => `coalesce(total.${name}, 0)`).join(", ");
  return `${counted} insert into day_minutes (day, app_slug, minute, ${MARKED.join(", ")})
    select first.day, first.app_slug, first.minute, ${columns}
      from (select day, app_slug, min(minute) as minute from counted
        where app_slug <> '' group by day, app_slug) as first
      left join daily_totals as total on total.day = first.day and total.app_slug = first.app_slug
      where true
    on conflict do nothing`;
}

/** Deletes the marks that no page reads any more. */
export const DELETE_MARKS = "delete from day_minutes where day < ?1";

export const firstMarkedDay = (now_ms: number): number => utcDayOf(now_ms) - MARKS_KEPT_DAYS;

/**
 * The totals of a day, up to and excluding a minute of it; 1440: all of them. `spent`: net of what operators gave back
 * in that time.
 */
export interface DayMark {
  readonly day: number;
  /** "": all of these apps. */
  readonly app_slug: string;
  readonly minute: number;
  readonly spent: number;
  readonly jobs: number;
  readonly failed: number;
}

export interface MarksRequest {
  /** Whole days since the epoch. */
  readonly days: readonly number[];
  readonly minutes: readonly number[];
  /** Null: the apps with the highest cost in these days, at most `limit`. */
  readonly app_slug: string | null;
  readonly limit: number;
  /** Whether each app has its own rows, or they are added up. */
  readonly by_app: boolean;
}

const marks = (by_app: boolean): string => {
  const at = (name: (typeof MARKED)[number]): string => `coalesce(mark.${name}, total.${name})`;
  return `with top as (select app_slug from daily_totals
      where day in (select value from json_each(?1)) and app_slug not in ('', '*')
        and (?3 is null or app_slug = ?3)
      group by app_slug order by sum(settled) desc, app_slug limit ?4)
    select total.day, ${by_app ? "total.app_slug" : "'' as app_slug"}, asked.value as minute,
      sum(${at("settled")} - ${at("job_refunded")}) as spent, sum(${at("jobs")}) as jobs,
      sum(${at("failed")}) as failed
    from daily_totals as total cross join json_each(?2) as asked
    left join day_minutes as mark on mark.day = total.day and mark.app_slug = total.app_slug
      and mark.minute = (select min(next.minute) from day_minutes as next
        where next.day = total.day and next.app_slug = total.app_slug and next.minute >= asked.value)
    where total.day in (select value from json_each(?1)) and total.app_slug in top
    group by 1, 2, 3`;
};
const MARKS = { by_app: marks(true), all: marks(false) };

/** Reads one mark for each app, day and minute. A day of which nothing is known has no rows. */
export async function readMarks(
  database: D1Database,
  { days, minutes, app_slug, limit, by_app }: MarksRequest,
): Promise<readonly DayMark[]> {
  const { results } = await database
    .prepare(MARKS[by_app ? "by_app" : "all"])
    .bind(JSON.stringify(days), JSON.stringify(minutes), app_slug, limit)
    .all<DayMark>();
  return results;
}

/** What jobs that were created in some time cost so far, without what was given back, and what started ones hold. */
export interface SpentOnJobs {
  readonly spent: number;
  readonly held: number;
  readonly jobs: number;
  readonly failed: number;
}

export type SpendingAccount = SpentOnJobs & { readonly identity_id: string };
export type SpendingApp = SpentOnJobs & { readonly app_slug: string };

const SUMS = `sum(actual_cost - refunded) as spent,
  sum(iif(status = 'started', reserved, 0)) as held, count(*) as jobs,
  sum(status = 'failed') as failed`;

/** The accounts that were active in an app on two days, by the index of `account_days`. */
const ACTIVE_ACCOUNTS = `select distinct account_id from account_days
  where day in (?1, ?2) and app_slug = ?3`;

// The sums are sorted outside, because `jobs` has a column named `spent` too.
const MOST_FIRST = "order by spent + held desc";

const TOP_ACCOUNTS = `select accounts.identity_id, spent, held, jobs, failed from (
    select * from (
      select account_id, ${SUMS} from (
        select jobs.* from (${ACTIVE_ACCOUNTS}) as active
          cross join jobs on jobs.account_id = active.account_id and jobs.id >= ?4 and jobs.id < ?5
          where jobs.app_slug = ?3 limit ${JOBS_SUMMED_MAX})
      group by account_id)
    ${MOST_FIRST}, account_id limit ?6
  ) as top join accounts on accounts.id = top.account_id ${MOST_FIRST}, accounts.id`;

const TOP_APPS = `select * from (
    select app_slug, ${SUMS} from (
      select jobs.* from accounts
        cross join jobs on jobs.account_id = accounts.id and jobs.id >= ?2 and jobs.id < ?3
        where accounts.identity_id = ?1 and jobs.app_slug is not null limit ${JOBS_SUMMED_MAX})
    group by app_slug)
  ${MOST_FIRST}, app_slug limit ?4`;

/** A time of at most 24 hours, in milliseconds since the epoch; `to_ms` is excluded. */
export interface TimeRange {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** The accounts that spend most in an app. Reads their jobs of that time, at most {@link JOBS_SUMMED_MAX}. */
export async function readTopAccounts(
  database: D1Database,
  app_slug: string,
  { from_ms, to_ms }: TimeRange,
  limit: number,
): Promise<readonly SpendingAccount[]> {
  const { results } = await database
    .prepare(TOP_ACCOUNTS)
    .bind(utcDayOf(from_ms), utcDayOf(to_ms), app_slug, firstIdOf(from_ms), firstIdOf(to_ms), limit)
    .all<SpendingAccount>();
  return results;
}

/** The apps in which an account spends most. Reads its jobs of that time, at most {@link JOBS_SUMMED_MAX}. */
export async function readTopApps(
  database: D1Database,
  identity_id: string,
  { from_ms, to_ms }: TimeRange,
  limit: number,
): Promise<readonly SpendingApp[]> {
  const { results } = await database
    .prepare(TOP_APPS)
    .bind(identity_id, firstIdOf(from_ms), firstIdOf(to_ms), limit)
    .all<SpendingApp>();
  return results;
}
