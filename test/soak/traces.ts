/** What the stores on disk still have of deleted accounts. They are read after the service has stopped. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * The schedule empties the first two, and it does not run here (docs/operators.md, "Where personal data is"). A debt that a
 * refund may still change says which account took it over, also if that one is deleted.
 */
const MAY_NAME = ["deletions", "jobs", "debts"];
/** Of a deleted account, its object keeps that it was deleted, and what its payments may still change. */
const KEPT = ["account", "data_format", "debts", "kept_payments"];

interface Tombstone {
  readonly id: string;
  readonly identity_id: string;
}

/** @returns a sentence for each thing that is left of them */
export function tracesOf(stores: string, identity_ids: readonly string[]): readonly string[] {
  const objects = globSync(join(stores, "do/passbook-Account/*.sqlite")).map(leftInObject);
  const ids = objects.flatMap(({ id }) => (id === null ? [] : [id]));
  const missing = identity_ids.length - ids.length;
  const databases = globSync(join(stores, "d1/*/*.sqlite"));
  const buckets = globSync(join(stores, "r2/*/*.sqlite"));
  return [
    ...(missing === 0 ? [] : [`${ids.length} of ${identity_ids.length} objects are closed`]),
    ...objects.flatMap(({ left }) => left),
    ...databases.flatMap((path) => rowsThatName(path, identity_ids)),
    // The names of an account's archived segments have its own id.
    ...buckets.flatMap((path) => rowsThatName(path, [...identity_ids, ...ids])),
  ];
}

/** Null: the account is not deleted. */
function leftInObject(path: string): { readonly id: string | null; readonly left: string[] } {
  return read(path, (database, tables) => {
    if (!tables.includes("account")) return { id: null, left: [] };
    const query = "select id, identity_id from account where deleted_at_ms is not null";
    const tombstone = database.prepare(query).get() as unknown as Tombstone | undefined;
    if (tombstone === undefined) return { id: null, left: [] };
    const { id, identity_id } = tombstone;
    const filled = tables.filter(
      (table) =>
        !KEPT.includes(table) &&
        database.prepare(`select 1 from "${table}" limit 1`).get() !== undefined,
    );
    const named = identity_id === "" ? [] : [`the object of ${identity_id} has its identity`];
    return { id, left: [...named, ...filled.map((table) => `the object of ${id} has ${table}`)] };
  });
}

/** In a database of many accounts. */
function rowsThatName(path: string, names: readonly string[]): string[] {
  return read(path, (database, tables) =>
    tables
      .filter((table) => !MAY_NAME.includes(table))
      .flatMap((table) =>
        database
          .prepare(`select * from "${table}"`)
          .all()
          .map((row) => JSON.stringify(row))
          .filter((row) => names.some((name) => row.includes(name)))
          .map((row) => `${table} has ${row}`),
      ),
  );
}

function read<Value>(
  path: string,
  look: (database: DatabaseSync, tables: readonly string[]) => Value,
): Value {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const named = database.prepare("select name from sqlite_master where type = 'table'").all();
    const tables = named.map(({ name }) => String(name));
    return look(
      database,
      tables.filter((name) => !/^(_cf_|sqlite_)/.test(name)),
    );
  } finally {
    database.close();
  }
}
