/** Bringing an object's tables up to date when it wakes. */
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/account/migrations.js";
import type { AccountDatabase } from "./statement.ts";

const NEWEST_MS = Math.max(...migrations.journal.entries.map(({ when }) => when));

/**
 * Runs the migrations that the object has not seen. Nearly always there is none, and one row says so:
 * going through all of them would be a tenth of a waking.
 */
export async function bringUpToDate(database: AccountDatabase, sql: SqlStorage): Promise<void> {
  if (lastMigrationMs(sql) >= NEWEST_MS) return;
  await migrate(database, migrations);
}

/** As the migrator notes it; 0 where it has no table yet. */
function lastMigrationMs(sql: SqlStorage): number {
  try {
    const newest = sql.exec("select max(created_at) as at_ms from __drizzle_migrations").one();
    return Number(newest["at_ms"]);
  } catch {
    // Looking for the table first would be a query more for each waking. The migrator looks by itself,
    // and meets whatever else it may be.
    return 0;
  }
}
