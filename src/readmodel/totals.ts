/**
 * Daily totals by UTC day and app, kept forever. The batch that moves an account's row also adds the entries
 * after that row to their days. The row's entry number guards the batch, so each entry counts once.
 */
import { DAY_MS } from "../domain/calendar.ts";
import { BOUGHT_PARTS, MEASURES, type Measure } from "./line_totals.ts";
import { markMinutes } from "./today.ts";

export type DailyTotals = { readonly day: string; readonly active_accounts: number } & {
  readonly [name in Measure]: number;
};

/** In `daily_totals`: the row with the accounts active in any app. No slug has this form. */
const ALL_APPS = "*";

const COUNTED = [...MEASURES, ...BOUGHT_PARTS] as const;
const COLUMNS = [...COUNTED, "active_accounts"] as const;
const each = (write: (name: string) => string): string => COUNTED.map(write).join(", ");
const sumEach = (names: readonly string[]): string =>
  names.map((name) => `sum(${name}) as ${name}`).join(", ");
const SUMS = sumEach(MEASURES);

/**
 * The queries that count the entries of deliveries. They must run before the accounts' rows move. ?1: a JSON
 * array of accounts' rows with their `lines`. `follows`: SQL that says which of them D1 accepts. `money` and `owed` are only
 * needed if an entry has them.
 */
export function countLines(follows: string): {
  readonly totals: readonly string[];
  readonly money: string;
  readonly owed: string;
} {
  // Both are materialised, or SQLite would parse a delivery's whole JSON again for each of its lines.
  const delivered = `with delivered as materialized (
    select value ->> '$.id' as account_id, value -> '$.lines' as lines,
      coalesce((select line from accounts where id = value ->> '$.id'), 0) as known_line
    from json_each(?1) where ${follows}
  )`;
  const counted = `${delivered}, counted as materialized (
    select account_id, line.value ->> '$.day' as day, line.value ->> '$.minute' as minute,
      line.value ->> '$.app_slug' as app_slug,
      ${each((name) => `coalesce(line.value ->> '$.${name}', 0) as ${name}`)}
    from delivered, json_each(lines) as line
    where line.value ->> '$.line' > known_line
  )`;
  // An account counts as active at its first entry of a day, and at the first one in each app.
  const isNew = (same_app: string): string => `not exists (select 1 from account_days as known
    where known.account_id = counted.account_id and known.day = counted.day ${same_app})`;
  const is_new_in_app = isNew("and known.app_slug = counted.app_slug");
  const add = `${counted} insert into daily_totals (day, app_slug, ${COLUMNS.join(", ")})
    select day, app_slug, ${sumEach(COUNTED)}, count(distinct iif(${is_new_in_app}, account_id, null))
      from counted group by day, app_slug
    union all
    select day, '${ALL_APPS}', ${each(() => "0")}, count(distinct account_id)
      from counted where ${isNew("")} group by day
    on conflict (day, app_slug) do update set
      ${COLUMNS.map((name) => `${name} = daily_totals.${name} + excluded.${name}`).join(", ")}`;
  const note = `${counted} insert into account_days (account_id, day, app_slug)
    select distinct account_id, day, app_slug from counted where true on conflict do nothing`;
  const totals = [markMinutes(counted), add, note];
  return { totals, money: countMoney(delivered), owed: `${delivered} ${ADD_OWED}` };
}

const ADD_OWED = addOwed(
  "line.value ->> '$.day'",
  "",
  `delivered, json_each(lines) as line, json_each(line.value -> '$.owed') as owed
    where line.value ->> '$.line' > known_line`,
);
const MONEY = ["purchases", "amount_minor", "refunded_minor"] as const;

