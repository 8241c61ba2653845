/**
 * Records of requested account deletions. Each is written before the deletion and kept for some time. The
 * schedule completes an interrupted deletion, and repeats each one for requests that were in progress.
 */
import { and, asc, eq, lte } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { deletions } from "./schema.ts";

export interface DeletionRecords {
  /** Records that an account may be deleted from now on. A repeated call updates the time. */
  write(identity_id: string, requested_at_ms: number): Promise<void>;
  /** Identities recorded up to a time, oldest first, at most `limit`. */
  list(to_ms: number, limit: number): Promise<readonly string[]>;
  /** Deletes a record unless it was written again since that time. */
  drop(identity_id: string, to_ms: number): Promise<void>;
  has(identity_id: string): Promise<boolean>;
}

export function createDeletionRecords(binding: D1Database): DeletionRecords {
  const database = drizzle(binding);
  return {
    async write(identity_id, requested_at_ms) {
      await database
        .insert(deletions)
        .values({ identity_id, requested_at_ms })
        .onConflictDoUpdate({ target: deletions.identity_id, set: { requested_at_ms } });
    },
    async list(to_ms, limit) {
      const rows = await database
        .select({ identity_id: deletions.identity_id })
        .from(deletions)
        .where(lte(deletions.requested_at_ms, to_ms))
        .orderBy(asc(deletions.requested_at_ms))
        .limit(limit);
      return rows.map(({ identity_id }) => identity_id);
    },
    async drop(identity_id, to_ms) {
      const recorded = and(
        eq(deletions.identity_id, identity_id),
        lte(deletions.requested_at_ms, to_ms),
      );
      await database.delete(deletions).where(recorded);
    },
    async has(identity_id) {
      return (await database.$count(deletions, eq(deletions.identity_id, identity_id))) > 0;
    },
  };
}
