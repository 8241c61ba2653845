/** What a statement is told when it runs, as parts of its SQL. */
import { eq, sql, type Column, type SQL } from "drizzle-orm";

/** A statement's parameter. */
export const value = (name: string): SQL => sql`${sql.placeholder(name)}`;

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