function countMoney(delivered: string): string {
  const sums = MONEY.map((name) => `sum(line.value ->> '$.money.${name}')`).join(", ");
  const added = MONEY.map((name) => `${name} = daily_revenue.${name} + excluded.${name}`);
  return `${delivered} insert into daily_revenue (day, package_id, currency, ${MONEY.join(", ")})
    select line.value ->> '$.day', line.value ->> '$.money.package_id',
        line.value ->> '$.money.currency', ${sums}
      from delivered, json_each(lines) as line
      where line.value -> '$.money' is not null and line.value ->> '$.line' > known_line
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

/** Bought credits with a known price, by currency, and what was paid for them. */
export interface Owed {
  readonly currency: string;
  readonly credits: number;
  readonly minor: number;
  readonly nanos: number;
}

/** Before a day: ?1. Reads one row for each day and currency. */
const OWED_BEFORE = `select currency, ${sumEach(["credits", "minor", "nanos"])} from daily_owed where day < ?1
  group by currency having sum(credits) <> 0 order by currency`;

/**
 * The query that counts what a deleted account has in its row, which the same batch then deletes. ?1: the account; ?2: the
 * day. `when`: SQL that says whether the row is deleted now.
 */
export function countForfeit(when: string): string {
  const forfeits: Readonly<Record<string, string>> = {
    forfeited: "0 - (credits + reserved)",
    forfeited_bought: "0 - bought",
  };
  const sums = COLUMNS.map((name) => forfeits[name] ?? "0");
  return `insert into daily_totals (day, app_slug, ${COLUMNS.join(", ")})
    select ?2, '', ${sums.join(", ")} from accounts
      where id = ?1 and (credits + reserved <> 0 or bought <> 0) and ${when}
    on conflict (day, app_slug) do update set ${Object.keys(forfeits)
      .map((name) => `${name} = daily_totals.${name} + excluded.${name}`)
      .join(", ")}`;
}

/**
 * Changes of people's credits, that is of balances and held credits, and the bought part of each. Each has the sign of
 * the change.
 */
const CHANGES = {
  granted: { all: "granted", bought: "0" },
  purchased: { all: "purchased", bought: "purchased" },
  adjusted: { all: "adjusted", bought: "adjusted_bought" },
  spent: { all: "0 - settled", bought: "0 - settled_bought" },
  job_refunded: { all: "job_refunded", bought: "job_refunded_bought" },
  expired: { all: "expired", bought: "expired_bought" },
  taken_back: { all: "taken_back", bought: "taken_back" },
  forfeited: { all: "forfeited", bought: "forfeited_bought" },
} as const;
const CHANGE_NAMES = Object.keys(CHANGES) as (keyof typeof CHANGES)[];
const FIGURES = ["opening", ...CHANGE_NAMES, "closing"] as const;

/** Credits by where they came from. */
interface Parts {
  readonly bought: number;
  readonly given: number;
}

/** The credits of all people before and after some days, and each kind of change between: the sums are exact. */
type MonthSums = { readonly [name in (typeof FIGURES)[number]]: Parts };

/** `owed`: the part of the bought credits after these days that has a known price. */
export type MonthTotals = MonthSums & { readonly owed: readonly Owed[] };

/** What people own, or the bought part of it, as the sum of all changes: SQL. */
export function ownedBy(part: "all" | "bought"): string {
  return CHANGE_NAMES.map((name) => CHANGES[name][part]).join(" + ");
}

function monthColumns(part: "all" | "bought"): readonly string[] {
  const owned = ownedBy(part);
  const sums = CHANGE_NAMES.map((name) => `sum(iif(day >= ?1, ${CHANGES[name][part]}, 0))`);
  const all = [`sum(iif(day < ?1, ${owned}, 0))`, ...sums, `sum(${owned})`];
  return all.map((sum, at) => `coalesce(${sum}, 0) as ${FIGURES[at]}_${part}`);
}

const MONTH = `select ${[...monthColumns("all"), ...monthColumns("bought")].join(", ")}
  from daily_totals where day < ?2`;

/** The changes of the days from `from_day`, `to_day` excluded. Reads the totals of all days before, too, at one moment. */
export async function readMonthTotals(
  database: D1Database,
  from_day: number,
  to_day: number,
): Promise<MonthTotals> {
  type Sums = { readonly [name in `${keyof MonthSums}_${"all" | "bought"}`]: number };
  const [month, owed] = await database.batch([
    database.prepare(MONTH).bind(from_day, to_day),
    database.prepare(OWED_BEFORE).bind(to_day),
  ]);
  const [sums] = (month?.results ?? []) as readonly Sums[];
  if (sums === undefined) throw new Error("a sum has one row");
  const parts = FIGURES.map((name) => {
    const bought = sums[`${name}_bought`];
    return [name, { bought, given: sums[`${name}_all`] - bought }];
  });
  return {
    ...(Object.fromEntries(parts) as MonthSums),
    owed: (owed?.results ?? []) as readonly Owed[],
  };
}

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
  const { results } = await database.prepare(REVENUE).bind(from_day, to_day).all<Revenue>();
  return results;
}

const SERIES = `select day, ${SUMS},
    sum(iif(app_slug = coalesce(?3, '${ALL_APPS}'), active_accounts, 0)) as active_accounts
  from daily_totals where day >= ?1 and day < ?2 and (?3 is null or app_slug = ?3)
  group by day order by day`;

const BY_APP = `select app_slug, ${SUMS} from daily_totals
  where day >= ?1 and day < ?2 and app_slug not in ('${ALL_APPS}', '')
  group by app_slug order by settled desc, app_slug limit ?3`;

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
  const { results } = await database
    .prepare(SERIES)
    .bind(from_day, to_day, app_slug)
    .all<Omit<DailyTotals, "day"> & { day: number }>();
  return results.map((row) => ({
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
  const { results } = await database.prepare(BY_APP).bind(from_day, to_day, limit).all<AppTotals>();
  return results;
}
