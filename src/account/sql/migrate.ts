/** Bringing an object's tables up to date when it wakes. */
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../../drizzle/account/migrations.js";
import type { AccountDatabase } from "./query.ts";

const NEWEST_MS = Math.max(...migrations.journal.entries.map(({ when }) => when));

/** Whether nothing was ever written here: an object that somebody only reached by its name. */
export function isBlank(sql: SqlStorage): boolean {
  return lastMigrationMs(sql) === 0;
}

/**
 * Runs the migrations that the object has not seen. Nearly always there are none, and one row says so: going through
 * all of them would be a tenth of a waking.
 * @throws if a migration fails; then nothing of it is written.
 */
export function bringUpToDate(database: AccountDatabase, sql: SqlStorage): void {
  if (lastMigrationMs(sql) >= NEWEST_MS) return;
  // The migrator is asynchronous by its signature only: what it throws is the one thing that comes later.
  migrate(database, migrations).catch((error: unknown) => {
    console.error({ event: "account_migration_failed", error: String(error) });
  });
  if (lastMigrationMs(sql) < NEWEST_MS) throw new Error("a migration of the account failed");
}

/** As the migrator notes it; 0 if there is no table at all. @throws if storage cannot be read. */
function lastMigrationMs(sql: SqlStorage): number {
  try {
    const newest = sql.exec("select max(created_at) as at_ms from __drizzle_migrations").one();
    return Number(newest["at_ms"]);
  } catch (error) {
    const tables =
      "select count(*) as count from sqlite_master where name = '__drizzle_migrations'";
    if (sql.exec(tables).one()["count"] !== 0) throw error;
    return 0;
  }
}
