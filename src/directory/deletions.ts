/**
 * Notes of accounts about to be deleted, each written before it happens and kept for a while after: what
 * was cut off is found here and finished, and what was under way meanwhile is met by a second look.
 */
import { and, asc, eq, lte } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { deletions } from "./schema.ts";

export interface DeletionNotes {
  /** Notes that an account may be deleted from now on. Again, it moves the note's time on. */
  write(identity_id: string, asked_at_ms: number): Promise<void>;
  /** Identities noted up to a moment, oldest first, `limit` at most. */
  list(to_ms: number, limit: number): Promise<readonly string[]>;
  /** Drops a note, unless it was written anew since that moment. */
  drop(identity_id: string, to_ms: number): Promise<void>;
}

/** The notes in the directory's database. */
export function createDeletionNotes(binding: D1Database): DeletionNotes {
  const database = drizzle(binding);
  return {
    async write(identity_id, asked_at_ms) {
      await database
        .insert(deletions)
        .values({ identity_id, asked_at_ms })
        .onConflictDoUpdate({ target: deletions.identity_id, set: { asked_at_ms } });
    },
    async list(to_ms, limit) {
      const rows = await database
        .select({ identity_id: deletions.identity_id })
        .from(deletions)
        .where(lte(deletions.asked_at_ms, to_ms))
        .orderBy(asc(deletions.asked_at_ms))
        .limit(limit);
      return rows.map(({ identity_id }) => identity_id);
    },
    async drop(identity_id, to_ms) {
      const noted = and(eq(deletions.identity_id, identity_id), lte(deletions.asked_at_ms, to_ms));
      await database.delete(deletions).where(noted);
    },
  };
}
