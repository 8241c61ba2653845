/** Forgetting a person: of their identities only tombstones stay, of the person nothing. */
import { and, eq, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Origin } from "./users.ts";
import { identities, sessions, tombstones, users } from "./schema.ts";

/** See `keys/pseudonym.ts`. */
export type PseudonymsOf = (identity: readonly string[]) => Promise<readonly [string, ...string[]]>;

/** The last round finds nothing left. A link under way may make one more: the first ends its session. */
const ROUNDS_MAX = 4;

/** Forgets a user with their sessions and identities. Again, it changes nothing. */
export async function forgetPerson(
  database: DrizzleD1Database,
  pseudonymsOf: PseudonymsOf,
  user_id: string,
): Promise<void> {
  const theirs = eq(identities.user_id, user_id);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const linked = await database.select().from(identities).where(theirs);
    const forgetting = linked.map((origin) => forgetIdentity(database, pseudonymsOf, origin));
    const none_left = sql`not exists (select 1 from identities where user_id = ${user_id})`;
    // One transaction: an identity is never gone without its tombstone.
    await database.batch([
      database.delete(sessions).where(eq(sessions.user_id, user_id)),
      ...(await Promise.all(forgetting)).flat(),
      database.delete(users).where(and(eq(users.id, user_id), none_left)),
    ]);
    if (linked.length === 0) return;
  }
  throw new Error("identities are linked as fast as they are forgotten");
}

async function forgetIdentity(
  database: DrizzleD1Database,
  pseudonymsOf: PseudonymsOf,
  origin: typeof identities.$inferSelect,
) {
  const { provider, subject, user_id } = origin;
  const [pseudonym] = await pseudonymsOf(nameOf(origin));
  return [
    database
      .insert(tombstones)
      .values({ pseudonym, deleted_at_ms: Date.now() })
      .onConflictDoNothing(),
    database
      .delete(identities)
      .where(
        and(
          eq(identities.provider, provider),
          eq(identities.subject, subject),
          eq(identities.user_id, user_id),
        ),
      ),
  ] as const;
}

/** What a tombstone is the pseudonym of. */
export function nameOf({ provider, subject }: Pick<Origin, "provider" | "subject">): string[] {
  return ["identity", provider, subject];
}
