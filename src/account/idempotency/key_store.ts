/** The SQL of keys that lie in ledger lines: the lines one by one, and pages of many. */
import { asc } from "drizzle-orm";
import { matches } from "../parameters.ts";
import { entries, keptKeyPages } from "../schema.ts";
import { statement, type AccountDatabase } from "../statement.ts";
import type { EntryRow } from "../store.ts";

/** Keys of many lines in one row. */
export type KeyPage = typeof keptKeyPages.$inferSelect;

export type KeyedEntry = Pick<EntryRow, "line" | "kept_key" | "at_ms" | "keyed_before_line">;

const { line, kept_key, at_ms, keyed_before_line } = entries;
// One by one: a recursive query reads four rows for each line.
const keyed_entry = statement((database) =>
  database.select({ line, kept_key, at_ms, keyed_before_line }).from(entries).where(matches(line)),
);
const all_pages = statement((database) =>
  database.select().from(keptKeyPages).orderBy(asc(keptKeyPages.last_line)),
);

/** The SQL of keys over a migrated database. */
export function openKeyStore(database: AccountDatabase) {
  return {
    /** `count` keyed lines, from `newest_line` back, oldest first. Reads no other line. */
    readKeyedEntries(newest_line: number | null, count: number): KeyedEntry[] {
      const found: KeyedEntry[] = [];
      for (let next = newest_line; next !== null && found.length < count;) {
        const entry: KeyedEntry | undefined = keyed_entry(database).get({ line: next });
        if (entry !== undefined) found.push(entry);
        next = entry?.keyed_before_line ?? null;
      }
      return found.toReversed();
    },
    /** All pages, oldest first: at most `LINE_KEYS.pages_max`. */
    readPages: (): KeyPage[] => all_pages(database).all(),
    /** Writes a page over what its slot had before. */
    savePage: (page: KeyPage): void =>
      void database
        .insert(keptKeyPages)
        .values(page)
        .onConflictDoUpdate({ target: keptKeyPages.slot, set: page })
        .run(),
  };
}

export type KeyStore = ReturnType<typeof openKeyStore>;
