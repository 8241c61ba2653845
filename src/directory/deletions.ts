/**
 * Records of requested account deletions. Each is written before the deletion and kept for some time. The
 * schedule completes an interrupted deletion, and repeats each one for requests that were in progress.
 */
import { and, asc, eq, lte } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { deletions } from "./schema.ts";

export function createDeletionRecords(binding: D1Database) {
  const database = drizzle(binding);
  return {
    /** Records that an account may be deleted from now on. A repeated call updates the time. */
    async write(identity_id: string, requested_at_ms: number): Promise<void> {
      await database
        .insert(deletions)
        .values({ identity_id, requested_at_ms })
        .onConflictDoUpdate({ target: deletions.identity_id, set: { requested_at_ms } });
    },
    /** Identities recorded up to a time, oldest first, at most `limit`. */
    async list(to_ms: number, limit: number): Promise<readonly string[]> {
      const rows = await database
        .select({ identity_id: deletions.identity_id })
        .from(deletions)
        .where(lte(deletions.requested_at_ms, to_ms))
        .orderBy(asc(deletions.requested_at_ms))
        .limit(limit);
      return rows.map(({ identity_id }) => identity_id);
    },
    /** Deletes a record unless it was written again since that time. */
    async drop(identity_id: string, to_ms: number): Promise<void> {
      const recorded = and(
        eq(deletions.identity_id, identity_id),
        lte(deletions.requested_at_ms, to_ms),
      );
      await database.delete(deletions).where(recorded);
    },
    async has(identity_id: string): Promise<boolean> {
      return (await database.$count(deletions, eq(deletions.identity_id, identity_id))) > 0;
    },
  };
}
