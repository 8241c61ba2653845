/** The only writer of `accounts`, `grants` and `jobs` in D1. */
import { drizzle } from "drizzle-orm/d1";
import { eq, getTableColumns, sql, type SQL } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
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

/** Every column but the key takes the value that was to be inserted. */
function excludedColumns(table: SQLiteTable): Record<string, SQL> {
  const columns = Object.values(getTableColumns(table));
  return Object.fromEntries(
    columns.map((column) => [column.name, sql.raw(`excluded."${column.name}"`)]),
  );
}

/** The projector over a D1 database. */
export function createProjector(binding: D1Database): Projector {
  const database = drizzle(binding);
  const newer = (table: "accounts" | "jobs") => sql.raw(`excluded.version > ${table}.version`);
  return {
    async apply(rows) {
      const account = rows.account === null ? [] : [rows.account];
      const [first, ...rest] = [
        ...account.map((row) =>
          database
            .insert(accounts)
            .values(row)
            .onConflictDoUpdate({
              target: accounts.id,
              set: excludedColumns(accounts),
              setWhere: newer("accounts"),
            }),
        ),
        ...rows.grants.map((row) => database.insert(grants).values(row).onConflictDoNothing()),
        ...rows.jobs.map((row) =>
          database
            .insert(jobs)
            .values(row)
            .onConflictDoUpdate({
              target: [jobs.account_id, jobs.id],
              set: excludedColumns(jobs),
              setWhere: newer("jobs"),
            }),
        ),
      ];
      if (first !== undefined) await database.batch([first, ...rest]);
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
