/**
 * Daily totals by UTC day and app, kept forever. The batch that moves an account's row also adds the entries
 * after that row to their days. The row as it was before guards the batch, so each entry counts once.
 */
import { DAY_MS } from "../domain/calendar.ts";
import { BOUGHT_PARTS, MEASURES, STATES, type Measure } from "./line_totals.ts";
import {
  CHANGE_NAMES,
  CHANGES,
  SUMS_BEFORE,
  sumsOf,
  type CarriedSums,
  type Owed,
} from "./carried.ts";
import { daysInPortions } from "./portions.ts";
import { markMinutes } from "./today.ts";

export type DailyTotals = { readonly day: string; readonly active_accounts: number } & {
  readonly [name in Measure]: number;
};

/** In `daily_totals`: the row with the accounts active in any app. No slug has this form. */
const ALL_APPS = "*";

const COUNTED = [...MEASURES, ...BOUGHT_PARTS, ...STATES] as const;
const COLUMNS = [...COUNTED, "active_accounts"] as const;
const each = (write: (name: string) => string): string => COUNTED.map(write).join(", ");
const sumEach = (names: readonly string[]): string =>
  names.map((name) => `sum(${name}) as ${name}`).join(", ");
const SUMS = sumEach(MEASURES);

/**
 * The queries that count the entries of deliveries. They must run before the accounts' rows move. ?1: a JSON
 * array of accounts' rows with their `days`, `money` and `owed`. `follows`: SQL that says which of them D1 accepts. The
 * queries of `money` and `owed` are only needed if a delivery has them.
 */
export function countLines(follows: string): {
  readonly totals: readonly string[];
  readonly money: string;
  readonly owed: string;
} {
  // Both are materialised, or SQLite would parse a delivery's whole JSON again for each of its days.
  const delivered = `with delivered as materialized (
    select value ->> '$.id' as account_id, value ->> '$.updated_at_ms' as newest_at_ms,
      value -> '$.days' as days, value -> '$.money' as money, value -> '$.owed' as owed
    from json_each(?1) where ${follows}
  )`;
  const counted = `${delivered}, counted as materialized (
    select account_id, newest_at_ms, part.value ->> '$.day' as day, part.value ->> '$.minute' as minute,
      part.value ->> '$.app_slug' as app_slug,
      ${each((name) => `coalesce(part.value ->> '$.${name}', 0) as ${name}`)}
    from delivered, json_each(days) as part
  )`;
  // An account counts as active at its first entry of a day, and at the first one in each app.
  const isNew = (same_app: string): string => `not exists (select 1 from account_days as known
    where known.account_id = counted.account_id and known.day = counted.day ${same_app})`;
  const is_new_in_app = isNew("and known.app_slug = counted.app_slug");
  const add = `${counted} insert into daily_totals (day, app_slug, ${COLUMNS.join(", ")}, newest_at_ms)
    select day, app_slug, ${sumEach(COUNTED)}, count(distinct iif(${is_new_in_app}, account_id, null)),
        max(newest_at_ms)
      from counted group by day, app_slug
    union all
    select day, '${ALL_APPS}', ${each(() => "0")}, count(distinct account_id), max(newest_at_ms)
      from counted where ${isNew("")} group by day
    on conflict (day, app_slug) do update set
      ${COLUMNS.map((name) => `${name} = daily_totals.${name} + excluded.${name}`).join(", ")},
      newest_at_ms = max(daily_totals.newest_at_ms, excluded.newest_at_ms)`;
  const note = `${counted} insert into account_days (account_id, day, app_slug)
    select distinct account_id, day, app_slug from counted where true on conflict do nothing`;
  const totals = [markMinutes(counted), add, note];
  return { totals, money: countMoney(delivered), owed: `${delivered} ${ADD_OWED}` };
}

const ADD_OWED = addOwed(
  "part.value ->> '$.day'",
  "",
  "delivered, json_each(delivered.owed) as part, json_each(part.value -> '$.worth') as owed",
);
const MONEY = ["purchases", "amount_minor", "refunded_minor"] as const;

