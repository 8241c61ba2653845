/** Every test starts with empty stores, the current D1 schemas, and the real clock. */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, vi } from "vitest";

let is_first_of_file = true;

beforeEach(async () => {
  await reset();
  await applyD1Migrations(env.DIRECTORY, env.TEST_DIRECTORY_MIGRATIONS);
  await applyD1Migrations(env.DB, env.TEST_D1_MIGRATIONS);
  // The reset before a file's first test leaves D1's rows of the file before.
  if (is_first_of_file) await Promise.all([env.DIRECTORY, env.DB].map(emptyTables));
  is_first_of_file = false;
});

async function emptyTables(database: D1Database): Promise<void> {
  const { results } = await database
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'd1_%'
        and name not like '\\_cf%' escape '\\' and name not like 'sqlite%'`,
    )
    .all<{ name: string }>();
  const deletions = results.map(({ name }) => database.prepare(`delete from "${name}"`));
  if (deletions.length > 0) await database.batch(deletions);
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
