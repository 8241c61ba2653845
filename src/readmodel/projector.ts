/** The only writer of `accounts`, `grants` and `jobs` in D1. */
import { drizzle } from "drizzle-orm/d1";
import { eq, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { accounts, grants, jobs } from "./schema.ts";

/** Rows of one account as its object has them. A later version always replaces an earlier one. */
export interface ProjectedRows {
  readonly account: typeof accounts.$inferInsert | null;
  readonly grants: readonly (typeof grants.$inferInsert)[];
  readonly jobs: readonly (typeof jobs.$inferInsert)[];
}

export interface Projector {
  /**
   * Writes rows in one transaction. Writing the same rows again, or older ones, changes nothing.
   * @throws where D1 cannot be reached; then nothing was written.
   */
  apply(rows: ProjectedRows): Promise<void>;
  /** Forgets an account, before a rebuild sends it anew. */
  forget(account_id: string): Promise<void>;
}

/**
 * Inserts rows, or does `on_conflict`: one statement whose one parameter is a JSON array of rows, since
 * D1 counts statements and parameters. Written out, as Drizzle has no word for `json_each`.
 */
function insertFromJson(table: SQLiteTable, on_conflict: "replace older" | "keep"): string {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  const values = columns.map((column) => `value ->> '$.${column}'`).join(", ");
  const assignments = columns.map((column) => `${column} = excluded.${column}`).join(", ");
  const resolution =
    on_conflict === "keep"
      ? "do nothing"
      : `do update set ${assignments} where excluded.version > ${name}.version`;
  // "where true" tells SQLite that "on" begins the conflict clause, not a join.
  return `insert into ${name} (${columns.join(", ")})
    select ${values} from json_each(?) where true
    on conflict (${keyColumns(table).join(", ")}) ${resolution}`;
}

function keyColumns(table: SQLiteTable): string[] {
  const { columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys.flatMap((key) => key.columns);
  const key = composite.length > 0 ? composite : columns.filter((column) => column.primary);
  return key.map((column) => column.name);
}

const INSERT_ACCOUNTS = insertFromJson(accounts, "replace older");
const INSERT_GRANTS = insertFromJson(grants, "keep");
const INSERT_JOBS = insertFromJson(jobs, "replace older");

/** The projector over a D1 database. */
export function createProjector(binding: D1Database): Projector {
  const database = drizzle(binding);
  const insert = (statement: string, rows: readonly object[]): D1PreparedStatement[] =>
    rows.length === 0 ? [] : [binding.prepare(statement).bind(JSON.stringify(rows))];
  return {
    async apply(rows) {
      const statements = [
        ...insert(INSERT_ACCOUNTS, rows.account === null ? [] : [rows.account]),
        ...insert(INSERT_GRANTS, rows.grants),
        ...insert(INSERT_JOBS, rows.jobs),
      ];
      if (statements.length > 0) await binding.batch(statements);
    },
    async forget(account_id) {
      await database.batch([
        database.delete(jobs).where(eq(jobs.account_id, account_id)),
        database.delete(grants).where(eq(grants.account_id, account_id)),
        database.delete(accounts).where(eq(accounts.id, account_id)),
      ]);
    },
  };
}