function countMoney(delivered: string): string {
  const sums = MONEY.map((name) => `sum(part.value ->> '$.${name}')`).join(", ");
  const added = MONEY.map((name) => `${name} = daily_revenue.${name} + excluded.${name}`);
  return `${delivered} insert into daily_revenue (day, package_id, currency, ${MONEY.join(", ")})
    select part.value ->> '$.day', part.value ->> '$.package_id', part.value ->> '$.currency', ${sums}
      from delivered, json_each(delivered.money) as part where true
      group by 1, 2, 3
    on conflict (day, package_id, currency) do update set ${added.join(", ")}`;
}

/** Sums of `owed`, which is JSON of a `Worth`, are added to the day. */
function addOwed(day: string, sign: "" | "-", from: string): string {
  const names = ["credits", "minor", "nanos"];
  return `insert into daily_owed (day, currency, ${names.join(", ")})
    select ${day}, owed.key, ${names.map((_, at) => `${sign}sum(owed.value ->> '$[${at}]')`).join(", ")}
      from ${from} group by 1, 2
    on conflict (day, currency) do update set
      ${names.map((name) => `${name} = daily_owed.${name} + excluded.${name}`).join(", ")}`;
}

/** As {@link countForfeit}, for what was paid for the account's bought credits. */
export function countForfeitOwed(when: string): string {
  return addOwed(
    "?2",
    "-",
    `accounts, json_each(paid_json) as owed where accounts.id = ?1 and ${when}`,
  );
}

/**
 * The query that counts what a deleted account has in its row, which the same batch then deletes. ?1: the account; ?2: the
 * day. `when`: SQL that says whether the row is deleted now.
 */
export function countForfeit(when: string): string {
  const forfeits: Readonly<Record<string, string>> = {
    forfeited: "0 - (credits + reserved)",
    forfeited_bought: "0 - bought",
    held: "0 - reserved",
    holders: "0 - (credits <> 0 or reserved <> 0)",
  };
  const sums = COLUMNS.map((name) => forfeits[name] ?? "0");
  return `insert into daily_totals (day, app_slug, ${COLUMNS.join(", ")})
    select ?2, '', ${sums.join(", ")} from accounts
      where id = ?1 and (credits <> 0 or reserved <> 0 or bought <> 0) and ${when}
    on conflict (day, app_slug) do update set ${Object.keys(forfeits)
      .map((name) => `${name} = daily_totals.${name} + excluded.${name}`)
      .join(", ")}`;
}

/** Credits by where they came from. */
interface Parts {
  readonly bought: number;
  readonly given: number;
}

/** The credits of all people before and after some days, and each kind of change between: the sums are exact. */
type MonthSums = {
  readonly [name in "opening" | (typeof CHANGE_NAMES)[number] | "closing"]: Parts;
};

/** `owed`: the part of the bought credits after these days that has a known price. */
export type MonthTotals = MonthSums & { readonly owed: readonly Owed[] };

const MONTH = `select ${(["all", "bought"] as const)
  .flatMap((part) =>
    CHANGE_NAMES.map((name) => `coalesce(sum(${CHANGES[name][part]}), 0) as ${name}_${part}`),
  )
  .join(", ")} from daily_totals where day >= ?1 and day < ?2`;

/** The changes of the days from `from_day`, `to_day` excluded, and the sums before and after them, at one moment. */
export async function readMonthTotals(
  database: D1Database,
  from_day: number,
  to_day: number,
): Promise<MonthTotals> {
  type Sums = { readonly [name in `${(typeof CHANGE_NAMES)[number]}_${"all" | "bought"}`]: number };
  const [month, before, after] = await database.batch([
    database.prepare(MONTH).bind(from_day, to_day),
    ...[from_day, to_day].map((day) => database.prepare(SUMS_BEFORE).bind(day)),
  ]);
  const [sums] = (month?.results ?? []) as readonly Sums[];
  if (sums === undefined) throw new Error("a sum has one row");
  const opening = sumsOf(before);
  const closing = sumsOf(after);
  const changes = CHANGE_NAMES.map((name) => {
    const bought = sums[`${name}_bought`];
    return [name, { bought, given: sums[`${name}_all`] - bought }];
  });
  return {
    opening: partsOf(opening),
    ...(Object.fromEntries(changes) as Omit<MonthSums, "opening" | "closing">),
    closing: partsOf(closing),
    owed: closing.owed,
  };
}

