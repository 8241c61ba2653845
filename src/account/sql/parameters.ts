/** What a statement is told when it runs, as parts of its SQL. */
import { eq, sql, type Column, type Placeholder, type SQL } from "drizzle-orm";

/** A statement's parameter. */
export const value = (name: string): SQL => sql`${sql.placeholder(name)}`;

/**
 * How many rows at most, as a number or the name of a parameter. SQLite looks at the value of a bare
 * parameter there, and so plans anew at each run, which takes longer than running.
 */
export function atMost(rows: number | string): Placeholder {
  const count = typeof rows === "number" ? sql.raw(String(rows)) : sql`${value(rows)} + 0`;
  // Drizzle writes any SQL there; its types know numbers and placeholders alone.
  return count as unknown as Placeholder;
}

/** Columns that are given as parameters of their own names. */
export function values<Name extends string>(...names: readonly Name[]): Record<Name, SQL> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, SQL>;
}

/** Whether the column is what the parameter of its name says. */
export const matches = (column: Column): SQL => eq(column, value(column.name));

/** A condition on a parameter that may be null, and then asks nothing: so a list has one statement. */
export function ifGiven(name: string, condition: (given: SQL) => SQL): SQL {
  return sql`(${value(name)} is null or ${condition(value(name))})`;
}

/** As {@link matches}, where the parameter is not null. */
export const matchesIfGiven = (column: Column): SQL => ifGiven(column.name, () => matches(column));

/** Whether a JSON array has the column: one parameter however long, where the platform takes a hundred. */
export function isAmong(column: Column, array_json: SQL): SQL {
  return sql`${column} in (select value from json_each(${array_json}))`;
}

/** An array for {@link isAmong} and {@link ifGiven}: null where there is none to be among. */
export function arrayJson(array: readonly string[] | undefined): string | null {
  return array === undefined ? null : JSON.stringify(array);
}
