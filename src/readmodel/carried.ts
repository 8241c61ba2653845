/**
 * What all people own, hold and are owed, as the sum of all days before one. The schedule carries the sums from day to day, so a
 * query adds few days to the newest carried ones. A delivery with entries of a day before yesterday deletes the sums that it
 * changes, and the schedule carries them again.
 */
import { utcDayOf } from "../domain/calendar.ts";
import { endOfPortion } from "./portions.ts";

/**
 * Changes of people's credits, that is of balances and held credits, and the bought part of each. Each has the sign of
 * the change.
 */
export const CHANGES = {
  granted: { all: "granted", bought: "0" },
  purchased: { all: "purchased", bought: "purchased" },
  adjusted: { all: "adjusted", bought: "adjusted_bought" },
  spent: { all: "0 - settled", bought: "0 - settled_bought" },
  job_refunded: { all: "job_refunded", bought: "job_refunded_bought" },
  expired: { all: "expired", bought: "expired_bought" },
  taken_back: { all: "taken_back", bought: "taken_back" },
  forfeited: { all: "forfeited", bought: "forfeited_bought" },
} as const;
export const CHANGE_NAMES = Object.keys(CHANGES) as (keyof typeof CHANGES)[];

/** What people own, or the bought part of it, as the sum of all changes: SQL. */
function ownedBy(part: "all" | "bought"): string {
  return CHANGE_NAMES.map((name) => CHANGES[name][part]).join(" + ");
}

/** Bought credits with a known price, by currency, and what was paid for them. */
export interface Owed {
  readonly currency: string;
  readonly credits: number;
  readonly minor: number;
  readonly nanos: number;
}

export interface CarriedSums {
  /** What people own, with the credits that jobs hold, and the bought part of it. */
  readonly all: number;
  readonly bought: number;
  readonly held: number;
  /** Accounts whose balance or held credits are not 0. */
  readonly holders: number;
  readonly owed: readonly Owed[];
}

/** The days on which a delivery changes no carried sums: later than {@link CARRIED_AFTER_DAYS} days before today. */
const CARRIED_AFTER_DAYS = 2;

/** Portions of days that one run carries. */
const PORTIONS = 40;

const OWED = "owed ";

const SUMS = { all: ownedBy("all"), bought: ownedBy("bought"), held: "held", holders: "holders" };
const SUM_NAMES = Object.keys(SUMS) as (keyof typeof SUMS)[];

/** All sums of the days before a day: ?1. Reads the rows of the days since the newest sums that were carried. */
export const SUMS_BEFORE = `with start as materialized (
    select coalesce(max(day), -1) as day from carried_totals where day <= ?1),
  rest as materialized (select ${SUM_NAMES.map((name) => `coalesce(sum(${SUMS[name]}), 0) as ${name}_sum`).join(", ")}
    from daily_totals where day >= (select day from start) and day < ?1)
  select what, sum(credits) as credits, sum(minor) as minor, sum(nanos) as nanos from (
    select what, credits, minor, nanos from carried_totals where day = (select day from start)
    union all select value, case value ${SUM_NAMES.map((name) => `when '${name}' then ${name}_sum`).join(" ")} end, 0, 0
      from rest cross join json_each('${JSON.stringify(SUM_NAMES)}')
    union all select '${OWED}' || currency, credits, minor, nanos from daily_owed
      where day >= (select day from start) and day < ?1
  ) group by what order by what`;

const CARRY = `insert into carried_totals (day, what, credits, minor, nanos)
  select ?1, what, credits, minor, nanos from (${SUMS_BEFORE}) where true
  on conflict (day, what) do update
    set credits = excluded.credits, minor = excluded.minor, nanos = excluded.nanos`;

/** What the query {@link SUMS_BEFORE} returned. */
export function sumsOf(answer: D1Result | undefined): CarriedSums {
  type Row = Omit<Owed, "currency"> & { readonly what: string };
  const rows = (answer?.results ?? []) as readonly Row[];
  const of = (name: string): number => rows.find(({ what }) => what === name)?.credits ?? 0;
  const owed = rows
    .filter(({ what, credits }) => what.startsWith(OWED) && credits !== 0)
    .map(({ what, ...worth }) => ({ currency: what.slice(OWED.length), ...worth }));
  return { all: of("all"), bought: of("bought"), held: of("held"), holders: of("holders"), owed };
}

/** All sums until now. */
export async function readSums(database: D1Database): Promise<CarriedSums> {
  return sumsOf(await database.prepare(SUMS_BEFORE).bind(Number.MAX_SAFE_INTEGER).all());
}

/** Carries the sums to the day before yesterday, in portions. @throws if D1 cannot be reached. */
export async function carryTotals(
  database: D1Database,
  now_ms: number,
): Promise<{ readonly carried: number }> {
  const to = utcDayOf(now_ms) - CARRIED_AFTER_DAYS;
  for (let carried = 0; carried < PORTIONS; carried += 1) {
    const newest = await database
      .prepare("select max(day) as day from carried_totals")
      .first<number>("day");
    const from = newest ?? -1;
    if (from >= to) return { carried };
    const ends = await Promise.all(
      (["daily_totals", "daily_owed"] as const).map((table) =>
        endOfPortion(database, table, { from, to }),
      ),
    );
    await database
      .prepare(CARRY)
      .bind(Math.min(...ends))
      .run();
  }
  return { carried: PORTIONS };
}

/** The query that deletes the carried sums that entries of this day change; none for a recent day. */
export function dropCarried(
  database: D1Database,
  oldest_day: number,
  now_ms: number,
): D1PreparedStatement[] {
  // A day earlier than any that was carried, because the clocks of two machines differ.
  if (oldest_day > utcDayOf(now_ms) - CARRIED_AFTER_DAYS) return [];
  return [database.prepare("delete from carried_totals where day > ?1").bind(oldest_day)];
}
