/**
 * Daily totals, for each UTC day and app, kept for good. A line of a passbook is counted once, however
 * often it comes: first its account's row remembers what it adds (`remembered_days.ts`); when its day is
 * closed, what accounts remember of it is added up into `daily_totals`, for many accounts at a time.
 */
import { DAY_MS } from "../domain/day.ts";
import { MEASURES, type Measure } from "./line_totals.ts";
import { ALL_APPS, closedBefore, dayColumns, daysOf, PLACE, SUMS } from "./remembered_days.ts";

/** One day of a series, for one app or for all. */
export type DailyTotals = { readonly day: string; readonly active_accounts: number } & {
  readonly [name in Measure]: number;
};

const COLUMNS = [...MEASURES, "active_accounts"] as const;
const ALL_SUMS = `${SUMS}, sum(active_accounts) as active_accounts`;

/** Adds what a query gives, several rows a day and app. */
const addToTotals = (days: string): string =>
  `insert into daily_totals (day, app_slug, ${COLUMNS.join(", ")})
  select day, app_slug, ${ALL_SUMS} from (${days}) where true group by day, app_slug
  on conflict (day, app_slug) do update set
    ${COLUMNS.map((name) => `${name} = daily_totals.${name} + excluded.${name}`).join(", ")}`;

/**
 * Lines that come late, when their day is closed for their account. ?1: a JSON array of accounts' rows;
 * `follows`: which of them are taken at all, as for their upsert, which comes after this. An account is
 * active by them where its row, which remembers its latest days, has nothing of that day and app.
 */
export function addLateLines(follows: string): string {
  const late = `select accounts.days_json as known_days_json,
      delivered.value ->> '$.id' as id, ${dayColumns("lines.value")}
    from ${PLACE} cross join (select value from json_each(?1) where ${follows}) as delivered
      left join accounts on accounts.id = delivered.value ->> '$.id',
      json_each(delivered.value -> '$.days_json') as lines
    where lines.value ->> '$.line' > coalesce(accounts.line, 0)
      and lines.value ->> '$.day' < ${closedBefore("delivered.value ->> '$.id'")}`;
  const isNew = (which: string): string => `not exists (
    select 1 from json_each(known_days_json) where ${which}) as active_accounts`;
  const same_day = "value ->> '$.day' = day";
  return addToTotals(`
    select day, app_slug, ${SUMS}, ${isNew(`${same_day} and value ->> '$.app_slug' = app_slug`)}
      from (${late}) group by id, day, app_slug
    union all
    select day, '${ALL_APPS}' as app_slug, ${SUMS}, ${isNew(same_day)}
      from (${late}) group by id, day`);
}

/** Ids between which accounts are: after the first, up to the last. */
export interface AccountRange {
  readonly after_id: string;
  readonly to_id: string;
}

/** A walk closes the same days for all accounts: those that it began with. Never fewer than before. */
const BEGIN_WALK = `insert into upkeep
    (singleton, after_account_id, closed_before_day, closing_before_day) values (1, '', 0, ?1)
  on conflict (singleton) do update set closing_before_day = excluded.closing_before_day
    where after_account_id = '' and closing_before_day < excluded.closing_before_day`;

const CLOSE_DAYS = addToTotals(
  daysOf(
    "place.after_account_id = ?1 and accounts.id > ?1 and accounts.id <= ?2",
    "< place.closing_before_day",
  ),
);

const MOVE_ON = "update upkeep set after_account_id = ?2 where after_account_id = ?1";

/**
 * Closes days for a portion of a walk: one transaction. Does nothing where the walk does not stand at
 * `after_id` any more, since another run led it on.
 */
export function closeDays(
  database: D1Database,
  { after_id, to_id }: AccountRange,
  closed_before_day: number,
): readonly D1PreparedStatement[] {
  const begin = database.prepare(BEGIN_WALK).bind(closed_before_day);
  return [
    ...(after_id === "" ? [begin] : []),
    ...[CLOSE_DAYS, MOVE_ON].map((statement) => database.prepare(statement).bind(after_id, to_id)),
  ];
}

/** An account that came behind the walk's end since it was looked for has its days still to be closed. */
const END_WALK = `update upkeep set after_account_id = '', closed_before_day = closing_before_day
  where after_account_id = ?1 and not exists (select 1 from accounts where id > ?1)`;

/** Ends a walk that stands at the last of the accounts. */
export function endWalk(database: D1Database, after_id: string): D1PreparedStatement {
  return database.prepare(END_WALK).bind(after_id);
}

/** Adds all that an account remembers, where its row goes in the same transaction: `condition`. */
export function closeAccount(
  database: D1Database,
  account_id: string,
  condition: string,
): D1PreparedStatement {
  const statement = addToTotals(daysOf(`accounts.id = ?1 and ${condition}`, "is not null"));
  return database.prepare(statement).bind(account_id);
}

const DAYS = `select day, app_slug, ${COLUMNS.join(", ")} from daily_totals
    where day >= ?1 and day < ?2
  union all ${daysOf("true", "between ?1 and ?2 - 1")}`;

const SERIES = `select day, ${ALL_SUMS} from (${DAYS})
  where app_slug = ?3 group by day order by day`;

const BY_APP = `select app_slug, ${SUMS} from (${DAYS}) where app_slug not in ('${ALL_APPS}', '')
  group by app_slug order by settled desc, app_slug limit ?3`;

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

/** What an app's days add up to. */
export type AppTotals = { readonly app_slug: string } & { readonly [name in Measure]: number };

/** The totals of days by app, of no more than `limit` apps: those that most was settled for, first. */
export async function readAppTotals(
  database: D1Database,
  from_day: number,
  to_day: number,
  limit: number,
): Promise<readonly AppTotals[]> {
  const { results } = await database.prepare(BY_APP).bind(from_day, to_day, limit).all<AppTotals>();
  return results;
}
