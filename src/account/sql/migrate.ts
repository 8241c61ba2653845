/**
 * The handshake between the data of an object and the build that runs on it. A build is named by the number of
 * migrations that it has. The data remembers how many ran, and the oldest build that may run on their result, so a
 * build that was rolled back refuses data that it would misread.
 */
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../../drizzle/account/migrations.js";
import type { AccountDatabase } from "./query.ts";

/**
 * For each migration, in order: the oldest build that may run after it. If an older build would misread what this one
 * stores, even in the same tables, add a migration and state its own number here; it may be empty.
 */
export const OLDEST_BUILDS = [1] as const satisfies readonly number[];

/** This build. */
export const BUILD = OLDEST_BUILDS.length;

/** What the data says of itself. */
export interface DataFormat {
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
 * Runs the migrations that the data has not had. Usually it has had all of them, and one row shows it: going through all
 * of them would be a tenth of a waking.
 * @throws if a migration fails; then none of them changed anything.
 */
export function bringUpToDate(storage: DurableObjectStorage, database: AccountDatabase): void {
  const format = readDataFormat(storage.sql);
  if (format !== null && format.migrations >= BUILD) return;
  storage.transactionSync(() => {
    let failure: unknown = null;
    // The migrator works synchronously. Only its error arrives later, as a rejection.
    migrate(database, migrations).catch((error: unknown) => {
      failure = error;
      console.error({ event: "account_migration_failed", error: String(error) });
    });
    const ran = "select count(*) as count from __drizzle_migrations";
    if (Number(storage.sql.exec(ran).one()["count"]) < BUILD) {
      throw new Error("a migration of the account failed", { cause: failure });
    }
    storage.sql.exec(
      "insert or replace into data_format (singleton, migrations, oldest_build) values (1, ?, ?)",
      BUILD,
      Math.max(...OLDEST_BUILDS),
    );
  });
}
