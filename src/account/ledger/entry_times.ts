/**
 * Times as line numbers. Lines are numbered without gaps and written in the order of time, so a time is
 * found by bisection, and no column needs an index, which would be a further written row for each line.
 */
import { desc } from "drizzle-orm";
import { atMost, matches } from "../sql/parameters.ts";
import { entries } from "../sql/schema.ts";
import { query, type AccountDatabase } from "../sql/query.ts";

const newest_line = query((database) => {
  const { line } = entries;
  return database.select({ line }).from(entries).orderBy(desc(line)).limit(atMost(1));
});
const time_of_line = query((database) => {
  const { line, at_ms } = entries;
  return database.select({ at_ms }).from(entries).where(matches(line));
});

/** The newest line's number; 0 where nothing is written. */
export function newestLine(database: AccountDatabase): number {
  return newest_line(database).get()?.line ?? 0;
}

/**
 * The first line not written before `at_ms`; the one after `newest` where there is none. Where a clock
 * went back, one of those around it. Reads 2 lines for each doubling of the history.
 */
export function lineAt(database: AccountDatabase, newest: number, at_ms: number): number {
  let [low, high] = [1, newest + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const written_at_ms = time_of_line(database).get({ line: middle })?.at_ms;
    if ((written_at_ms ?? at_ms) < at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
