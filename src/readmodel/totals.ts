/**
 * Daily totals, for each UTC day and app, kept for good. A line of a passbook is counted once, however
 * often it comes: an account's row remembers beside its line what the lines up to it added to days that
 * are not closed (`days_json`), and both are written by one statement. That costs no written row. Upkeep
 * then moves days that are past into `daily_totals`, many accounts at a time.
 */
import { DAY_MS } from "../domain/day.ts";
import type { dailyTotals } from "./schema.ts";

/** What is added up, in credits but for `jobs` (created) and `failed`, which are counts. */
export const MEASURES = [
  "granted",
  "reserved",
  "settled",
  "refunded",
  "purchased",
  "adjusted",
  "jobs",
  "failed",
] as const satisfies readonly (keyof typeof dailyTotals.$inferSelect)[];
export type Measure = (typeof MEASURES)[number];

/** What one line adds to its day; a measure left out is 0. `app_slug`: "" where it is of no app. */
export type LineTotals = {
  readonly line: number;
  /** Whole UTC days since the epoch. */
  readonly day: number;
  readonly app_slug: string;
} & { readonly [name in Measure]?: number };

/** In `daily_totals`: all apps, and what is of none, together. No slug can be it. */
export const ALL_APPS = "*";

/** One day of a series, for one app or for all. */
export type DailyTotals = { readonly day: string; readonly active_accounts: number } & {
  readonly [name in Measure]: number;
};

const each = (write: (name: Measure) => string): string => MEASURES.map(write).join(", ");

/** The days in a JSON array, as columns. `counted`: the account is in the day's active ones already. */
const dayColumns = (value: string): string =>
  `${value} ->> '$.day' as day, ${value} ->> '$.app_slug' as app_slug,
   ${each((name) => `coalesce(${value} ->> '$.${name}', 0) as ${name}`)},
   coalesce(${value} ->> '$.counted', 0) as counted`;

const asJson = `json_object('day', day, 'app_slug', app_slug,
  ${each((name) => `'${name}', ${name}`)}, 'counted', counted)`;

/** For the upsert of an account: what its row has, and what the lines after its own add. */
export const ADD_LINES = `(
  select json_group_array(json(${asJson})) from (
    select day, app_slug, ${each((name) => `sum(${name}) as ${name}`)}, max(counted) as counted
    from (
      select ${dayColumns("value")} from json_each(accounts.days_json)
      union all
      select ${dayColumns("value")} from json_each(excluded.days_json)
        where value ->> '$.line' > accounts.line
    ) group by day, app_slug))`;

/** Days of accounts, each account's added up; what counts it as active where it did not count before. */
function daysOf(accounts_where: string, days_where: string): string {
  const days = `select accounts.id as id, ${dayColumns("days.value")}
    from accounts, json_each(accounts.days_json) as days
    where ${accounts_where} and days.value ->> '$.day' ${days_where}`;
  const added = `${each((name) => `sum(${name}) as ${name}`)}, 1 - max(counted) as active_accounts`;
  return `select day, app_slug, ${added} from (${days}) group by id, day, app_slug
    union all
    select day, '${ALL_APPS}' as app_slug, ${added} from (${days}) group by id, day`;
}

const COLUMNS = [...MEASURES, "active_accounts"] as const;
const sums = COLUMNS.map((name) => `sum(${name}) as ${name}`).join(", ");

/** Accounts from one id to another that remember something of a day before ?3. */
const DUE = `accounts.id > ?1 and accounts.id <= ?2 and exists (
  select 1 from json_each(accounts.days_json) as old
  where old.value ->> '$.day' < ?3 and (coalesce(old.value ->> '$.counted', 0) = 0
    or ${MEASURES.map((name) => `coalesce(old.value ->> '$.${name}', 0) <> 0`).join(" or ")}))`;

const CLOSE_DAYS = `insert into daily_totals (day, app_slug, ${COLUMNS.join(", ")})
  select day, app_slug, ${sums} from (${daysOf(DUE, "< ?4")}) where true group by day, app_slug
  on conflict (day, app_slug) do update set
    ${COLUMNS.map((name) => `${name} = daily_totals.${name} + excluded.${name}`).join(", ")}`;

/**
 * What an account remembers of days that were closed: that it was active on its latest, since lines of
 * that day may still come. An earlier day has none to come.
 */
const FORGET_DAYS = `update accounts set days_json = (
    select json_group_array(json(${asJson})) from (
      select ${dayColumns("value")} from json_each(accounts.days_json)
        where value ->> '$.day' >= ?4
      union all
      select distinct value ->> '$.day', value ->> '$.app_slug', ${MEASURES.map(() => "0").join(", ")}, 1
        from json_each(accounts.days_json)
        where value ->> '$.day' < ?4 and value ->> '$.day' =
          (select max(value ->> '$.day') from json_each(accounts.days_json))))
  where ${DUE}`;

/** Ids between which accounts are: after the first, up to the last. */
export interface AccountRange {
  readonly after_id: string;
  readonly to_id: string;
}

/**
 * Moves what accounts remember into the totals: days before `closed_before_day`, of accounts that have
 * one before `due_before_day`. Two statements of one transaction.
 */
export function closeDays(
  database: D1Database,
  { after_id, to_id }: AccountRange,
  due_before_day: number,
  closed_before_day: number,
): readonly D1PreparedStatement[] {
  return [CLOSE_DAYS, FORGET_DAYS].map((statement) =>
    database.prepare(statement).bind(after_id, to_id, due_before_day, closed_before_day),
  );
}

const SERIES = `select day, ${sums} from (
    select day, app_slug, ${COLUMNS.join(", ")} from daily_totals
      where day >= ?1 and day < ?2
    union all ${daysOf("true", "between ?1 and ?2 - 1")}
  ) where app_slug = ?3 group by day order by day`;

/**
 * The totals of days from `from_day` to before `to_day`, oldest first, for one app or all (null); a day
 * on which nothing happened is left out. Reads a row for each account besides: those remember days that
 * are not closed.
 */
export async function readDailyTotals(
  database: D1Database,
  from_day: number,
  to_day: number,
  app_slug: string | null,
): Promise<readonly DailyTotals[]> {
  const { results } = await database
    .prepare(SERIES)
    .bind(from_day, to_day, app_slug ?? ALL_APPS)
    .all<Omit<DailyTotals, "day"> & { day: number }>();
  return results.map((row) => ({
    ...row,
    day: new Date(row.day * DAY_MS).toISOString().slice(0, 10),
  }));
}
