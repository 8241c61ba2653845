/**
 * Debts of deleted accounts. A debt is assigned to one user of the person, then that user's account takes it
 * over, then its row is deleted. The next sign-in completes an interrupted one.
 */
import { and, eq, inArray, isNull, or, sql } from "drizzle-orm";
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
    .where(and(theirs, or(isNull(owed_by), eq(owed_by, user_id))))
    .returning({ id, credits });
}

/** Deletes debts that the user's account has taken over. */
export async function dropDebts(
  database: DrizzleD1Database,
  user_id: string,
  taken_over: readonly Debt[],
): Promise<void> {
  const ids = taken_over.map(({ id }) => id);
  await dropTakenOver(database, user_id, ids);
}

/** The query that deletes debts that the user's account has taken over. */
export function dropTakenOver(
  database: DrizzleD1Database,
  user_id: string,
  ids: readonly string[],
) {
  const listed = sql`(select value from json_each(${JSON.stringify(ids)}))`;
  return database.delete(debts).where(and(eq(debts.owed_by, user_id), inArray(debts.id, listed)));
}
