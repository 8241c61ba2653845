/** Days whose totals one query reads. */

/** The orders of the keys of the tables with a row for each day and something else. */
const KEYS = {
  daily_totals: "day, app_slug",
  daily_revenue: "day, package_id, currency",
  daily_owed: "day, currency",
} as const;

export type DailyTable = keyof typeof KEYS;

/** Rows of whole days that one query reads; a single day is never divided. */
const PORTION_ROWS = 4_500;

interface Days {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
}

/** Where the first portion of these days ends. */
export async function endOfPortion(
  database: D1Database,
  table: DailyTable,
  { from, to }: Days,
): Promise<number> {
  const end = await database
    .prepare(
      `select day from ${table} where day >= ?1 and day < ?2
        order by ${KEYS[table]} limit 1 offset ${PORTION_ROWS}`,
    )
    .bind(from, to)
    .first<number>("day");
  return end === null ? to : Math.max(end, from + 1);
}

/** Divides days into portions, oldest first. */
export async function daysInPortions(
  database: D1Database,
  table: DailyTable,
  { from, to }: Days,
): Promise<readonly Days[]> {
  const portions: Days[] = [];
  for (let start = from; start < to;) {
    const end = await endOfPortion(database, table, { from: start, to });
    portions.push({ from: start, to: end });
    start = end;
  }
  return portions;
}
