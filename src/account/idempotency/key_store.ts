/** The SQL of keys that lie in ledger lines: the lines one by one, and pages of many. */
import { asc, eq } from "drizzle-orm";
import { onFirstUse } from "../on_first_use.ts";
import { entries, keptKeyPages } from "../schema.ts";
import { value, type AccountDatabase, type EntryRow } from "../store.ts";

/** Keys of many lines in one row. */
export type KeyPage = typeof keptKeyPages.$inferSelect;

export type KeyedEntry = Pick<EntryRow, "line" | "kept_key" | "at_ms" | "keyed_before_line">;

/** The statements over a migrated database. */
export function openKeyStore(database: AccountDatabase) {
  const { line, kept_key, at_ms, keyed_before_line } = entries;
  // One by one: a recursive query reads four rows for each line.
  const keyed_entry = onFirstUse(() =>
    database
      .select({ line, kept_key, at_ms, keyed_before_line })
      .from(entries)
      .where(eq(line, value("line")))
      .prepare(),
  );
  return {
    /** `count` keyed lines, from `newest_line` back, oldest first. Reads no other line. */
    readKeyedEntries(newest_line: number | null, count: number): KeyedEntry[] {
      const found: KeyedEntry[] = [];
      for (let next = newest_line; next !== null && found.length < count;) {
        const entry: KeyedEntry | undefined = keyed_entry().get({ line: next });
        if (entry !== undefined) found.push(entry);
        next = entry?.keyed_before_line ?? null;
      }
      return found.toReversed();
    },
    /** All pages, oldest first: at most `LINE_KEYS.pages_max`. */
    readPages: (): KeyPage[] =>
      database.select().from(keptKeyPages).orderBy(asc(keptKeyPages.last_line)).all(),
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
