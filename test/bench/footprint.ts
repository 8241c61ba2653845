/**
 * `npm run price -- --bytes`: the size of a row of each store on disk, with keys and indexes, and of a new account's
 * object, for `docs/scale.md`. The tables are created from the migrations, and the rows have values as real ones have.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const OBJECT = { name: "the account's object", migrations: "drizzle/account" };
const STORES = [
  { ...OBJECT, tables: ["jobs", "entries"] },
  {
    name: "D1 DIRECTORY",
    migrations: "drizzle/directory",
    tables: ["users", "identities", "sessions"],
  },
  {
    name: "D1 DB",
    migrations: "drizzle/readmodel",
    tables: ["accounts", "grants", "account_days", "jobs"],
  },
];

const RANDOM = (bytes: number): string => `lower(hex(randomblob(${bytes})))`;
const UUID = `${RANDOM(4)} || '-' || ${RANDOM(2)} || '-4000-8000-' || ${RANDOM(6)}`;
const IN_ORDER = "printf('%08x-%04x-7000-8000-%012x', 27000000, n & 65535, n)";

/**
 * Somebody who signed in with Google on a computer, and has the first plan. A client id of Google has 72 characters,
 * and a subject 21 digits.
 */
const REAL_VALUES: Readonly<Record<string, string>> = {
  "users.name": "'Margaret Hamilton'",
  "users.email": "'margaret.' || n || '@example.com'",
  "identities.provider": "'google'",
  "identities.subject": "printf('1%020d', n * 7919)",
  "identities.issuer": "'https://accounts.google.com'",
  "identities.client_id":
    "'123456789012-0123456789abcdefghijklmnopqrstuv.apps.googleusercontent.com'",
  "sessions.provider": "'google'",
  "sessions.browser": "'Chrome on Windows'",
  "sessions.city": "'Amsterdam'",
  "sessions.country": "'NL'",
  "accounts.plan_version": "0",
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

/** A typical value of a column, as SQL. */
function usualValue(table: string, { name, type, notnull, pk }: Column): string {
  const real = REAL_VALUES[`${table}.${name}`];
  if (real !== undefined) return real;
  if (name === "line") return pk > 0 ? "n" : "2 * n";
  if (name.endsWith("_ms") && (notnull || pk > 0)) return "1795270242000 + n";
  if (type.toLowerCase() === "integer") return pk > 0 ? "n" : notnull ? "7" : "null";
  // Jobs are inserted in the order of their ids, people and accounts in random order.
  if (name === "id" && table === "jobs") return IN_ORDER;
  if (name === "job_id") return IN_ORDER;
  if (name === "user_id" || name === "identity_id" || name === "person_id") {
    return `'user_' || ${UUID}`;
  }
  if (name === "id" && table === "users") return `'user_' || ${UUID}`;
  if (name === "id" || name.endsWith("_id")) return notnull || pk > 0 ? UUID : "null";
  if (name.endsWith("_hash")) return notnull || pk > 0 ? RANDOM(21) : "null";
  if (!notnull) return name === "app_slug" ? "'sketch'" : "null";
  return name === "status" ? "'completed'" : "'usual'";
}

function bytesOf(database: DatabaseSync, path: string, table: string, rows: number): number {
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
      (select 1 union all select n + 1 from counted where n < ${rows})
    insert into ${table} (${columns.map(({ name }) => name).join(", ")})
    select ${values.join(", ")} from counted`);
  return (weigh() - before) / rows;
}

function migrate(path: string, migrations: string): DatabaseSync {
  const database = new DatabaseSync(path);
  const files = readdirSync(migrations).filter((file) => file.endsWith(".sql"));
  for (const file of files.toSorted()) {
    const statements = readFileSync(join(migrations, file), "utf8");
    for (const one of statements.split("--> statement-breakpoint")) {
      // What triggers write is deleted when it was copied.
      if (!one.includes("CREATE TRIGGER")) database.exec(one);
    }
  }
  return database;
}

/** Bytes of a row, by store and table, and of a new account's object. */
export interface Footprint {
  readonly rows: readonly { readonly name: string; readonly bytes: number }[];
  readonly new_object: number;
}

/** Measures with this many rows of each table. */
export function measureFootprint(rows: number): Footprint {
  const directory = mkdtempSync(join(tmpdir(), "passbook-bytes-"));
  try {
    const object = join(directory, "object.sqlite");
    migrate(object, OBJECT.migrations).close();
    return {
      new_object: statSync(object).size,
      rows: STORES.flatMap(({ name, migrations, tables }, index) => {
        const path = join(directory, `${index}.sqlite`);
        const database = migrate(path, migrations);
        const measured = tables.map((table) => ({
          name: `${name}, ${table}`,
          bytes: Math.round(bytesOf(database, path, table, rows)),
        }));
        database.close();
        return measured;
      }),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The table that the command prints and stores. */
export function footprintTable({ rows, new_object }: Footprint): string {
  return [
    "| row | bytes |",
    "| --- | --- |",
    ...rows.map(({ name, bytes }) => `| ${name} | ${bytes} |`),
    `| a new object | ${new_object} |`,
  ].join("\n");
}
