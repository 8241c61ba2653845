/** Rows of a D1 table as JSON, and back. */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** A row with its columns' values. Bytes are hexadecimal text. */
export type TableRow = Readonly<Record<string, string | number | null>>;

/** The longest JSON of one query. D1 takes parameters of up to 2 MB. */
const JSON_MAX_LENGTH = 500_000;

interface StoredColumn {
  readonly name: string;
  readonly is_bytes: boolean;
}

/** The columns that are stored, without those that SQLite computes. */
function columnsOf(table: SQLiteTable): readonly StoredColumn[] {
  return Object.values(getTableColumns(table))
    .filter(({ generated }) => generated === undefined)
    .map(({ name, dataType }) => ({ name, is_bytes: dataType === "buffer" }));
}

/** SQL: the columns of {@link TableRow}. */
export function selectedColumns(table: SQLiteTable): string {
  return columnsOf(table)
    .map(({ name, is_bytes }) => (is_bytes ? `hex(${name}) as ${name}` : name))
    .join(", ");
}

/**
 * The query that adds the rows of `?1`, a JSON list. A row whose key or unique value exists is skipped. Columns that the row
 * lacks, because an older release wrote it, get null or their default. `where`: a further condition, in which `given.value` is the row.
 */
export function insertionOf(
  table: SQLiteTable,
  columns: ReadonlySet<string>,
  where = "true",
): string {
  const known = columnsOf(table).filter(({ name }) => columns.has(name));
  const values = known.map(({ name, is_bytes }) =>
    is_bytes ? `unhex(given.value ->> '$.${name}')` : `given.value ->> '$.${name}'`,
  );
  // The number of changes counts what triggers write too.
  return `insert into ${getTableName(table)} (${known.map(({ name }) => name).join(", ")})
    select ${values.join(", ")} from json_each(?1) as given where ${where} on conflict do nothing returning 1`;
}

/** Adds rows that the table lacks. @returns how many it added */
export async function insertRows(
  database: D1Database,
  table: SQLiteTable,
  rows: readonly TableRow[],
): Promise<number> {
  let inserted = 0;
  for (const portion of portionsOf(rows)) {
    const columns = new Set(Object.keys(portion[0] ?? {}));
    const query = database.prepare(insertionOf(table, columns)).bind(JSON.stringify(portion));
    inserted += (await query.run()).results.length;
  }
  return inserted;
}

function portionsOf(rows: readonly TableRow[]): readonly (readonly TableRow[])[] {
  const portions: TableRow[][] = [];
  let length = JSON_MAX_LENGTH;
  for (const row of rows) {
    const own = JSON.stringify(row).length;
    if (length + own > JSON_MAX_LENGTH) {
      portions.push([]);
      length = 0;
    }
    portions.at(-1)?.push(row);
    length += own;
  }
  return portions;
}
