/**
 * Debts of deleted accounts. A debt is assigned to one user of the person, then that user's account takes it over, then its
 * row is deleted, or marked if the debt may still change. The next sign-in completes an interrupted one.
 */
import { and, eq, inArray, isNull, or, sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Debt } from "../port.ts";
import { debts } from "./schema.ts";

/** Assigns a person's debts to one of their users, and returns them. From then on no other user gets them. */
export async function assignDebts(
  database: DrizzleD1Database,
  user_id: string,
): Promise<readonly Debt[]> {
  const { person_id, id, credits, owed_by } = debts;
  const theirs = eq(person_id, sql`(select person_id from users where id = ${user_id})`);
  return database
    .update(debts)
    .set({ owed_by: user_id })
    .where(and(theirs, eq(debts.is_taken, false), or(isNull(owed_by), eq(owed_by, user_id))))
    .returning({ id, credits });
}

/**
 * Deletes or marks debts that the user's account has taken over. One that changed meanwhile stays: the next sign-in takes
 * the change over.
 */
export async function dropDebts(
  database: DrizzleD1Database,
  user_id: string,
  taken_over: readonly Debt[],
): Promise<void> {
  const ids = taken_over.map(({ id }) => id);
  const unchanged = sql`exists (select 1 from json_each(${JSON.stringify(taken_over)})
    where value ->> '$.id' = ${debts.id} and value ->> '$.credits' = ${debts.credits})`;
  await database.batch(dropTakenOver(database, user_id, ids, unchanged));
}

/** The queries that delete or mark debts that the user's account has taken over. */
export function dropTakenOver(
  database: DrizzleD1Database,
  user_id: string,
  ids: readonly string[],
  condition?: SQL,
) {
  const listed = sql`(select value from json_each(${JSON.stringify(ids)}))`;
  const taken_over = and(eq(debts.owed_by, user_id), inArray(debts.id, listed), condition);
  return [
    database.delete(debts).where(and(taken_over, eq(debts.may_change, false))),
    database.update(debts).set({ is_taken: true }).where(taken_over),
  ] as const;
}

/** Sets what a deleted account owes. @returns the debt, and the user whose account took it over (null: none did). */
export async function changeDebt(
  database: DrizzleD1Database,
  ids: readonly string[],
  credits: number,
): Promise<{ readonly id: string; readonly taken_by: string | null } | null> {
  const [changed] = await database
    .update(debts)
    .set({ credits })
    .where(inArray(debts.id, [...ids]))
    .returning();
  if (changed === undefined) return null;
  return { id: changed.id, taken_by: changed.is_taken ? changed.owed_by : null };
}
