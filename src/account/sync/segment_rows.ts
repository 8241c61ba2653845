/** The rows of a segment of the archive, read from the object's tables as they are now. */
import {
  LATER_ENTRIES_TABLE,
  rowLine,
  SEGMENT_ENTRIES_MAX,
  SEGMENT_TEXT_BYTES,
  segmentText,
  STATE_TABLE,
  type SegmentRange,
} from "../../domain/archive_segment.ts";
import { assertInvariant } from "../../domain/result.ts";
import { isAmong, type AccountDatabase, type TableName } from "../sql/database.ts";
import type { AccountRow, EntryRow, JobRow } from "../sql/schema.ts";

/** Small tables that every segment has whole, so that the newest segment has them as they were last. */
const WHOLE_TABLES = [
  "account",
  "apps",
  "base_payments",
  "debts",
  "lots",
] as const satisfies readonly TableName[];

/**
 * The most entries that a segment has beyond its own, so that all its rows are of one moment. With more, or if it is large, it
 * has no row of {@link STATE_TABLE}, and the next segment follows at once.
 */
const LATER_ENTRIES_MAX = SEGMENT_ENTRIES_MAX;

/** Entries whose jobs are read with one query: with the largest metadata, 1.6 MB. */
const JOBS_AT_ONCE = 100;

/** What a segment begins with. */
interface SegmentStart {
  readonly first: number;
  readonly previous_sha256: string | null;
}

export interface WrittenSegment extends SegmentRange {
  readonly text: string;
  /** Whether its rows are of one moment. */
  readonly has_state: boolean;
}

/**
 * The segment from `first` up to `to_line`, or less: it is bounded in entries and bytes. With `is_exact`, it has all these
 * entries, because an earlier attempt to write it chose them. Every column of a row is in it, so a new column needs no
 * change here.
 */
export function readSegment(
  database: AccountDatabase,
  account: AccountRow,
  { first, previous_sha256 }: SegmentStart,
  { to_line, is_exact }: { readonly to_line: number; readonly is_exact: boolean },
): WrittenSegment {
  const lines = new SegmentLines(database);
  const end_line = is_exact ? to_line : Math.min(to_line, first + SEGMENT_ENTRIES_MAX - 1);
  let last = first - 1;
  const clauses = "where line >= ? and line <= ? order by line";
  for (const entry of lines.withJobs(database.rows("entries", clauses, first, end_line))) {
    assertInvariant(entry.line === last + 1, "entries have no gaps");
    lines.addEntry(entry);
    last = entry.line;
    if (!is_exact && lines.bytes >= SEGMENT_TEXT_BYTES) break;
  }
  assertInvariant(last >= first, "a segment has entries");
  for (const table of WHOLE_TABLES) lines.addAll(table);
  const has_state = lines.addState(last);
  const { id: account_id, identity_id } = account;
  const header = { format: 1, account_id, identity_id, first, last, previous_sha256 } as const;
  return { first, last, text: segmentText(header, lines.list), has_state };
}

class SegmentLines {
  readonly #database: AccountDatabase;
  readonly list: string[] = [];
  /** At least the bytes of an ASCII text. */
  bytes = 0;
  /** The jobs that are in the segment. */
  readonly #jobs = new Set<string>();
  #read_jobs: ReadonlyMap<string, JobRow> = new Map();
  readonly #purchases = new Set<string>();

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** The same entries. Reads their jobs, some at a time, so that not each one is a query. */
  *withJobs(entries: readonly EntryRow[]): Generator<EntryRow> {
    for (let at = 0; at < entries.length; at += JOBS_AT_ONCE) {
      const some = entries.slice(at, at + JOBS_AT_ONCE);
      const ids = JSON.stringify(some.flatMap(({ job_id }) => job_id ?? []));
      const jobs = this.#database.rows("jobs", `where ${isAmong("id", "?")}`, ids);
      this.#read_jobs = new Map(jobs.map((job) => [job.id, job]));
      yield* some;
    }
  }

  /** Adds an entry, and the job or purchase that it belongs to, once. */
  addEntry(entry: EntryRow): void {
    this.#add("entries", entry);
    this.#addRowsOf(entry);
  }

  /** Adds what makes the rows those of the account's newest entry. @returns false: that is too much */
  addState(last: number): boolean {
    const clauses = `where line > ? order by line limit ${LATER_ENTRIES_MAX + 1}`;
    const later = this.#database.rows("entries", clauses, last);
    if (later.length > LATER_ENTRIES_MAX) return false;
    for (const entry of this.withJobs(later)) {
      if (this.bytes >= SEGMENT_TEXT_BYTES) return false;
      this.#add(LATER_ENTRIES_TABLE, entry);
      this.#addRowsOf(entry);
    }
    this.#add(STATE_TABLE, { line: later.at(-1)?.line ?? last });
    return true;
  }

  #addRowsOf(entry: EntryRow): void {
    const { job_id, kind, line, previous_line } = entry;
    const job = this.#read_jobs.get(job_id ?? "");
    if (job !== undefined && !this.#jobs.has(job.id)) {
      this.#jobs.add(job.id);
      this.#add("jobs", job);
    }
    if (kind === "recovery" && previous_line !== null) {
      // The jobs that it took back, as they are again: the archive has them as they were after the undone entries.
      const undone = "select job_id from entries where line > ? and line < ?";
      this.addAll(
        "jobs",
        `where id in (${undone}) and line <= ?`,
        previous_line,
        line,
        previous_line,
      );
    }
    if (kind === "purchase" || kind === "purchase_refund") this.#addPurchase(line);
  }

  addAll(table: TableName, clauses = "", ...parameters: readonly (string | number)[]): void {
    for (const row of this.#database.rows(table, clauses, ...parameters)) this.#add(table, row);
  }

  #addPurchase(line: number): void {
    const money = this.#database.row("purchase_entries", "where line = ?", line);
    if (money === null) return;
    this.#add("purchase_entries", money);
    const { checkout_session_id } = money;
    if (this.#purchases.has(checkout_session_id)) return;
    this.#purchases.add(checkout_session_id);
    this.addAll("purchases", "where checkout_session_id = ?", checkout_session_id);
    this.addAll(
      "purchase_reversals",
      "where payment_intent_id in (select payment_intent_id from purchases where checkout_session_id = ?)",
      checkout_session_id,
    );
  }

  #add(table: string, row: object): void {
    const line = rowLine({ table, row: row as Readonly<Record<string, unknown>> });
    this.list.push(line);
    this.bytes += line.length;
  }
}
