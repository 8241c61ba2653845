/**
 * `npm run migrations`: writes the one migration of each database from its schema. Nothing has been released, so no store
 * has an older schema, and a change of the schema replaces the migration.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const BREAKPOINT = "--> statement-breakpoint";
const DATABASES = ["account", "directory", "readmodel"] as const;

for (const database of DATABASES) {
  const folder = `drizzle/${database}`;
  rmSync(folder, { recursive: true, force: true });
  const generate = ["generate", "--config", `drizzle/${database}.config.ts`, "--name", "initial"];
  execFileSync("drizzle-kit", generate, { stdio: ["ignore", "ignore", "inherit"] });
  const file = `${folder}/0000_initial.sql`;
  const statements = readFileSync(file, "utf8").split(BREAKPOINT).map(withoutRowid);
  // The generator knows no triggers.
  const triggers = `drizzle/${database}.triggers.sql`;
  if (existsSync(triggers)) statements.push(`\n${readFileSync(triggers, "utf8")}`);
  writeFileSync(file, statements.join(BREAKPOINT));
  console.log(`${file}: ${statements.length} statements`);
}

/**
 * A table without an integer key becomes WITHOUT ROWID, so that one logical row is one written row. The
 * generator has no option for it.
 */
function withoutRowid(statement: string): string {
  const is_table = /^\s*CREATE TABLE/.test(statement);
  if (!is_table || /integer PRIMARY KEY/.test(statement)) return statement;
  return statement.replace(/\);\s*$/, ") WITHOUT ROWID;\n");
}
