/**
 * Replays the archived entries of one account, and says what cannot be true: a gap, a balance that is not the sum of its
 * entries, held credits that no started job reserves, a job that ends twice. Pure.
 */
import type { SegmentRow } from "./archive_segment.ts";

/** The most problems that are listed for one account. What follows a wrong entry is often wrong too. */
const PROBLEMS_MAX = 20;

/** An account after an entry. */
export interface ProvenBalance {
  /** The number of the entry; 0: none. */
  readonly line: number;
  /** Available credits. */
  readonly credits: number;
  /** Credits that started jobs reserve. */
  readonly held: number;
  readonly started_jobs: number;
  /** The entry's time, in milliseconds since the epoch. */
  readonly at_ms: number;
}

/** The columns of an entry that the replay reads. */
const NUMBERS = [
  "line",
  "amount",
  "balance_after",
  "reserved_after",
  "open_jobs",
  "at_ms",
] as const;
type Entry = Readonly<Record<(typeof NUMBERS)[number], number>> & {
  readonly job_id: string | null;
  readonly previous_line: number | null;
};

/** An entry by which the account was restored: after it, the account is as after the entry `to_line`. */
export interface Recovery {
  readonly line: number;
  readonly to_line: number;
}

/** Entries that a restore undid. They are part of the chain, and count for nothing else. */
export interface UndoneRange {
  readonly first: number;
  readonly last: number;
  /** The entry that undid them. */
  readonly by: number;
}

/** Null: the row is not such an entry. Other entries of this kind bring payments back that came after the time. */
export function recoveryOf({ kind, line, previous_line }: SegmentRow["row"]): Recovery[] | null {
  const is_recovery = kind === "recovery" && Number.isSafeInteger(previous_line);
  return is_recovery ? [{ line: Number(line), to_line: Number(previous_line) }] : null;
}

/** What restores undid, in order. A restore that a later one undid counts for nothing either. */
export function undoneRanges(recoveries: readonly Recovery[]): readonly UndoneRange[] {
  const ranges: UndoneRange[] = [];
  for (const { line, to_line } of recoveries.toReversed()) {
    const is_undone = ranges.some(({ first, last }) => line >= first && line <= last);
    if (!is_undone) ranges.push({ first: to_line + 1, last: line - 1, by: line });
  }
  return ranges.toReversed();
}

/** A job as its entries so far say. */
interface ReplayedJob {
  line: number;
  held: number;
  /** The sum of its entries' amounts. */
  amount: number;
  is_started: boolean;
  /** Its newest row; null: none yet. */
  row: SegmentRow["row"] | null;
}

const NOTHING: ProvenBalance = { line: 0, credits: 0, held: 0, started_jobs: 0, at_ms: 0 };

export class ArchiveReplay {
  readonly #until_ms: number;
  readonly #undone: readonly UndoneRange[];
  readonly #problems: string[] = [];
  readonly #jobs = new Map<string, ReplayedJob>();
  #newest = NOTHING;
  #last_line = 0;
  #at_time = NOTHING;

  /** `until_ms`: the time of {@link at_time}. `undone`: entries that count for nothing. */
  constructor(until_ms: number, undone: readonly UndoneRange[] = []) {
    this.#until_ms = until_ms;
    this.#undone = undone;
  }

  /** What cannot be true, as sentences. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** The account after its newest archived entry. */
  get newest(): ProvenBalance {
    return this.#newest;
  }

  /** The account at `until_ms`. */
  get at_time(): ProvenBalance {
    return this.#at_time;
  }

  /** Adds the next row. Rows come in the order of their segments. */
  add({ table, row }: SegmentRow): void {
    const is_undone = this.#isUndone(Number(row["line"]));
    if (table === "entries") {
      if (is_undone) this.#passUndone(row);
      else this.#addEntry(row);
      this.#last_line = Number(row["line"]);
    }
    // A row is newer than those of earlier segments, and may be newer than the segment's entries.
    if (table === "jobs" && !is_undone) {
      const job = this.#jobs.get(String(row["id"]));
      if (job !== undefined) job.row = row;
    }
  }

