/**
 * The handshake between the data of an object and the build that runs on it. A build is named by the number of
 * migrations that it has. The data remembers how many ran, and the oldest build that may run on their result, so a
 * build that was rolled back refuses data that it would misread.
 */
import generated from "../../../drizzle/account/migrations.js";
import { requestFields } from "../../domain/request_origin.ts";
import { assertInvariant, MIGRATION_FAILED } from "../../domain/result.ts";

/** The module that `npm run migrations` generates. */
interface Migrations {
  readonly journal: { readonly entries: readonly { readonly idx: number; readonly tag: string }[] };
  readonly migrations: Readonly<Record<string, string>>;
}

const migrations: Migrations = generated;

/**
 * For each migration, in order: the oldest build that may run after it. If an older build would misread what this one
 * stores, even in the same tables, add a migration and state its own number here; it may be empty.
 */
export const OLDEST_BUILDS = [1] as const satisfies readonly number[];

/** This build. */
export const BUILD = OLDEST_BUILDS.length;

/** The format that the data states. */
interface DataFormat {
  readonly migrations: number;
  readonly oldest_build: number;
}

/** The format of the object's data; null: nothing was ever stored in this object. */
export function readDataFormat(sql: SqlStorage): DataFormat | null {
  try {
    const format = sql.exec("select migrations, oldest_build from data_format").one();
    return {
      migrations: Number(format["migrations"]),
      oldest_build: Number(format["oldest_build"]),
    };
  } catch (error) {
    const tables = "select count(*) as count from sqlite_master where name = 'data_format'";
    if (sql.exec(tables).one()["count"] !== 0) throw error;
    return null;
  }
}

/** Whether this build would misread the data. */
export function isTooNew({ oldest_build }: DataFormat): boolean {
  return oldest_build > BUILD;
}

/**
 * Runs the migrations that the data has not had. Usually it has had all of them, and one row shows it.
 * @throws Error `MIGRATION_FAILED` if a migration fails; then none of them changed anything. The message crosses RPC: an object
 * that was never used is not reset by it, unlike one whose constructor throws.
 */
export function bringUpToDate(storage: DurableObjectStorage): void {
  const ran = readDataFormat(storage.sql)?.migrations ?? 0;
  if (ran >= BUILD) return;
  storage.transactionSync(() => {
    for (const { idx, tag } of migrations.journal.entries.slice(ran)) {
      const statements = migrations.migrations[`m${String(idx).padStart(4, "0")}`];
      assertInvariant(statements !== undefined, `the migration ${tag} is in the bundle`);
      run(storage.sql, tag, statements);
    }
    storage.sql.exec(
      "insert or replace into data_format (singleton, migrations, oldest_build) values (1, ?, ?)",
      BUILD,
      Math.max(...OLDEST_BUILDS),
    );
  });
}

function run(sql: SqlStorage, migration: string, statements: string): void {
  try {
    for (const statement of statements.split("--> statement-breakpoint")) sql.exec(statement);
  } catch (error) {
    // SQLite's message names tables and columns, but no values.
    console.error({
      event: "account_migration_failed",
      ...requestFields(),
      migration,
      error: String(error),
    });
    throw new Error(MIGRATION_FAILED, { cause: error });
  }
}
