/**
 * Entry numbers of times. Entries are numbered without gaps, and their times never go back (see `posting.ts`), so a time
 * is found by bisection. An index of the times would cost one more written row for each entry.
 */
import { desc } from "drizzle-orm";
import { atMost, matches } from "../sql/parameters.ts";
import { entries } from "../sql/schema.ts";
import { query, type AccountDatabase } from "../sql/query.ts";

const newest_number = query((database) => {
  const { line } = entries;
  return database.select({ line }).from(entries).orderBy(desc(line)).limit(atMost(1));
});
const time_of_entry = query((database) => {
  const { line, at_ms } = entries;
  return database.select({ at_ms }).from(entries).where(matches(line));
});

/** The number of the newest entry; 0 without entries. */
export function newestNumber(database: AccountDatabase): number {
  return newest_number(database).get()?.line ?? 0;
}

/** The number of the first entry at or after `at_ms`, or `newest + 1`. Reads one entry for each doubling of the history. */
export function numberAt(database: AccountDatabase, newest: number, at_ms: number): number {
  let [low, high] = [1, newest + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const written_at_ms = time_of_entry(database).get({ line: middle })?.at_ms;
    if ((written_at_ms ?? at_ms) < at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
