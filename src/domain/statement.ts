/**
 * The rows of a statement: one for each job, and one for each other entry. Pure.
 *
 * A row is about what the holder owns: the balance and the credits held for started jobs, together. To hold credits
 * changes nothing of that, so a job changes it only by its cost. A job's row stands at its newest entry in the period,
 * and its change is that of the job's entries in the period. So the changes of a period's rows add up to the change of
 * what the holder owns, and a month that is over keeps its sums, even if a job is refunded later.
 */
import { isListed, type EntryKind, type Posting, type RunningBalance } from "./ledger.ts";

/** The kinds of rows to choose from. */
export const STATEMENT_GROUPS = ["jobs", "purchases", "starter", "other"] as const;
export type StatementGroup = (typeof STATEMENT_GROUPS)[number];

const GROUPS: Readonly<Record<EntryKind, StatementGroup>> = {
  open: "other",
  grant: "starter",
  reserve: "jobs",
  settle: "jobs",
  refund: "jobs",
  job_refund: "jobs",
  adjustment: "other",
  purchase: "purchases",
  purchase_refund: "purchases",
  plan: "other",
  suspend: "other",
  restore: "other",
  debt: "other",
  expire: "other",
  recurring: "other",
  rollover: "other",
  recovery: "other",
};

/** The kinds of entries in a group. */
export function kindsOf(group: StatementGroup): readonly EntryKind[] {
  return (Object.keys(GROUPS) as EntryKind[]).filter((kind) => GROUPS[kind] === group);
}

type Books = Pick<RunningBalance, "balance_after" | "reserved_after">;

/** The holder's credits after an entry; 0 before the first. */
export function ownedAfter(entry: Books | null): number {
  return entry === null ? 0 : entry.balance_after + entry.reserved_after;
}

/** The parts of an entry that the rules need. */
export interface LinkedEntry extends Pick<Posting, "kind" | "amount" | "job_id" | "previous_line"> {
  readonly line: number;
}

/** Where the entries are. */
interface StatementSource<Entry extends LinkedEntry> {
  /** The first matching listed entries below `end` and not below `first`, newest first. */
  read(first: number, end: number, count: number): readonly Entry[];
  readEntry(line: number): Entry | null;
  /** The number of a job's newest listed entry; null for an unknown job. */
  newestOf(job_id: string): number | null;
}

interface StatementRange {
  /** The period: the entries from `first` on, before `end`. */
  readonly first: number;
  readonly end: number;
  /** Rows before this entry number: where the page before ended. */
  readonly below: number;
  readonly limit: number;
  /**
   * The most entries that one page passes, and the most listed ones that it reads. Then it may be short or even empty, and
   * still have a next page.
   */
  readonly scan_max: number;
  readonly read_max: number;
}

export interface StatementRowPage<Entry> {
  /** Newest first. Each row has its entries of the period, newest first; only a job's row has several. */
  readonly rows: readonly (readonly Entry[])[];
  /** The `below` of the next page; null on the last one. */
  readonly next: number | null;
}

/** Entries that are read at a time. */
const PORTION_LINES = 100;

export function statementRows<Entry extends LinkedEntry>(
  source: StatementSource<Entry>,
  { first, end, below, limit, scan_max, read_max }: StatementRange,
): StatementRowPage<Entry> {
  const rows: (readonly Entry[])[] = [];
  const lives = new Map<string, readonly Entry[]>();
  let next = Math.min(below, end);
  const lowest = Math.max(first, next - scan_max);
  for (let read = 0; next > lowest && read < read_max; read += PORTION_LINES) {
    const portion = source.read(lowest, next, PORTION_LINES);
    for (const entry of portion) {
      const row = rowAt(source, lives, entry, first, end);
      // The page is full, and there is one more row.
      if (row !== null && rows.length === limit) return { rows, next };
      if (row !== null) rows.push(row);
      next = entry.line;
    }
    if (portion.length < PORTION_LINES) next = lowest;
  }
  return { rows, next: next > first ? next : null };
}

/**
 * The row that stands at this entry; null if its job has a newer listed entry in the period. `lives`: the entries of the jobs
 * that were read, because a long job has many.
 */
function rowAt<Entry extends LinkedEntry>(
  source: StatementSource<Entry>,
  lives: Map<string, readonly Entry[]>,
  entry: Entry,
  first: number,
  end: number,
): readonly Entry[] | null {
  const { job_id } = entry;
  const newest = job_id === null ? null : source.newestOf(job_id);
  if (newest === null || job_id === null) return [entry];
  const life = lives.get(job_id) ?? entriesFrom(source, newest);
  lives.set(job_id, life);
  // An operator restored the account to a time before this entry, so its job does not have it any more.
  if (!life.some(({ line }) => line === entry.line)) return [entry];
  const own = life.filter((it) => it.line >= first && it.line < end && isListed(it));
  return own[0]?.line === entry.line ? own : null;
}

/** A job's entries from its newest one, newest first. */
export function entriesFrom<Entry extends LinkedEntry>(
  source: Pick<StatementSource<Entry>, "readEntry">,
  newest: number,
): readonly Entry[] {
  const found: Entry[] = [];
  for (let line: number | null = newest; line !== null;) {
    const entry: Entry | null = source.readEntry(line);
    if (entry === null) break;
    found.push(entry);
    line = entry.previous_line;
  }
  return found;
}
