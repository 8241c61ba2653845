/**
 * Which old entries and jobs have left the object for the archive, and how reads get them back.
 *
 * A read that needs rows that have left throws {@link RowsLeft}. Its transaction is rolled back, `sync/old_rows.ts` brings the
 * rows back from the archive, and the operation runs again. So reads are plain SQL, whatever the age of the rows. An
 * account whose rows are all here reads nothing for this.
 */
import { isAmong, type AccountDatabase, type Rows } from "./database.ts";
import type { EntryRow } from "./schema.ts";

type LeftSegment = Rows["left_segments"];
type LeftJobs = Rows["left_jobs"];

/** The most segments that one read brings back, in entries about as many as one page of a statement passes. */
const RECALLED_AT_ONCE = 24;

/** Segments that a page brings back at first: usually more entries than it shows. */
const SEGMENTS_OF_PAGE = 2;

/** The entries that a page is chosen from, and the most rows that it has. */
interface PageRange {
  readonly first: number;
  readonly end: number;
  readonly limit: number;
}

/** Rows that a read needs have left. The operation runs again when they are back. */
export class RowsLeft extends Error {
  override readonly name = "rows_left";
  readonly segments: readonly LeftSegment[];
  readonly files: readonly LeftJobs[];

  constructor(segments: readonly LeftSegment[], files: readonly LeftJobs[]) {
    super("rows have left for the archive");
    this.segments = segments;
    this.files = files;
  }
}

export class LeftStore {
  readonly #database: AccountDatabase;
  // Undefined: unknown.
  #forward: Rows["balance_forward"] | null | undefined;
  #jobs_end: string | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** After a change or a roll-back. */
  forget(): void {
    this.#forward = undefined;
    this.#jobs_end = undefined;
  }

  /** The balance-forward record; null: no entry has left. */
  get forward(): Rows["balance_forward"] | null {
    this.#forward ??= this.#database.row("balance_forward", "");
    return this.#forward;
  }

  /** The oldest entry that never left. */
  get oldest_line(): number {
    return this.forward?.line ?? 1;
  }

  /** The jobs up to this one have left, unless they changed since; "": none has. */
  get jobs_end(): string {
    const query = "select last_id from left_jobs order by last_id desc limit 1";
    this.#jobs_end ??= this.#database.first<Pick<LeftJobs, "last_id">>(query)?.last_id ?? "";
    return this.#jobs_end;
  }

  /** @throws RowsLeft if entries from `first` on, before `end`, are not here: the newest `at_once` segments of them */
  requireEntries(first: number, end: number, at_once = RECALLED_AT_ONCE): void {
    if (first >= this.oldest_line) return;
    const last = Math.min(end, this.oldest_line) - 1;
    const segments = this.#database.rows(
      "left_segments",
      `where last >= ? and first <= ? and recalled_at_ms is null order by first desc limit ${at_once}`,
      first,
      last,
    );
    if (segments.length > 0) throw new RowsLeft(segments, []);
  }

  /** Whether a range has no more left segments than one read may bring back. */
  isWithinReach(first: number, end: number): boolean {
    if (first >= this.oldest_line) return true;
    const segments = this.#database.rows(
      "left_segments",
      `where last >= ? and first < ? limit ${RECALLED_AT_ONCE + 1}`,
      first,
      end,
    );
    return segments.length <= RECALLED_AT_ONCE;
  }

  /** The segment that has the first entry at or after `at_ms`, or ends just before it; null: that entry never left. */
  segmentAt(at_ms: number): LeftSegment | null {
    const { forward } = this;
    if (forward === null || at_ms > forward.at_ms) return null;
    const clauses = "where at_ms < ? order by first desc limit 1";
    const found = this.#database.row("left_segments", clauses, at_ms);
    return found ?? this.#database.row("left_segments", "order by first limit 1");
  }

  /** @throws RowsLeft if a job is in the archive and not here. `ids`: of jobs that have no row here. */
  requireJobs(ids: readonly string[]): void {
    const files = new Map<string, LeftJobs>();
    for (const id of ids) {
      if (id > this.jobs_end) continue;
      const file = this.#database.row(
        "left_jobs",
        "where last_id >= ? order by last_id limit 1",
        id,
      );
      const is_missing = file !== null && file.after_id < id && file.recalled_at_ms === null;
      if (is_missing) files.set(file.last_id, file);
    }
    if (files.size > 0) throw new RowsLeft([], [...files.values()].slice(0, RECALLED_AT_ONCE));
  }

  /** @throws RowsLeft if jobs between two ids are not here: the newest of them */
  requireJobsBetween(from_id: string, before_id: string): void {
    if (this.jobs_end === "" || from_id > this.jobs_end) return;
    const file = this.#database.row(
      "left_jobs",
      "where last_id >= ? and after_id < ? and recalled_at_ms is null order by last_id desc limit 1",
      from_id,
      before_id,
    );
    if (file !== null) throw new RowsLeft([], [file]);
  }

  /**
   * Requires what a page was chosen from: the entries of the range, newest first, down to its last row if it is full.
   * `joins_jobs`: the query chose the entries by their jobs.
   */
  requirePage(
    rows: readonly EntryRow[],
    { first, end, limit, joins_jobs }: PageRange & { readonly joins_jobs: boolean },
  ): void {
    const from = rows.length < limit ? first : (rows.at(-1)?.line ?? first);
    if (from >= this.oldest_line) return;
    this.requireEntries(from, end, SEGMENTS_OF_PAGE);
    if (!joins_jobs) return;
    const missing = this.#database.all<Pick<EntryRow, "job_id">>(
      `select distinct job_id from entries where line >= ? and line < ? and job_id is not null
       and not exists (select 1 from jobs where id = job_id)`,
      from,
      Math.min(end, this.oldest_line),
    );
    this.requireJobs(missing.flatMap(({ job_id }) => job_id ?? []));
  }

  /** As {@link requireJobs}, of entries: some of their jobs have rows here. */
  requireJobsOf(entries: readonly Pick<EntryRow, "job_id">[]): void {
    if (this.jobs_end === "") return;
    const ids = [...new Set(entries.flatMap(({ job_id }) => job_id ?? []))];
    const old = ids.filter((id) => id <= this.jobs_end);
    if (old.length === 0) return;
    const found = this.#database.all<{ readonly id: string }>(
      `select id from jobs where ${isAmong("id", "?")}`,
      JSON.stringify(old),
    );
    const here = new Set(found.map(({ id }) => id));
    this.requireJobs(old.filter((id) => !here.has(id)));
  }
}
