/**
 * The statements of an account's object: plain SQL, which the platform prepares once for each text. `schema.ts` gives the
 * types of rows. It is imported for its types only, so that the tables' descriptions stay out of the bundle.
 *
 * A statement whose limit is a bare parameter would be slow: SQLite would plan it again at each run, depending on the
 * value. Such limits are written as `limit ? + 0`.
 */
import type { Table } from "drizzle-orm";
import type * as schema from "./schema.ts";

type Schema = typeof schema;
type TableOf<Value> = Extract<Value, Table>;

/** The rows of each table, by the table's name in SQL. */
export type Rows = {
  [Key in keyof Schema as TableOf<Schema[Key]>["_"]["name"]]: TableOf<Schema[Key]>["$inferSelect"];
};
export type TableName = keyof Rows;

type Parameter = SqlStorageValue | boolean;

type Flag = {
  [Name in TableName]: {
    [Column in keyof Rows[Name]]: Rows[Name][Column] extends boolean ? Column : never;
  }[keyof Rows[Name]];
}[TableName];

/** The columns that hold a boolean, as 0 or 1. No other column has one of these names. */
const FLAGS = {
  bought: true,
  ends_with_session: true,
  is_capped: true,
  is_registered: true,
  is_used: true,
  needs_assertion: true,
  returned: true,
} as const satisfies Record<Flag, true>;

export class AccountDatabase {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** All rows of a query. */
  all<Row extends object>(query: string, ...parameters: readonly Parameter[]): Row[] {
    const cursor = this.#sql.exec(query, ...parameters.map(stored));
    const columns = cursor.columnNames;
    // Faster than the platform's own objects.
    return Array.from(cursor.raw(), (values) => rowOf(columns, values) as Row);
  }

  /** The first row of a query, or null. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the columns of its query
  first<Row extends object>(query: string, ...parameters: readonly Parameter[]): Row | null {
    return this.all<Row>(query, ...parameters)[0] ?? null;
  }

  /** Whole rows of a table. `clauses`: the rest of the query, such as a condition and an order. */
  rows<Name extends TableName>(
    table: Name,
    clauses: string,
    ...parameters: readonly Parameter[]
  ): Rows[Name][] {
    return this.all(`select * from ${table} ${clauses}`, ...parameters);
  }

  /** The first of {@link rows}; null: no row matches. */
  row<Name extends TableName>(
    table: Name,
    clauses: string,
    ...parameters: readonly Parameter[]
  ): Rows[Name] | null {
    return this.rows(table, clauses, ...parameters)[0] ?? null;
  }

  run(statement: string, ...parameters: readonly Parameter[]): void {
    this.#sql.exec(statement, ...parameters.map(stored));
  }

  /**
   * Inserts a row; columns that it lacks get their defaults. The row has no field that is no column, so it is never a value
   * that crossed RPC: a newer Worker may send more fields.
   */
  insert<Name extends TableName>(table: Name, row: Partial<Rows[Name]>): void {
    this.run(insertion(table, row), ...valuesOf(row));
  }

  /** As {@link insert}, unless there is a row with the same key. */
  insertMissing<Name extends TableName>(table: Name, row: Partial<Rows[Name]>): void {
    this.run(`${insertion(table, row)} on conflict do nothing`, ...valuesOf(row));
  }

  /** As {@link insert}. @returns what storage has in these columns. */
  insertReturning<Name extends TableName, Column extends keyof Rows[Name] & string>(
    table: Name,
    row: Partial<Rows[Name]>,
    columns: readonly Column[],
  ): Pick<Rows[Name], Column> | null {
    const statement = `${insertion(table, row)} returning ${columns.join(", ")}`;
    return this.first(statement, ...valuesOf(row));
  }

  /** As {@link insert}, or replaces the other columns of the row that has the same key. */
  save<Name extends TableName>(
    table: Name,
    key: readonly (keyof Rows[Name] & string)[],
    row: Partial<Rows[Name]>,
  ): void {
    const others = Object.keys(row).filter((column) => !key.some((name) => name === column));
    const changes = others.map((column) => `${column} = excluded.${column}`).join(", ");
    const statement = `${insertion(table, row)} on conflict (${key.join(", ")}) do update set ${changes}`;
    this.run(statement, ...valuesOf(row));
  }

  /** Changes columns of the rows that have these values. */
  update<Name extends TableName>(
    table: Name,
    changes: Partial<Rows[Name]>,
    having: Partial<Rows[Name]>,
  ): void {
    const assign = (row: object): string[] => Object.keys(row).map((column) => `${column} = ?`);
    const statement = `update ${table} set ${assign(changes).join(", ")} where ${assign(having).join(" and ")}`;
    this.run(statement, ...valuesOf(changes), ...valuesOf(having));
  }
}

/** A condition on a column whose values are in a JSON array: one parameter, where the platform allows only a hundred. */
export function isAmong(column: string, array_json: string): string {
  return `${column} in (select value from json_each(${array_json}))`;
}

function insertion(table: string, row: object): string {
  const columns = Object.keys(row);
  return `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;
}

function valuesOf(row: object): readonly Parameter[] {
  return Object.values(row) as readonly Parameter[];
}

/** The platform would store a boolean as text, which reads as false. */
function stored(value: Parameter): SqlStorageValue {
  return typeof value === "boolean" ? Number(value) : value;
}

function rowOf(columns: readonly string[], values: readonly SqlStorageValue[]): object {
  const row: Record<string, Parameter> = {};
  for (const [place, column] of columns.entries()) {
    const value = values[place] ?? null;
    row[column] = Object.hasOwn(FLAGS, column) && value !== null ? value === 1 : value;
  }
  return row;
}
