/** Reading the passbook: pages of lines, filtered, in bounded work whatever the history. */
import { LEDGER_CLOCK_SKEW_MS, LEDGER_SCAN_MAX_LINES } from "../domain/limits.ts";
import { visibleApps } from "./admission.ts";
import type { EntryPage, ListEntriesRequest } from "./contract.ts";
import type { Transaction } from "./ledger.ts";
import type { Store } from "./store.ts";

/** Lines from `first` on, before `end`. */
interface Range {
  readonly first: number;
  readonly end: number;
}

/**
 * One page of the lines that match. Lines are numbered without gaps and written in the order of time,
 * so times become line numbers by bisection, and no filter needs an index, which would be a further
 * written row for each line. Reads at most {@link LEDGER_SCAN_MAX_LINES} lines, and 2 for each
 * doubling of the history.
 */
export function listEntries(transaction: Transaction, request: ListEntriesRequest): EntryPage {
  const { store } = transaction;
  const range = rangeOf(store, request);
  const first = Math.max(range.first, range.end - LEDGER_SCAN_MAX_LINES);
  const { limit, ...filter } = request;
  const rows = store.listEntries({
    ...filter,
    visible_apps: visibleApps(transaction),
    from_line: first,
    before_line: range.end,
    limit: limit + 1,
  });
  if (rows.length > limit) {
    const page = rows.slice(0, limit);
    return { rows: page, next_line: page.at(-1)?.line ?? null };
  }
  return { rows, next_line: first > range.first ? first : null };
}

function rangeOf(store: Store, request: ListEntriesRequest): Range {
  const { before_line, from_ms, to_ms, job_id } = request;
  const newest = store.readNewestEntry()?.line ?? 0;
  const all = { first: 1, end: Math.min(newest + 1, before_line ?? newest + 1) };
  const life = job_id === undefined ? all : lifeOf(store, job_id, newest);
  const since = from_ms === undefined ? 1 : lineAt(store, newest, from_ms - LEDGER_CLOCK_SKEW_MS);
  const until = to_ms === undefined ? all.end : lineAt(store, newest, to_ms + LEDGER_CLOCK_SKEW_MS);
  return { first: Math.max(life.first, since), end: Math.min(all.end, life.end, until) };
}

/** Where a job's lines are: between its creation and its last change. Nowhere where there is no job. */
function lifeOf(store: Store, job_id: string, newest: number): Range {
  const job = store.readJob(job_id);
  if (job === null) return { first: 1, end: 1 };
  const first = lineAt(store, newest, job.created_at_ms - LEDGER_CLOCK_SKEW_MS);
  return { first, end: job.line + 1 };
}

/** The first line not written before `at_ms`; the one after the newest where there is none. */
function lineAt(store: Store, newest: number, at_ms: number): number {
  let [low, high] = [1, newest + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((store.readEntryTime(middle) ?? at_ms) < at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
