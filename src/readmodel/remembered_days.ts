/**
 * What an account's row remembers beside its line (`days_json`): what the lines up to it added, by day
 * and app. Row and line are written by one statement, so that a line counts once however often it comes,
 * and that costs no written row.
 *
 * A day is closed for all accounts up to an id at once, and no account's row is written for it: what rows
 * remember of days before {@link CLOSED_BEFORE} counts nowhere any more, and goes with their next upsert.
 */
import { MEASURES, type Measure } from "./line_totals.ts";

/** In `daily_totals`: all apps, and what is of none, together. No slug can be it. */
export const ALL_APPS = "*";

export const each = (write: (name: Measure) => string): string => MEASURES.map(write).join(", ");

export const SUMS = each((name) => `sum(${name}) as ${name}`);

/** The days in a JSON array, as columns. */
export const dayColumns = (value: string): string =>
  `${value} ->> '$.day' as day, ${value} ->> '$.app_slug' as app_slug,
   ${each((name) => `coalesce(${value} ->> '$.${name}', 0) as ${name}`)}`;

/** Where the walk over accounts stands: always one row, `place`. */
export const PLACE = `(select coalesce(max(after_account_id), '') as after_account_id,
  coalesce(max(closed_before_day), 0) as closed_before_day,
  coalesce(max(closing_before_day), 0) as closing_before_day from upkeep) as place`;

/** The first day that is not closed for an account, by {@link PLACE}. */
export const closedBefore = (account_id: string): string =>
  `iif(${account_id} <= after_account_id, closing_before_day, closed_before_day)`;

/**
 * The first day that an account remembers after an upsert: the first that is not closed; and always the
 * day of its latest line and the one before it, since lines of those may still come, late, which then
 * do not count the account as active a second time. Clocks go back by less than a day.
 */
const REMEMBERED_FROM = `(select
  min(${closedBefore("excluded.id")}, coalesce(excluded.days_json ->> '$[#-1].day' - 1, 0))
  from ${PLACE})`;

const asJson = `json_object('day', day, 'app_slug', app_slug,
  ${each((name) => `'${name}', ${name}`)})`;

/** For the upsert of an account: what its row remembers, and what the lines after its own add. */
export const ADD_LINES = `(
  select json_group_array(json(${asJson})) from (
    select day, app_slug, ${SUMS}
    from (
      select ${dayColumns("value")} from json_each(accounts.days_json)
      union all
      select ${dayColumns("value")} from json_each(excluded.days_json)
        where value ->> '$.line' > accounts.line
    ) where day >= ${REMEMBERED_FROM} group by day, app_slug))`;

/**
 * What accounts remember of days that are not closed, by day and app, and {@link ALL_APPS} together.
 * `accounts_where` may name `accounts` and `place`; `days_where` follows the day.
 */
export function daysOf(accounts_where: string, days_where: string): string {
  const days = `select accounts.id as id, ${dayColumns("days.value")}
    from ${PLACE} cross join accounts, json_each(accounts.days_json) as days
    where ${accounts_where}
      and days.value ->> '$.day' >= ${closedBefore("accounts.id")}
      and days.value ->> '$.day' ${days_where}`;
  const added = `${SUMS}, 1 as active_accounts`;
  return `select day, app_slug, ${added} from (${days}) group by id, day, app_slug
    union all
    select day, '${ALL_APPS}' as app_slug, ${added} from (${days}) group by id, day`;
}
