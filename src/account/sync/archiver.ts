/**
 * Writes an account's ledger to the archive, in segments (`domain/archive_segment.ts`).
 *
 * The alarm starts it, and it works in the background, so neither a request nor the rest of the alarm waits for the archive.
 * Before a segment is written, its last entry is stored here. A retry therefore writes the same file, and the file of an
 * attempt whose response was lost is taken over if it has the same entries. The read model gets the newest segment before
 * this object notes it, so that the end of the chain is known outside too.
 */
import { gunzip, gzip, sha256 } from "../../archive/bytes.ts";
import type { ArchiveStore } from "../../archive/store.ts";
import {
  accountFolder,
  jobsFolder,
  parseSegment,
  restoreFolder,
  SEGMENT_ENTRIES_MAX,
  segmentName,
  type ArchiveHead,
  type Segment,
} from "../../domain/archive_segment.ts";
import { backOff } from "../../domain/back_off.ts";
import { reportError } from "../../domain/error_report.ts";
import { errorName, type Result } from "../../domain/result.ts";
import type { ArchivedSegment } from "../../readmodel/projector.ts";
import type { AccountDatabase, Rows } from "../sql/database.ts";
import type { AccountRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import type { Alarm } from "./alarm.ts";
import { RestoreUnfinished } from "./restore_unfinished.ts";
import { readSegment, type WrittenSegment } from "./segment_rows.ts";

/** Segments that one alarm writes; the next alarm continues. Each takes three calls of other services. */
const SEGMENTS_AT_ONCE = 20;

/** A file in the archive that this account did not write: it was changed, or the account was restored. */
class ArchiveConflict extends Error {
  override readonly name = "archive_conflict";
}

type ParsedSegment = Result<Segment, string>;

type State = Omit<Rows["archive"], "singleton">;

const EMPTY: State = {
  line: 0,
  sha256: null,
  pending_line: null,
  requested_line: 0,
  failing_since_ms: null,
};

interface ArchiverParts {
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly alarm: Alarm;
  /** Null: the service has no archive. */
  readonly archive: ArchiveStore | null;
  /** Whether a restore is not finished. @throws if the archive cannot be reached */
  readonly isRestoring: () => Promise<boolean>;
  /** Called before the first segment. @throws StorageLost if the archive has an earlier account of the holder */
  readonly checkFormer: (account: AccountRow) => Promise<void>;
  /** Waits until no other file of the account is being written. */
  readonly settled: () => Promise<void>;
  /** How long an entry may wait, in milliseconds. */
  readonly max_age_ms: number;
  /** How much of its storage the account uses, in percent; null: less than half. */
  readonly storagePercent: () => number | null;
  /** Gives the read model the newest segment. @throws if D1 cannot be reached */
  readonly note: (segment: ArchivedSegment) => Promise<void>;
  /** Counts a failure for the operators, with the time since which the archive cannot be written. Never throws. */
  readonly countFailure: (failure: {
    readonly reason: string;
    readonly oldest_at_ms: number;
  }) => Promise<void>;
}

export class Archiver {
  readonly #parts: ArchiverParts;
  #state: State | undefined;
  /** The time of the oldest entry that the archive lacks; undefined: unknown. */
  #oldest_at_ms: number | undefined;
  /** After a failure, when the next attempt is due. */
  #retry_at_ms = Number.NEGATIVE_INFINITY;
  #under_way: Promise<void> | null = null;
  #is_retired = false;

  constructor(parts: ArchiverParts) {
    this.#parts = parts;
  }

  /** Ends it, because the tables were replaced: what is under way changes nothing any more. */
  retire(): void {
    this.#is_retired = true;
  }

  /** The newest segment; null before the first one. */
  get head(): ArchiveHead | null {
    const { line, sha256: hash } = this.#read();
    return hash === null ? null : { line, sha256: hash };
  }

  /** Has the alarm write everything that exists now. Changes nothing if the archive has it. */
  request(): void {
    const newest_line = this.#parts.store.readNewestEntry()?.line ?? 0;
    const { line, requested_line } = this.#read();
    if (this.#parts.archive === null || newest_line <= line) return;
    if (requested_line < newest_line) this.#save({ requested_line: newest_line });
    this.#retry_at_ms = Number.NEGATIVE_INFINITY;
    this.#parts.alarm.by(Date.now());
  }

  /**
   * Starts writing what is due, in the background. Never throws.
   * @returns null: the alarm is set when the writing has ended, if there is more
   */
  start(): null {
    const { archive, store } = this.#parts;
    const account = store.readAccount();
    if (archive === null || account === null || this.#under_way !== null) return null;
    if (Date.now() < this.#retry_at_ms || !this.#isDue()) return null;
    this.#under_way = this.#write(archive, account)
      // The platform has replaced this instance: the next one continues.
      .catch((error: unknown) => console.warn({ event: "archive_failed", ...reportError(error) }))
      .finally(() => {
        this.#under_way = null;
      });
    return null;
  }

  /**
   * Deletes a portion of a deleted account's files. @returns whether none remains. @throws if the archive cannot be
   * reached.
   */
  async forget(account_id: string): Promise<boolean> {
    // A segment that is being written would come back after its folder was deleted.
    await this.#under_way;
    const { archive, settled } = this.#parts;
    await settled();
    if (archive === null) return true;
    // The last one is of a restore that was not finished.
    for (const folder of [accountFolder, jobsFolder, restoreFolder]) {
      if (!(await archive.deleteSome(folder(account_id)))) return false;
    }
    return true;
  }

  #isDue(): boolean {
    const { line, pending_line, requested_line } = this.#read();
    const newest_line = this.#parts.store.readNewestEntry()?.line ?? 0;
    if (newest_line <= line) return false;
    if (pending_line !== null || requested_line > line) return true;
    if (newest_line - line >= SEGMENT_ENTRIES_MAX) return true;
    this.#oldest_at_ms ??= this.#parts.store.readEntry(line + 1)?.at_ms ?? Date.now();
    return Date.now() - this.#oldest_at_ms >= this.#parts.max_age_ms;
  }

  async #write(archive: ArchiveStore, account: AccountRow): Promise<void> {
    const { alarm } = this.#parts;
    try {
      for (let left = SEGMENTS_AT_ONCE; left > 0 && this.#isDue(); left -= 1) {
        if (this.#isOver()) return;
        await this.#writeOne(archive, account);
      }
      if (this.#isDue()) alarm.by(Date.now());
    } catch (error) {
      await this.#postpone(error);
    }
  }

  async #writeOne(archive: ArchiveStore, account: AccountRow): Promise<void> {
    const { database, store, note } = this.#parts;
    const { line, sha256: previous_sha256, pending_line } = this.#read();
    const to_line = pending_line ?? store.readNewestEntry()?.line ?? 0;
    const start = { first: line + 1, previous_sha256 };
    const chosen = { to_line, is_exact: pending_line !== null };
    const segment = readSegment(database, account, start, chosen);
    if (pending_line !== segment.last) this.#save({ pending_line: segment.last });
    // The segment may be one of an earlier storage, whose entries the archive has already.
    if (await this.#parts.isRestoring()) throw new RestoreUnfinished();
    if (line === 0) await this.#parts.checkFormer(account);
    if (this.#isOver()) return;
    const hash = await sha256(await storeOnce(archive, account.id, segment));
    const written = { account_id: account.id, line: segment.last, sha256: hash };
    const storage_percent = this.#parts.storagePercent();
    await note({ ...written, written_at_ms: Date.now(), storage_percent });
    if (this.#isOver()) return;
    this.#save({ line: segment.last, sha256: hash, pending_line: null, failing_since_ms: null });
    // A restore begins with a segment whose rows are of one moment.
    if (!segment.has_state) this.#save({ requested_line: store.readNewestEntry()?.line ?? 0 });
    this.#oldest_at_ms = undefined;
  }

  /** Whether the account was deleted meanwhile, or its tables were replaced. */
  #isOver(): boolean {
    return this.#is_retired || (this.#parts.store.readAccount()?.deleted_at_ms ?? null) !== null;
  }

  async #postpone(error: unknown): Promise<void> {
    if (this.#isOver()) return;
    const now_ms = Date.now();
    const since_ms = this.#read().failing_since_ms ?? now_ms;
    const reason = errorName(error);
    console.warn({ event: "archive_failed", lasting_ms: now_ms - since_ms, reason });
    if (this.#read().failing_since_ms === null) this.#save({ failing_since_ms: since_ms });
    this.#retry_at_ms = now_ms + backOff(now_ms - since_ms, Math.random());
    this.#parts.alarm.by(this.#retry_at_ms);
    await this.#parts.countFailure({ reason, oldest_at_ms: since_ms });
  }

  #read(): State {
    this.#state ??= this.#parts.database.row("archive", "") ?? EMPTY;
    return this.#state;
  }

  #save(changes: Partial<State>): void {
    const { line, sha256: hash, pending_line, requested_line, failing_since_ms } = this.#read();
    const known = { line, sha256: hash, pending_line, requested_line, failing_since_ms };
    const state = { ...known, ...changes };
    this.#parts.database.save("archive", ["singleton"], { singleton: 1, ...state });
    this.#state = state;
  }
}

/**
 * Stores a segment, or takes over the one that an earlier attempt stored. Its other rows may be older: what changed since
 * has a later entry. @returns the stored bytes.
 */
async function storeOnce(
  archive: ArchiveStore,
  account_id: string,
  segment: WrittenSegment,
): Promise<Uint8Array> {
  const key = accountFolder(account_id) + segmentName(segment);
  const bytes = await gzip(segment.text);
  if (await archive.create(key, bytes)) return bytes;
  const stored = await archive.read(key);
  const text = stored === null ? "" : await gunzip(stored).catch(() => "");
  if (stored === null || !hasEntriesOf(parseSegment(text), parseSegment(segment.text))) {
    throw new ArchiveConflict("the archive has another segment of this name");
  }
  return stored;
}

/** Whether both segments have the same header and entries. A newer release may know more columns. */
function hasEntriesOf(stored: ParsedSegment, own: ParsedSegment): boolean {
  if (!stored.ok || !own.ok) return false;
  const ours = entriesOf(own.value);
  const theirs = entriesOf(stored.value);
  return (
    theirs.length === ours.length &&
    theirs.every((row, at) =>
      Object.entries(row).every(([column, value]) => Reflect.get(ours[at] ?? {}, column) === value),
    )
  );
}

function entriesOf({ header, rows }: Segment): readonly object[] {
  return [header, ...rows.filter(({ table }) => table === "entries").map(({ row }) => row)];
}
