/**
 * Years behind an account, made in seconds: rows are put into its database by SQL, while no Worker
 * runs. They are copies of one job that the Worker itself made and settled, and of that job's two
 * lines; so whatever columns a contender keeps, the copies have them.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Where `jobs` jobs are put behind the newest completed one of `identity_id`. */
export interface Past {
  readonly identity_id: string;
  readonly jobs: number;
}

type Row = Record<string, string | number | null>;

/** The databases under a folder that have a table. */
function databasesWith(directory: string, table: string): DatabaseSync[] {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite") && !name.endsWith("metadata.sqlite"))
    .map((name) => join(directory, name));
  return paths.flatMap((path) => {
    const database = new DatabaseSync(path);
    const found = database.prepare("select 1 from sqlite_master where name = ?").get(table);
    if (found !== undefined) return [database];
    database.close();
    return [];
  });
}

/**
 * Ids of version 7 from a day before `before_ms` on, in order. An SQL expression of `n`, from 0: the
 * time part counts milliseconds up, a thousand ids to each.
 */
function idExpression(before_ms: number, jobs: number): string {
  const start_ms = before_ms - 86_400_000 - Math.ceil(jobs / 1000);
  const at = `(${start_ms} + n / 1000)`;
  const time = `printf('%08x-%04x', ${at} >> 16, ${at} & 65535)`;
  return `${time} || printf('-7000-8000-%012x', n)`;
}

/** Copies `row` of `table` `count` times, some of its columns replaced by expressions of `n`. */
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

function copyPast(database: DatabaseSync, { jobs }: Past, where: string): void {
  const template = database
    .prepare(`select * from jobs where status = 'completed' ${where} order by id desc limit 1`)
    .get() as Row | undefined;
  if (template === undefined) throw new Error("there is no completed job to copy");
  const before_ms = Number.parseInt(String(template["id"]).replaceAll("-", "").slice(0, 12), 16);
  const id = idExpression(before_ms, jobs);
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
 * Puts a past behind accounts that each have a database of their own, found by its identity, and says
 * to the read model that it has it all: what it holds is not what is measured.
 */
export function fillObjects(directory: string, pasts: readonly Past[]): void {
  const objects = databasesWith(join(directory, "do"), "entries");
  for (const past of pasts) {
    const database = objects.find((candidate) => {
      const owner = candidate.prepare("select identity_id from account").get() as Row | undefined;
      return owner?.["identity_id"] === past.identity_id;
    });
    if (database === undefined) throw new Error(`no object of ${past.identity_id}`);
    copyPast(database, past, "");
    const newest = database.prepare("select max(line) as line from entries").get() as Row;
    tellReadModel(directory, past.identity_id, Number(newest["line"]));
  }
  for (const database of objects) database.close();
}

function tellReadModel(directory: string, identity_id: string, line: number): void {
  const d1 = join(directory, "d1");
  if (!readdirSync(directory).includes("d1")) return;
  for (const database of databasesWith(d1, "accounts")) {
    const columns = database.prepare("select name from pragma_table_info('accounts')").all();
    if (columns.some(({ name }) => name === "line")) {
      database.prepare("update accounts set line = ? where identity_id = ?").run(line, identity_id);
    }
    database.close();
  }
}

/** Puts a past behind accounts that share one D1 database. */
export function fillShared(directory: string, pasts: readonly Past[]): void {
  for (const database of databasesWith(join(directory, "d1"), "entries")) {
    for (const past of pasts) {
      const owner = past.identity_id.replaceAll("'", "");
      copyPast(database, past, `and identity_id = '${owner}'`);
    }
    database.close();
  }
}
