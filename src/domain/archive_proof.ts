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
  readonly #problems: string[] = [];
  readonly #jobs = new Map<string, ReplayedJob>();
  #newest = NOTHING;
  #at_time = NOTHING;

  /** `until_ms`: the time of {@link at_time}. */
  constructor(until_ms: number) {
    this.#until_ms = until_ms;
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
    if (table === "entries") this.#addEntry(row);
    // A row is newer than those of earlier segments, and may be newer than the segment's entries.
    if (table === "jobs") {
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

  #addEntry(row: SegmentRow["row"]): void {
    const entry = entryOf(row);
    const before = this.#newest;
    const name = `entry ${before.line + 1}`;
    if (entry === null) return this.#report(`${name} lacks a number or its job`);
    const { line, amount, balance_after, reserved_after, at_ms } = entry;
    if (line !== before.line + 1) {
      this.#report(`after entry ${before.line} comes entry ${line}`);
    }
    if (balance_after !== before.credits + amount) {
      const sum = before.credits + amount;
      this.#report(`entry ${line} says a balance of ${balance_after}, but it must be ${sum}`);
    }
    if (reserved_after < 0) this.#report(`entry ${line} holds less than nothing`);
    if (at_ms < before.at_ms) this.#report(`entry ${line} is earlier than the entry before it`);
    const held = reserved_after - before.held;
    const started = entry.open_jobs - before.started_jobs;
    if (entry.job_id !== null) this.#addToJob(entry.job_id, entry, held, started);
    else if (held !== 0 || started !== 0) this.#report(`entry ${line} holds credits without a job`);
    this.#newest = {
      line,
      credits: balance_after,
      held: reserved_after,
      started_jobs: entry.open_jobs,
      at_ms,
    };
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

function entryOf(row: SegmentRow["row"]): Entry | null {
  const { job_id, previous_line } = row;
  const is_complete =
    NUMBERS.every((column) => Number.isSafeInteger(row[column])) &&
    (job_id === null || typeof job_id === "string") &&
    (previous_line === null || Number.isSafeInteger(previous_line));
  return is_complete ? (row as unknown as Entry) : null;
}
