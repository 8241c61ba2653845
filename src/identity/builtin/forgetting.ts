/** Deletes a person. What remains: tombstones of their identities, and the debt of their account. */
import { and, eq, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Owed } from "../port.ts";
import { dropTakenOver } from "./debts.ts";
import type { IdentityStore } from "./identity_queries.ts";
import { debts, identities, sessions, users } from "./schema.ts";
import { leaveTombstone, nameOf, type PseudonymsOf } from "./tombstones.ts";

/**
 * The last round finds nothing. A link in progress may cause one more, because the first round ends its
 * session.
 */
const ROUNDS_MAX = 4;

/** A user to delete, and what their account owed. */
interface Forgotten {
  readonly user_id: string;
  readonly owed: Owed;
}

/** Deletes a user with their sessions and identities; may be repeated. */
export async function forgetPerson(
  { database, pseudonymsOf, copy }: IdentityStore,
  { user_id, owed }: Forgotten,
): Promise<void> {
  const theirs = eq(identities.user_id, user_id);
  // The same id in each round, so that the debt is written once.
  const [debt_id] = await pseudonymsOf(["debt", user_id]);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const linked = await database.select().from(identities).where(theirs);
    const forgetting = linked.map((origin) => forgetIdentity(database, pseudonymsOf, origin));
    const none_left = sql`not exists (select 1 from identities where user_id = ${user_id})`;
    // One transaction: an identity is never deleted without its tombstone, and a user never without their debt.
    await database.batch([
      database.delete(sessions).where(eq(sessions.user_id, user_id)),
      // Debts that the account took over are part of what it owed. The next account owes the others.
      ...dropTakenOver(database, user_id, owed.debt_ids),
      database
        .update(debts)
        .set({ owed_by: null })
        .where(and(eq(debts.owed_by, user_id), eq(debts.is_taken, false))),
      database
        .insert(debts)
        .select(
          sql`
            select person_id, ${debt_id}, ${owed.credits}, null, 0, ${owed.may_change} from users
            where id = ${user_id} and (${owed.credits} > 0 or ${owed.may_change})`,
        )
        .onConflictDoNothing(),
      ...(await Promise.all(forgetting)).flat(),
      database.delete(users).where(and(eq(users.id, user_id), none_left)),
    ]);
    if (linked.length === 0) return copy.left();
  }
  throw new Error("identities are linked as fast as they are deleted");
}

async function forgetIdentity(
  database: DrizzleD1Database,
  pseudonymsOf: PseudonymsOf,
  origin: typeof identities.$inferSelect,
) {
  const { provider, subject, user_id } = origin;
  const [pseudonym] = await pseudonymsOf(nameOf(origin));
  return [
    leaveTombstone(database, pseudonym, origin),
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
