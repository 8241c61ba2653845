/**
 * Gives an account years of history within seconds: SQL inserts rows into its database while no Worker runs. They are
 * copies of one job that the Worker created and settled, with that job's two entries, so they have all columns.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Adds `jobs` jobs before the newest completed one of `identity_id`. */
export interface Past {
  readonly identity_id: string;
  readonly jobs: number;
}

type Row = Record<string, string | number | null>;

/** Opens each database in a folder that has a table, one at a time. */
function visitDatabases(
  directory: string,
  table: string,
  visit: (database: DatabaseSync) => void,
): void {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite") && !name.endsWith("metadata.sqlite"))
    .map((name) => join(directory, name));
  for (const path of paths) {
    const database = new DatabaseSync(path);
    const found = database.prepare("select 1 from sqlite_master where name = ?").get(table);
    if (found !== undefined) visit(database);
    database.close();
  }
}

/**
 * UUIDv7 ids in order, one per millisecond, beginning a day before `id`. Their random part is `id`'s, so that no two
 * accounts have the same ids. An SQL expression of `n`, from 0.
 */
function idExpression(id: string, jobs: number): string {
  const id_ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  const at = `(${id_ms - 86_400_000 - jobs} + n)`;
  return `printf('%08x-%04x', ${at} >> 16, ${at} & 65535) || '${id.slice(13)}'`;
}

/** Copies `row` of `table` `count` times, with some columns replaced by expressions of `n`. */
function copyRows(
  database: DatabaseSync,
  table: string,
  row: Row,
  replaced: Readonly<Record<string, string>>,
  count: number,
): void {
  const columns = Object.keys(row);
  const values = columns.map((column) => replaced[column] ?? "?");
  const bound = columns
    .filter((column) => replaced[column] === undefined)
    .map((column) => row[column] ?? null);
  database
    .prepare(
      `with recursive counted(n) as (select 0 union all select n + 1 from counted where n + 1 < ?)
       insert into ${table} (${columns.join(", ")}) select ${values.join(", ")} from counted`,
    )
    .run(count, ...bound);
}

function copyPast(database: DatabaseSync, { jobs }: Past): void {
  const template = database
    .prepare(`select * from jobs where status = 'completed' order by id desc limit 1`)
    .get() as Row | undefined;
  if (template === undefined) throw new Error("there is no completed job to copy");
  const id = idExpression(String(template["id"]), jobs);
  const lines = database
    .prepare("select * from entries where job_id = ? order by line")
    .all(template["id"] ?? null) as Row[];
  const newest = database.prepare("select max(line) as line from entries").get() as Row;
  const line = Number(newest["line"]);
  database.exec("begin");
  copyRows(database, "jobs", template, { id, line: `${line} + 2 * n + 2` }, jobs);
  for (const [index, entry] of lines.entries()) {
    const next = `${line} + ${lines.length} * n + ${index + 1}`;
    copyRows(database, "entries", entry, { line: next, job_id: id }, jobs);
  }
  database.exec("commit");
}

/**
 * Adds a history to accounts that each have their own database, found by its identity, and marks it as delivered: the read
 * model is not measured.
 */
export function fillObjects(directory: string, pasts: readonly Past[]): void {
  const past_of = new Map(pasts.map((past) => [past.identity_id, past]));
  const newest_lines = new Map<string, number>();
  visitDatabases(join(directory, "do"), "entries", (database) => {
    const owner = database.prepare("select identity_id from account").get() as Row | undefined;
    const past = past_of.get(String(owner?.["identity_id"]));
    if (past === undefined) return;
    copyPast(database, past);
    const newest = database.prepare("select max(line) as line from entries").get() as Row;
    newest_lines.set(past.identity_id, Number(newest["line"]));
  });
  if (newest_lines.size < pasts.length) throw new Error("some accounts have no object");
  if (existsSync(join(directory, "d1"))) tellReadModel(join(directory, "d1"), newest_lines);
}

function tellReadModel(directory: string, newest_lines: ReadonlyMap<string, number>): void {
  visitDatabases(directory, "accounts", (database) => {
    const columns = database.prepare("select name from pragma_table_info('accounts')").all();
    if (!columns.some(({ name }) => name === "line")) return;
    const update = database.prepare("update accounts set line = ? where identity_id = ?");
    for (const [identity_id, line] of newest_lines) update.run(line, identity_id);
  });
}
