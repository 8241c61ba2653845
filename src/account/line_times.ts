/**
 * Times as line numbers. Lines are numbered without gaps and written in the order of time, so a time is
 * found by bisection, and no column needs an index, which would be a further written row for each line.
 */
import { desc, eq } from "drizzle-orm";
import { entries } from "./schema.ts";
import type { AccountDatabase } from "./store.ts";

/** The newest line's number; 0 where nothing is written. */
export function newestLine(database: AccountDatabase): number {
  const { line } = entries;
  return database.select({ line }).from(entries).orderBy(desc(line)).limit(1).get()?.line ?? 0;
}

/**
 * The first line not written before `at_ms`; the one after `newest` where there is none. Where a clock
 * went back, one of those around it. Reads 2 lines for each doubling of the history.
 */
export function lineAt(database: AccountDatabase, newest: number, at_ms: number): number {
  let [low, high] = [1, newest + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const written_at_ms = timeOf(database, middle);
    if ((written_at_ms ?? at_ms) < at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

function timeOf(database: AccountDatabase, line: number): number | undefined {
  const { at_ms } = entries;
  return database.select({ at_ms }).from(entries).where(eq(entries.line, line)).get()?.at_ms;
}
