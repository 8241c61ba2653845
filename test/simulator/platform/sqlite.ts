/** SQLite in memory, as the objects' storage and D1 use it. */
import { DatabaseSync, type StatementSync } from "node:sqlite";

export type SqlValue = string | number | null | Uint8Array;

interface Prepared {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
}

export interface SqlResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
}

export class Sqlite {
  readonly #database = new DatabaseSync(":memory:");
  readonly #prepared = new Map<string, Prepared>();
  #in_transaction = false;

  constructor() {
    this.#database.exec("pragma journal_mode = memory; pragma synchronous = off");
  }

  run(query: string, parameters: readonly SqlValue[]): SqlResult {
    const { statement, columns } = this.#prepare(query);
    const rows = statement.all(...parameters) as unknown as SqlValue[][];
    return { columns, rows };
  }

  /** The rows as objects. */
  all<Row extends object>(query: string, ...parameters: SqlValue[]): Row[] {
    return asObjects(this.run(query, parameters)) as Row[];
  }

  /** Several statements without parameters. */
  script(statements: string): void {
    this.#database.exec(statements);
  }

  /** The rows that the last statement changed. */
  get changes(): number {
    return Number(this.run("select changes()", []).rows[0]?.[0] ?? 0);
  }

  get size_bytes(): number {
    const pages = this.run(
      "select page_count * page_size from pragma_page_count, pragma_page_size",
      [],
    );
    return Number(pages.rows[0]?.[0] ?? 0);
  }

  begin(): void {
    if (this.#in_transaction) return;
    this.#in_transaction = true;
    this.run("begin", []);
  }

  commit(): void {
    if (!this.#in_transaction) return;
    this.#in_transaction = false;
    this.run("commit", []);
  }

  rollBack(): void {
    if (!this.#in_transaction) return;
    this.#in_transaction = false;
    this.run("rollback", []);
  }

  #prepare(query: string): Prepared {
    const known = this.#prepared.get(query);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(query);
    statement.setReturnArrays(true);
    const prepared = { statement, columns: statement.columns().map(({ name }) => name) };
    this.#prepared.set(query, prepared);
    return prepared;
  }
}

export function asObjects({ columns, rows }: SqlResult): object[] {
  return rows.map((values) => {
    const row: Record<string, SqlValue> = {};
    for (const [at, column] of columns.entries()) row[column] = values[at] ?? null;
    return row;
  });
}
