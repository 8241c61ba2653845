/** Every test starts with empty stores, the current D1 schemas, and the real clock. */
import { reset, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, vi } from "vitest";
import { webhookListOf } from "../../src/directory/webhook_list.ts";
import { forgetEnvironments } from "./support/passbook.ts";

/** Longer than a delivery to D1 that is still under way. */
const QUIET_MS = 50;

let is_first_of_file = true;

beforeEach(async () => {
  await reset();
  await Promise.all([
    migrate(env.DIRECTORY, env.TEST_DIRECTORY_MIGRATIONS),
    migrate(env.DB, env.TEST_D1_MIGRATIONS),
  ]);
  // The isolate's copy is of the test before.
  webhookListOf(env.DIRECTORY).forget();
  if (is_first_of_file) {
    forgetEnvironments();
    await settle();
  }
  is_first_of_file = false;
});

/**
 * Makes one call for each database, because it runs before each of thousands of tests; `applyD1Migrations` makes
 * several. If a query was still running, the reset keeps the database, and this function empties its tables.
 */
async function migrate(database: D1Database, migrations: readonly D1Migration[]): Promise<void> {
  const queries = [
    // Wrangler's table of applied migrations, which `/readyz` reads.
    "create table d1_migrations (id integer primary key autoincrement, name text)",
    ...migrations.flatMap((migration) => migration.queries),
  ];
  const record = database.prepare("insert into d1_migrations (name) values (?)");
  try {
    await database.batch([
      ...queries.map((query) => database.prepare(query)),
      ...migrations.map(({ name }) => record.bind(name)),
    ]);
  } catch (error) {
    if (!String(error).includes("already exists")) throw error;
    await emptyTables(database);
  }
}

/**
 * The reset before a file's first test keeps D1's rows of the previous file, whose last deliveries may still arrive.
 * Empties the databases until they stay empty.
 */
async function settle(): Promise<void> {
  const databases = [env.DIRECTORY, env.DB];
  do {
    await Promise.all(databases.map(emptyTables));
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  } while ((await Promise.all(databases.map(countRows))).some((rows) => rows > 0));
}

async function namesOfTables(database: D1Database): Promise<readonly string[]> {
  const { results } = await database
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'd1_%'
        and name not like '\\_cf%' escape '\\' and name not like 'sqlite%'`,
    )
    .all<{ name: string }>();
  return results.map(({ name }) => name);
}

async function emptyTables(database: D1Database): Promise<void> {
  const names = await namesOfTables(database);
  await database.batch(names.map((name) => database.prepare(`delete from "${name}"`)));
}

async function countRows(database: D1Database): Promise<number> {
  const names = await namesOfTables(database);
  const counts = names.map((name) => `(select count(*) from "${name}")`).join(" + ");
  return (await database.prepare(`select ${counts} as n`).first<number>("n")) ?? 0;
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