  /** Compares the jobs with their entries, after the last row. */
  finish(): void {
    for (const [id, { line, held, amount, is_started, row }] of this.#jobs) {
      // A row that is newer than the archive belongs to entries that it does not have yet.
      if (row === null || Number(row["line"]) > this.#newest.line) continue;
      if (row["line"] !== line) this.#report(`job ${id} does not name its newest entry, ${line}`);
      const is_row_started = row["status"] === "started";
      if (is_row_started !== is_started) {
        this.#report(`job ${id} is ${String(row["status"])}, but its entries say otherwise`);
      }
      const cost = is_started ? held : Number(row["actual_cost"]) - Number(row["refunded"]);
      if (0 - amount !== cost) {
        this.#report(`job ${id} costs ${cost} credits, but its entries take ${0 - amount}`);
      }
    }
  }

  #isUndone(line: number): boolean {
    return this.#undone.some(({ first, last }) => line >= first && line <= last);
  }

  /** {@link at_time} is what the account said then, even if a restore undid it later. */
  #passUndone(row: SegmentRow["row"]): void {
    const entry = entryOf(row);
    if (entry !== null && entry.at_ms <= this.#until_ms) this.#at_time = balanceAfter(entry);
  }

  #addEntry(row: SegmentRow["row"]): void {
    const entry = entryOf(row);
    const before = this.#newest;
    const name = `entry ${this.#last_line + 1}`;
    if (entry === null) return this.#report(`${name} lacks a number or its job`);
    const { line, amount, balance_after, reserved_after, at_ms } = entry;
    if (line !== this.#last_line + 1) {
      this.#report(`after entry ${this.#last_line} comes entry ${line}`);
    }
    // Its amount is the difference to the entries that it undoes.
    const sum = recoveryOf(row) === null ? before.credits + amount : before.credits;
    if (balance_after !== sum) {
      this.#report(`entry ${line} says a balance of ${balance_after}, but it must be ${sum}`);
    }
    if (reserved_after < 0) this.#report(`entry ${line} holds less than nothing`);
    if (at_ms < before.at_ms) this.#report(`entry ${line} is earlier than the entry before it`);
    const held = reserved_after - before.held;
    const started = entry.open_jobs - before.started_jobs;
    if (entry.job_id !== null) this.#addToJob(entry.job_id, entry, held, started);
    else if (held !== 0 || started !== 0) this.#report(`entry ${line} holds credits without a job`);
    this.#newest = balanceAfter(entry);
    if (at_ms <= this.#until_ms) this.#at_time = this.#newest;
  }

  #addToJob(id: string, entry: Entry, held: number, started: number): void {
    const { line, amount } = entry;
    const known = this.#jobs.get(id);
    const job = known ?? { line: 0, held: 0, amount: 0, is_started: false, row: null };
    this.#jobs.set(id, job);
    if ((entry.previous_line ?? 0) !== job.line) {
      this.#report(`entry ${line} does not follow the newest entry of job ${id}`);
    }
    if (known === undefined && started !== 1) {
      this.#report(`entry ${line} changes job ${id}, which was never started`);
    }
    if (started === 1) {
      if (known !== undefined) this.#report(`entry ${line} starts job ${id} a second time`);
      job.is_started = true;
    } else if (started === -1) {
      if (!job.is_started) this.#report(`entry ${line} ends job ${id} a second time`);
      job.is_started = false;
    } else if (started !== 0) {
      this.#report(`entry ${line} starts or ends more than one job`);
    }
    job.line = line;
    job.held += held;
    job.amount += amount;
    if (job.held < 0 || (!job.is_started && job.held !== 0)) {
      this.#report(`after entry ${line}, job ${id} holds ${job.held} credits`);
    }
  }

  #report(problem: string): void {
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push(problem);
  }
}

function balanceAfter(entry: Entry): ProvenBalance {
  const { line, balance_after: credits, reserved_after: held, open_jobs, at_ms } = entry;
  return { line, credits, held, started_jobs: open_jobs, at_ms };
}

function entryOf(row: SegmentRow["row"]): Entry | null {
  const { job_id, previous_line } = row;
  const is_complete =
    NUMBERS.every((column) => Number.isSafeInteger(row[column])) &&
    (job_id === null || typeof job_id === "string") &&
    (previous_line === null || Number.isSafeInteger(previous_line));
  return is_complete ? (row as unknown as Entry) : null;
}
