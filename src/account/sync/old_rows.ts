/**
 * Keeps the object's storage small for ever: from half of the storage on, entries and ended jobs that are old and in the
 * archive leave the object in portions, and reads bring them back for a while.
 *
 * Entries leave by whole segments. A segment is read back from the archive first, and each of its entries must equal the
 * object's own, column by column. Jobs leave by ranges of their ids, into files of their own, because the segment with a job's
 * last change cannot be found by its id. Rows are deleted in one transaction with the record of where they are. The
 * newest entry, the newest job and the recent jobs never leave, so nothing that starts or ends a job reads more than before.
 */
import { gunzip, gzip, sha256 } from "../../archive/bytes.ts";
import type { ArchiveStore } from "../../archive/store.ts";
import {
  accountFolder,
  jobsFileName,
  jobsFolder,
  parseSegment,
  rangeOfName,
  rowLine,
  SEGMENT_TEXT_BYTES,
  segmentName,
  segmentText,
  type SegmentRange,
  type SegmentRow,
} from "../../domain/archive_segment.ts";
import { backOff } from "../../domain/back_off.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { reportError } from "../../domain/error_report.ts";
import { ACCOUNT_FULL_BYTES, ARCHIVE_AFTER_DAYS } from "../../domain/limits.ts";
import { ARCHIVE_UNREADABLE, assertInvariant, errorName } from "../../domain/result.ts";
import { isAmong, type AccountDatabase, type Rows } from "../sql/database.ts";
import { RowsLeft } from "../sql/left_store.ts";
import type { AccountRow, JobRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import type { Alarm } from "./alarm.ts";
import type { Archiver } from "./archiver.ts";

/** Portions that one alarm moves: each is a segment or a file of jobs. The next alarm continues. */
const PORTIONS_AT_ONCE = 20;

/** Jobs in one file, and the bytes of text after which it takes no further job. */
const FILE_JOBS_MAX = 1_000;
const FILE_TEXT_BYTES = SEGMENT_TEXT_BYTES;

/** Portions that are back at the same time. A further one replaces the one that came back first. */
const RECALLED_MAX = 100;

/** How long a portion stays after a read brought it back, so that the next page does not bring it back again. */
const RECALLED_MS = 60 * 60_000;

/** Times that one operation may bring rows back. Each time, it lacks other rows. */
const RECALLS_MAX = 64;

/** Bytes of a job's row in a file without its metadata, roughly. */
const JOB_TEXT_BYTES = 1_000;

type LeftTable = "left_segments" | "left_jobs";

const KEY_OF = { left_segments: "first", left_jobs: "last_id" } as const;

/** Whose files they are. */
type ArchivedId = Pick<AccountRow, "id" | "identity_id">;

/** A segment by its first entry, or a file of jobs by its last id. */
interface Portion {
  readonly table: LeftTable;
  readonly key: string | number;
}

interface BackPortion extends Portion {
  readonly recalled_at_ms: number;
}

/** The settings of an account's storage; `config/settings.ts` checks them for requests. */
interface StorageSettings {
  readonly ARCHIVE?: R2Bucket;
  readonly ACCOUNT_STORAGE_BYTES?: string;
  readonly ARCHIVE_AFTER_DAYS?: string;
}

/** The bytes from which on an account is full. */
export function storageBytes({ ACCOUNT_STORAGE_BYTES: bytes }: StorageSettings): number {
  const given = Number(bytes || ACCOUNT_FULL_BYTES);
  return given > 0 && given <= ACCOUNT_FULL_BYTES ? given : ACCOUNT_FULL_BYTES;
}

/** The age at which rows may leave, in milliseconds. */
export function leavingAge({ ARCHIVE_AFTER_DAYS: days }: StorageSettings): number {
  const given = Number(days || ARCHIVE_AFTER_DAYS.usual);
  return (given >= 0 ? given : ARCHIVE_AFTER_DAYS.usual) * DAY_MS;
}

interface OldRowsParts {
  readonly storage: Pick<DurableObjectStorage, "transactionSync">;
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly alarm: Alarm;
  /** Null: the service has no archive, so nothing leaves. */
  readonly archive: ArchiveStore | null;
  readonly archiver: Pick<Archiver, "head">;
  readonly size_bytes: () => number;
  /** Rows leave from half of these bytes on. */
  readonly storage_bytes: number;
  readonly age_ms: number;
  /** Counts a failure for the operators. Never throws. */
  readonly countFailure: (failure: {
    readonly reason: string;
    readonly oldest_at_ms: number;
  }) => Promise<void>;
}

/** What the archive has is not what the object has, so nothing leaves. */
class ArchiveDiffers extends Error {
  override readonly name = "archive_conflict";
}

export class OldRows {
  readonly #parts: OldRowsParts;
  #under_way: Promise<void> | null = null;
  #failing_since_ms: number | null = null;
  #retry_at_ms = Number.NEGATIVE_INFINITY;
  #is_retired = false;
  /** The portions that are back, the one that came first at first; undefined: unknown. */
  #back: readonly BackPortion[] | undefined;

  constructor(parts: OldRowsParts) {
    this.#parts = parts;
  }

  /** Ends it, because the tables were replaced: what is under way changes nothing any more. */
  retire(): void {
    this.#is_retired = true;
  }

  /**
   * Starts to move what may leave, in the background, and drops what reads brought back. Never throws.
   * @returns when to drop more, in milliseconds since the epoch; null: nothing is back
   */
  work(): number | null {
    const { archive, archiver, store, size_bytes, storage_bytes } = this.#parts;
    const account = store.readAccount();
    const is_due = Date.now() >= this.#retry_at_ms && size_bytes() >= storage_bytes / 2;
    if (archive !== null && account !== null && archiver.head !== null && is_due) {
      this.#under_way ??= this.#move(archive, account)
        // The platform has replaced this instance: the next one continues.
        .catch((error: unknown) => console.warn({ event: "archive_failed", ...reportError(error) }))
        .finally(() => {
          this.#under_way = null;
        });
    }
    return this.#dropOld();
  }

  /** Moves what may leave until the storage is less than half full, or nothing may. @throws as the archive does */
  async makeRoom(account: ArchivedId): Promise<void> {
    const { archive, size_bytes, storage_bytes } = this.#parts;
    if (archive === null) return;
    let is_more = true;
    while (is_more && size_bytes() >= storage_bytes / 2) {
      is_more = await this.#movePortions(archive, account);
    }
  }

  /** Waits until nothing is being moved, so that no file appears after the account's files were deleted. */
  async settled(): Promise<void> {
    await this.#under_way;
  }

  /**
   * Runs an operation, again and again until it has the rows that it needs.
   * @throws what `run` throws; Error `ARCHIVE_UNREADABLE` if the rows cannot be brought back
   */
  recalling<Value>(run: () => Value): Value | Promise<Awaited<Value>> {
    try {
      const value = run();
      if (!(value instanceof Promise)) return value;
      const pending = value as Promise<Awaited<Value>>;
      return pending.catch((error: unknown) => this.#again(run, error));
    } catch (error) {
      if (!(error instanceof RowsLeft)) throw error;
      return this.#again(run, error);
    }
  }

  async #again<Value>(run: () => Value, first: unknown): Promise<Awaited<Value>> {
    let lacked = first;
    for (let left = RECALLS_MAX; left > 0; left -= 1) {
      if (!(lacked instanceof RowsLeft)) throw lacked;
      await this.#recall(lacked);
      try {
        return await run();
      } catch (error) {
        lacked = error;
      }
    }
    throw new Error(ARCHIVE_UNREADABLE);
  }

  async #recall({ segments, files }: RowsLeft): Promise<void> {
    const account = this.#parts.store.readAccount();
    assertInvariant(account !== null, "an account whose rows have left is open");
    // One after another, because an object has 128 MB of memory.
    for (const segment of segments) {
      const key = accountFolder(account.id) + segmentName(segment);
      const rows = await this.#readFile(key, segment.sha256);
      this.#bringBack("entries", rows, { table: "left_segments", key: segment.first });
    }
    for (const file of files) {
      const rows = await this.#readFile(jobsFolder(account.id) + jobsFileName(file), file.sha256);
      this.#bringBack("jobs", rows, { table: "left_jobs", key: file.last_id });
    }
  }

  async #readFile(key: string, expected_sha256: string): Promise<readonly SegmentRow[]> {
    try {
      const bytes = await this.#parts.archive?.read(key);
      if (bytes === null || bytes === undefined) throw new ArchiveDiffers("a file is missing");
      if ((await sha256(bytes)) !== expected_sha256) throw new ArchiveDiffers("a file has changed");
      const parsed = parseSegment(await gunzip(bytes));
      if (!parsed.ok) throw new ArchiveDiffers(parsed.refusal);
      return parsed.value.rows;
    } catch (error) {
      const reason = errorName(error);
      console.error({ event: "archive_read_failed", reason });
      await this.#parts.countFailure({ reason, oldest_at_ms: Date.now() });
      throw new Error(ARCHIVE_UNREADABLE, { cause: error });
    }
  }

  #bringBack(table: "entries" | "jobs", rows: readonly SegmentRow[], portion: Portion): void {
    const { storage, database, alarm } = this.#parts;
    const now_ms = Date.now();
    storage.transactionSync(() => {
      if (this.#isBack(portion)) return;
      const back = this.#listBack();
      if (back.length >= RECALLED_MAX && back[0] !== undefined) this.#drop(back[0]);
      // A row that is here is the same, or has changed since it left.
      for (const { row, table: of } of rows) if (of === table) database.insertMissing(table, row);
      this.#mark(portion, now_ms);
      alarm.by(now_ms + RECALLED_MS);
    });
  }

  #isBack({ table, key }: Portion): boolean {
    const query = `select recalled_at_ms from ${table} where ${KEY_OF[table]} = ?`;
    const row = this.#parts.database.first<{ readonly recalled_at_ms: number | null }>(query, key);
    return row === null || row.recalled_at_ms !== null;
  }

  #mark({ table, key }: Portion, recalled_at_ms: number | null): void {
    this.#back = undefined;
    const statement = `update ${table} set recalled_at_ms = ? where ${KEY_OF[table]} = ?`;
    this.#parts.database.run(statement, recalled_at_ms, key);
  }

  #listBack(): readonly BackPortion[] {
    const of = (table: LeftTable): string =>
      `select '${table}' as "table", ${KEY_OF[table]} as key, recalled_at_ms
       from ${table} where recalled_at_ms is not null`;
    const query = `${of("left_segments")} union all ${of("left_jobs")} order by recalled_at_ms`;
    this.#back ??= this.#parts.database.all(query);
    return this.#back;
  }

  /** @returns as {@link work} */
  #dropOld(): number | null {
    const { storage, store } = this.#parts;
    if (store.left.forward === null) return null;
    const back = this.#listBack();
    const before_ms = Date.now() - RECALLED_MS;
    const old = back.filter(({ recalled_at_ms }) => recalled_at_ms <= before_ms);
    for (const portion of old.slice(0, PORTIONS_AT_ONCE)) {
      storage.transactionSync(() => this.#drop(portion));
    }
    const next = back[Math.min(old.length, PORTIONS_AT_ONCE)];
    return next === undefined ? null : next.recalled_at_ms + RECALLED_MS;
  }

  /** Deletes the rows of a portion again. What changed since it left stays. */
  #drop({ table, key }: Portion): void {
    const { database, store } = this.#parts;
    const portion = database.row(table, `where ${KEY_OF[table]} = ?`, key);
    assertInvariant(portion !== null, "what is back has left");
    if ("last" in portion) {
      const { first, last } = portion;
      const end = Math.min(last + 1, store.left.oldest_line);
      database.run("delete from entries where line >= ? and line < ?", first, end);
    } else {
      const { after_id, last_id, line } = portion;
      const ended = "where id > ? and id <= ? and line < ? and status <> 'started'";
      database.run(`delete from jobs ${ended}`, after_id, last_id, line);
    }
    this.#mark({ table, key }, null);
  }

  async #move(archive: ArchiveStore, account: ArchivedId): Promise<void> {
    const { alarm, size_bytes, storage_bytes } = this.#parts;
    try {
      const may_continue = await this.#movePortions(archive, account);
      this.#failing_since_ms = null;
      if (may_continue && size_bytes() >= storage_bytes / 2) alarm.by(Date.now());
    } catch (error) {
      await this.#postpone(error);
    }
  }

  /** @returns whether more may leave */
  async #movePortions(archive: ArchiveStore, account: ArchivedId): Promise<boolean> {
    const segments = await upTo(PORTIONS_AT_ONCE, () => this.#moveSegment(archive, account));
    const files = await upTo(PORTIONS_AT_ONCE, () => this.#moveJobs(archive, account));
    return segments === PORTIONS_AT_ONCE || files === PORTIONS_AT_ONCE;
  }

  /** Whether the account was deleted meanwhile, or its tables were replaced. */
  #isOver(): boolean {
    return this.#is_retired || (this.#parts.store.readAccount()?.deleted_at_ms ?? null) !== null;
  }

  /** @returns whether a segment left. */
  async #moveSegment(archive: ArchiveStore, { id }: ArchivedId): Promise<boolean> {
    const { store, archiver } = this.#parts;
    const after = store.left.forward?.line ?? 0;
    const folder = accountFolder(id);
    const { names } = await archive.list(folder, segmentName({ first: after, last: after }), 1);
    const range = rangeOfName(names[0] ?? "");
    if (range === null || range.last > (archiver.head?.line ?? 0)) return false;
    if (range.first !== after + 1) throw new ArchiveDiffers("a segment is missing");
    const last = store.readEntry(range.last);
    const newest_line = store.readNewestEntry()?.line ?? 0;
    if (last === null || range.last >= newest_line || !this.#isOld(last.at_ms)) return false;
    const bytes = await archive.read(folder + segmentName(range));
    const parsed = parseSegment(bytes === null ? "" : await gunzip(bytes));
    if (bytes === null || !parsed.ok) throw new ArchiveDiffers("a segment cannot be read");
    const hash = await sha256(bytes);
    const { header, rows } = parsed.value;
    const previous_sha256 = store.left.forward?.sha256 ?? null;
    const is_next = header.account_id === id && header.previous_sha256 === previous_sha256;
    const is_head = range.last === archiver.head?.line;
    if (!is_next || (is_head && hash !== archiver.head?.sha256)) {
      throw new ArchiveDiffers("a segment is not the next one of the chain");
    }
    return this.#leaveSegment(range, rows, hash);
  }

  /** Deletes the entries of a segment, but the last one, if they equal these. @returns whether it did. */
  #leaveSegment(range: SegmentRange, rows: readonly SegmentRow[], hash: string): boolean {
    const { storage, database, store } = this.#parts;
    const archived = rows.filter(({ table }) => table === "entries");
    const within = "where line >= ? and line <= ? order by line";
    return store.within(() =>
      storage.transactionSync(() => {
        const { forward } = store.left;
        // The account was deleted, or another portion left meanwhile.
        if (this.#isOver() || (forward?.line ?? 0) + 1 !== range.first) return false;
        const own = database.rows("entries", within, range.first, range.last);
        const are_equal =
          own.length === range.last - range.first + 1 &&
          own.length === archived.length &&
          own.every((entry, at) => isSameRow(entry, archived[at]?.row ?? {}));
        const [first, last] = [own[0], own.at(-1)];
        if (!are_equal || first === undefined || last === undefined) {
          throw new ArchiveDiffers("a segment has other entries");
        }
        const bought = own.filter(({ kind }) => kind === "purchase" || kind === "purchase_refund");
        const purchased = bought.reduce((sum, { amount }) => sum + amount, forward?.purchased ?? 0);
        database.insert("left_segments", { ...range, at_ms: first.at_ms, sha256: hash });
        const { line, at_ms, balance_after: balance } = last;
        const record = { singleton: 1, line, at_ms, balance, purchased, sha256: hash };
        database.save("balance_forward", ["singleton"], record);
        database.run("delete from entries where line >= ? and line < ?", range.first - 1, line);
        store.left.forget();
        return true;
      }),
    );
  }

  /** Writes a file of jobs, and deletes them here. @returns whether there was one. */
  async #moveJobs(archive: ArchiveStore, { id, identity_id }: ArchivedId): Promise<boolean> {
    const { store } = this.#parts;
    if (this.#isOver()) return false;
    const after_id = store.left.jobs_end;
    const { last_id, jobs } = this.#chooseJobs(after_id);
    if (last_id === null) return false;
    const line = store.left.oldest_line;
    const header = { format: 1, account_id: id, identity_id, first: 1, last: line } as const;
    const lines = jobs.map((row) => rowLine({ table: "jobs", row }));
    const bytes = await gzip(segmentText({ ...header, previous_sha256: null }, lines));
    const file = { last_id, after_id, line, sha256: await sha256(bytes) };
    const key = jobsFolder(id) + jobsFileName(file);
    await archive.create(key, bytes);
    const stored = await archive.read(key);
    if (stored === null || (await sha256(stored)) !== file.sha256) {
      throw new ArchiveDiffers("a file of jobs is not the one that was written");
    }
    return this.#leaveJobs(file, jobs);
  }

  #leaveJobs(file: Omit<Rows["left_jobs"], "recalled_at_ms">, jobs: readonly JobRow[]): boolean {
    const { storage, database, store } = this.#parts;
    const ids = JSON.stringify(jobs.map(({ id }) => id));
    return store.within(() =>
      storage.transactionSync(() => {
        if (this.#isOver() || store.left.jobs_end !== file.after_id) return false;
        database.insert("left_jobs", file);
        // A job that changed meanwhile has a later entry, and stays.
        database.run(`delete from jobs where ${isAmong("id", "?")} and line < ?`, ids, file.line);
        store.left.forget();
        return true;
      }),
    );
  }

  /**
   * The next jobs that may leave: those whose last entry has left. A job that should have ended long ago, and has a later
   * entry, stays for good, as one that was refunded late.
   */
  #chooseJobs(after_id: string): { readonly last_id: string | null; readonly jobs: JobRow[] } {
    const { database, store } = this.#parts;
    const { forward } = store.left;
    const recent_after_id = store.readNewestEntry()?.recent_after_job_id ?? "";
    const newest_id = store.readNewestJobId() ?? "";
    const jobs: JobRow[] = [];
    let last_id: string | null = null;
    let bytes = 0;
    const clauses = `where id > ? and id <= ? and id < ? order by id limit ${FILE_JOBS_MAX}`;
    for (const job of database.rows("jobs", clauses, after_id, recent_after_id, newest_id)) {
      const has_left = job.line < (forward?.line ?? 0);
      const is_ended = job.status !== "started" && job.claimed_until_ms === null;
      if (has_left && is_ended) jobs.push(job);
      else if (job.expires_at_ms >= (forward?.at_ms ?? 0) || job.claimed_until_ms !== null) break;
      last_id = job.id;
      bytes += JOB_TEXT_BYTES + (job.metadata_json?.length ?? 0);
      if (bytes >= FILE_TEXT_BYTES) break;
    }
    return { last_id, jobs };
  }

  #isOld(at_ms: number): boolean {
    return at_ms <= Date.now() - this.#parts.age_ms;
  }

  async #postpone(error: unknown): Promise<void> {
    if (this.#isOver()) return;
    const now_ms = Date.now();
    this.#failing_since_ms ??= now_ms;
    const lasting_ms = now_ms - this.#failing_since_ms;
    const reason = errorName(error);
    console.warn({ event: "archive_failed", lasting_ms, reason });
    this.#retry_at_ms = now_ms + backOff(lasting_ms, Math.random());
    this.#parts.alarm.by(this.#retry_at_ms);
    await this.#parts.countFailure({ reason, oldest_at_ms: this.#failing_since_ms });
  }
}

/** Repeats work that returns whether it did something. @returns how often it did */
async function upTo(times: number, work: () => Promise<boolean>): Promise<number> {
  for (let done = 0; done < times; done += 1) if (!(await work())) return done;
  return times;
}

/** Whether the archive has the same values. A column that it lacks must be empty here. */
function isSameRow(own: object, archived: SegmentRow["row"]): boolean {
  return Object.entries(own).every(([column, value]) => (archived[column] ?? null) === value);
}
