/**
 * `npm run price -- --bytes`: the size of a row of each store on disk, with keys and indexes, for the table in
 * `docs/scale.md`. The tables are created from the migrations.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readWorkerConfig } from "./platform.ts";

const ROWS = 100_000;

/** The rows of a job, an account and a person in each store. */
const KEPT: Readonly<Record<string, number>> = {
  jobs: 1,
  entries: 2,
  accounts: 1,
  grants: 1,
  users: 1,
  identities: 1,
  sessions: 1,
};

const RANDOM = (bytes: number): string => `lower(hex(randomblob(${bytes})))`;
const UUID = `${RANDOM(4)} || '-' || ${RANDOM(2)} || '-4000-8000-' || ${RANDOM(6)}`;
const IN_ORDER = "printf('%08x-%04x-7000-8000-%012x', 27000000, n & 65535, n)";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

/** A typical value of a column, as SQL. */
function usualValue(table: string, { name, type, notnull, pk }: Column): string {
  if (name === "line") return pk > 0 ? "n" : "2 * n";
  if (name.endsWith("_ms")) return "1795270242000 + n";
  if (type.toLowerCase() === "integer") return pk > 0 ? "n" : "7";
  // Jobs are inserted in the order of their ids, people and accounts in random order.
  if (name === "id" && table === "jobs") return IN_ORDER;
  if (name === "job_id") return IN_ORDER;
  if (name === "user_id" || name === "identity_id") return `'user_' || ${UUID}`;
  if (name === "id" || name.endsWith("_id")) return notnull || pk > 0 ? UUID : "null";
  if (name.endsWith("_hash")) return RANDOM(21);
  if (name === "subject") return "cast(10000000 + n as text)";
  if (name === "email") return "'person' || n || '@example.com'";
  if (!notnull) return name === "app_slug" || name === "name" ? "'sketch'" : "null";
  return name === "status" ? "'completed'" : "'usual'";
}

function bytesOf(database: DatabaseSync, path: string, table: string): number {
  const weigh = (): number => {
    database.exec("pragma wal_checkpoint(truncate)");
    return statSync(path).size;
  };
  const columns = database
    .prepare("select name, type, [notnull], pk from pragma_table_info(?)")
    .all(table) as unknown as Column[];
  const values = columns.map((column) => usualValue(table, column));
  const before = weigh();
  database.exec(`with recursive counted(n) as
      (select 1 union all select n + 1 from counted where n < ${ROWS})
    insert into ${table} (${columns.map(({ name }) => name).join(", ")})
    select ${values.join(", ")} from counted`);
  return (weigh() - before) / ROWS;
}

/** Prints the bytes of each kind of row in each store. */
export function printFootprint(): void {
  const { d1_databases } = readWorkerConfig("wrangler.toml");
  const stores = [
    { name: "the account's object", migrations: "drizzle/account" },
    ...d1_databases.map(({ binding, migrations_dir = "" }) => ({
      name: `D1 ${binding}`,
      migrations: migrations_dir,
    })),
  ];
  const directory = mkdtempSync(join(tmpdir(), "passbook-bytes-"));
  try {
    for (const [index, { name, migrations }] of stores.entries()) {
      const path = join(directory, `${index}.sqlite`);
      const database = new DatabaseSync(path);
      const files = readdirSync(migrations).filter((file) => file.endsWith(".sql"));
      for (const file of files.toSorted()) {
        const statements = readFileSync(join(migrations, file), "utf8");
        for (const one of statements.split("--> statement-breakpoint")) database.exec(one);
      }
      const made = database.prepare("select name from sqlite_master where type = 'table'").all();
      for (const table of made.map((row) => String(row["name"]))) {
        const rows = KEPT[table];
        if (rows === undefined) continue;
        const bytes = bytesOf(database, path, table);
        console.log(
          `${name.padEnd(22)} ${table.padEnd(12)} ${bytes.toFixed(0).padStart(5)} bytes a row` +
            (rows === 1 ? "" : `, ${rows} rows a job`),
        );
      }
      database.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
