/**
 * Entry numbers of times. Entries are numbered without gaps, and their times never go back (see `posting.ts`), so a time
 * is found by bisection. An index of the times would cost one more written row for each entry.
 */
import type { AccountDatabase } from "../sql/database.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

/** An account's tables. */
interface Tables {
  readonly database: AccountDatabase;
  readonly store: Store;
}

/** The number of the newest entry; 0 without entries. */
export function newestNumber(database: AccountDatabase): number {
  const query = "select line from entries order by line desc limit 1";
  return database.first<Pick<EntryRow, "line">>(query)?.line ?? 0;
}

/**
 * The number of the first entry at or after `at_ms`, or `newest + 1`. Reads one entry for each doubling of the history.
 * @throws RowsLeft if the entry is only in the archive
 */
export function numberAt({ database, store }: Tables, newest: number, at_ms: number): number {
  const time_of_entry = "select at_ms from entries where line = ?";
  const segment = store.left.segmentAt(at_ms);
  if (segment !== null) store.left.requireEntries(segment.first, segment.last + 1);
  let [low, high] =
    segment === null
      ? [store.left.oldest_line, newest + 1]
      : [segment.first, Math.min(segment.last + 1, newest + 1)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = database.first<Pick<EntryRow, "at_ms">>(time_of_entry, middle);
    if ((entry?.at_ms ?? at_ms) < at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
