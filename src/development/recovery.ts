/**
 * A double of the platform's point-in-time recovery, which the local runtime does not have. It refuses what the platform
 * refuses. Triggers write, for each change of a row, the statement that undoes it; a restore runs those that are newer than
 * the bookmark, newest first.
 *
 * The platform restores the storage when the next instance begins. The double restores it at once, since the caller ends the
 * instance right after. Keys outside of the tables are deleted, because accounts have none that are older.
 */
import { DAY_MS } from "../domain/calendar.ts";
import { RECOVERY_MAX_DAYS } from "../domain/limits.ts";

/** What an object's storage must have for it. */
type RecoverableStorage = Pick<DurableObjectStorage, "sql" | "transactionSync" | "kv">;

const LOG = "recovery_log";
const BOOKMARK = /^double-(\d{15})$/;

/** Tables that a restore does not change: those of the platform and of SQLite, those of the double, and the data's format. */
const IS_RECORDED = `type = 'table' and name not like 'sqlite\\_%' escape '\\' and name not like '\\_cf%' escape '\\'
  and name not like 'recovery\\_%' escape '\\' and name <> 'data_format'`;

/** Records the changes from now on. @returns false: there are no tables yet. */
export function recordChanges({ sql }: RecoverableStorage): boolean {
  const tables = sql
    .exec<{ name: string }>(`select name from sqlite_master where ${IS_RECORDED}`)
    .toArray();
  if (tables.length === 0) return false;
  sql.exec(`create table if not exists ${LOG} (id integer primary key, at_ms integer, undo text)`);
  sql.exec("create table if not exists recovery_clock (now_ms integer)");
  if (sql.exec("select 1 from recovery_clock").toArray().length === 0) {
    sql.exec("insert into recovery_clock values (?)", Date.now());
  }
  for (const { name } of tables) recordTable(sql, name);
  return true;
}

/** The time of the changes that follow. */
export function noteTime({ sql }: RecoverableStorage): void {
  if (isRecorded(sql)) sql.exec("update recovery_clock set now_ms = ?", Date.now());
}

/** Whether the object's changes are recorded. */
function isRecorded(sql: SqlStorage): boolean {
  return sql.exec("select 1 from sqlite_master where name = ?", LOG).toArray().length > 0;
}

function recordTable(sql: SqlStorage, table: string): void {
  const columns = sql
    .exec<{ name: string; pk: number }>("select name, pk from pragma_table_info(?)", table)
    .toArray();
  const quoted = (row: "old" | "new", names: readonly string[], between: string): string =>
    names.map((name) => `quote(${row}."${name}")`).join(` || '${between}' || `);
  const names = columns.map(({ name }) => name);
  const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const deletion = keys
    .map((name) => `'"${name}" is ' || quote(new."${name}")`)
    .join(` || ' and ' || `);
  const put = `'insert into "${table}" (${names.map((name) => `"${name}"`).join(", ")}) values (' || ${quoted("old", names, ", ")} || ')'`;
  const drop = `'delete from "${table}" where ' || ${deletion}`;
  // Undone in the opposite order: the new row goes before the old one comes back.
  const changes = { insert: [drop], update: [put, drop], delete: [put] };
  for (const [change, undo] of Object.entries(changes)) {
    const log = undo.map(
      (text) =>
        `insert into ${LOG} (at_ms, undo) values ((select now_ms from recovery_clock), ${text});`,
    );
    sql.exec(
      `create trigger if not exists "recovery_${table}_${change}" after ${change} on "${table}" begin ${log.join(" ")} end`,
    );
  }
}

/** As the platform's method. @throws if the platform would refuse the time. */
export function bookmarkForTime({ sql }: RecoverableStorage, at: number | Date): string {
  const [at_ms, now_ms] = [Number(at), Date.now()];
  if (at_ms > now_ms) throw new Error("the time is in the future");
  if (at_ms < now_ms - RECOVERY_MAX_DAYS * DAY_MS) throw new Error("the time is too long ago");
  if (!isRecorded(sql)) throw new Error("nothing is known of this object");
  return `double-${String(at_ms).padStart(15, "0")}`;
}

/** As the platform's method, which returns a bookmark of now. @throws if the bookmark is not one of {@link bookmarkForTime}. */
export function restoreBookmark(storage: RecoverableStorage, bookmark: string): string {
  const at_ms = Number(BOOKMARK.exec(bookmark)?.[1]);
  if (Number.isNaN(at_ms)) throw new Error("the bookmark is not valid");
  noteTime(storage);
  const { sql, kv } = storage;
  storage.transactionSync(() => {
    const newer = `select undo from ${LOG} where at_ms > ? order by id desc`;
    for (const { undo } of sql.exec<{ undo: string }>(newer, at_ms).toArray()) sql.exec(undo);
  });
  for (const [key] of Array.from(kv.list())) kv.delete(key);
  return bookmarkForTime(storage, Date.now());
}