const partsOf = ({ all, bought }: CarriedSums): Parts => ({ bought, given: all - bought });

export interface Revenue {
  readonly package_id: string;
  readonly currency: string;
  readonly purchases: number;
  readonly amount_minor: number;
  readonly refunded_minor: number;
}

const REVENUE = `select package_id, currency,
    ${MONEY.map((name) => `sum(${name}) as ${name}`).join(", ")}
  from daily_revenue where day >= ?1 and day < ?2
  group by package_id, currency order by package_id, currency`;

/** The money of the days from `from_day`, `to_day` excluded. Reads one row for each day, package and currency. */
export async function readRevenue(
  database: D1Database,
  from_day: number,
  to_day: number,
): Promise<readonly Revenue[]> {
  const days = { from: from_day, to: to_day };
  const sums = new Map<string, Revenue>();
  for (const { from, to } of await daysInPortions(database, "daily_revenue", days)) {
    const { results } = await database.prepare(REVENUE).bind(from, to).all<Revenue>();
    for (const row of results) {
      const key = JSON.stringify([row.package_id, row.currency]);
      sums.set(key, plus(row, sums.get(key), MONEY));
    }
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

/** A row with the sums of both. */
function plus<Name extends string, Row extends { readonly [name in Name]: number }>(
  row: Row,
  before: Row | undefined,
  names: readonly Name[],
): Row {
  if (before === undefined) return row;
  const sums = names.map((name) => [name, row[name] + before[name]]);
  return { ...row, ...Object.fromEntries(sums) } as Row;
}

const SERIES = `select day, ${SUMS},
    sum(iif(app_slug = coalesce(?3, '${ALL_APPS}'), active_accounts, 0)) as active_accounts
  from daily_totals where day >= ?1 and day < ?2 and (?3 is null or app_slug = ?3)
  group by day order by day`;

const BY_APP = `select app_slug, ${SUMS} from daily_totals
  where day >= ?1 and day < ?2 and app_slug not in ('${ALL_APPS}', '')
  group by app_slug`;

/**
 * The totals of the days from `from_day`, `to_day` excluded, oldest first, for one app or all (null). Days
 * without entries are left out. Reads one row for each day and app.
 */
export async function readDailyTotals(
  database: D1Database,
  from_day: number,
  to_day: number,
  app_slug: string | null,
): Promise<readonly DailyTotals[]> {
  type Row = Omit<DailyTotals, "day"> & { readonly day: number };
  const days = { from: from_day, to: to_day };
  const rows: Row[] = [];
  for (const { from, to } of await daysInPortions(database, "daily_totals", days)) {
    const { results } = await database.prepare(SERIES).bind(from, to, app_slug).all<Row>();
    rows.push(...results);
  }
  return rows.map((row) => ({
    ...row,
    day: new Date(row.day * DAY_MS).toISOString().slice(0, 10),
  }));
}

export type AppTotals = { readonly app_slug: string } & { readonly [name in Measure]: number };

/** The totals of days by app, for at most `limit` apps: those with the most settled credits, first. */
export async function readAppTotals(
  database: D1Database,
  from_day: number,
  to_day: number,
  limit: number,
): Promise<readonly AppTotals[]> {
  const days = { from: from_day, to: to_day };
  const sums = new Map<string, AppTotals>();
  for (const { from, to } of await daysInPortions(database, "daily_totals", days)) {
    const { results } = await database.prepare(BY_APP).bind(from, to).all<AppTotals>();
    for (const row of results) {
      sums.set(row.app_slug, plus(row, sums.get(row.app_slug), MEASURES));
    }
  }
  return [...sums.values()]
    .toSorted(
      (one, other) => other.settled - one.settled || (one.app_slug < other.app_slug ? -1 : 1),
    )
    .slice(0, limit);
}

/** The time of the newest entry that was counted, in milliseconds since the epoch; null: none was. */
export async function readNewest(database: D1Database): Promise<number | null> {
  return database
    .prepare(
      `select max(newest_at_ms) as newest_at_ms from daily_totals
        where day >= (select max(day) from daily_totals) - 1`,
    )
    .first<number>("newest_at_ms");
}
