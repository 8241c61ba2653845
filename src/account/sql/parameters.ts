/** Parameters of prepared queries, as parts of their SQL. */
import { eq, sql, type Column, type Placeholder, type SQL } from "drizzle-orm";

/** A parameter. */
export const value = (name: string): SQL => sql`${sql.placeholder(name)}`;

/**
 * The largest number of rows, as a number or the name of a parameter. A bare parameter would be slow: SQLite would plan
 * the query again at each run, depending on its value.
 */
export function atMost(rows: number | string): Placeholder {
  const count = typeof rows === "number" ? sql.raw(String(rows)) : sql`${value(rows)} + 0`;
  // Drizzle accepts any SQL here, but its types accept only numbers and placeholders.
  return count as unknown as Placeholder;
}

/** Columns whose values are parameters of the same names. */
export function values<Name extends string>(...names: readonly Name[]): Record<Name, SQL> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, SQL>;
}

/** The column equals the parameter of its name. */
export const matches = (column: Column): SQL => eq(column, value(column.name));

/** A condition that holds if the parameter is null, so that one query serves every filter of a list. */
export function ifGiven(name: string, condition: (given: SQL) => SQL): SQL {
  return sql`(${value(name)} is null or ${condition(value(name))})`;
}

/** As {@link matches}, if the parameter is not null. */
export const matchesIfGiven = (column: Column): SQL => ifGiven(column.name, () => matches(column));

/** The column is in a JSON array. That is one parameter, where the platform allows only a hundred. */
export function isAmong(column: Column, array_json: SQL): SQL {
  return sql`${column} in (select value from json_each(${array_json}))`;
}

/** The array for {@link isAmong} and {@link ifGiven}; null for no condition. */
export function arrayJson(array: readonly string[] | undefined): string | null {
  return array === undefined ? null : JSON.stringify(array);
}
