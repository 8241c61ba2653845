/**
 * What deleted accounts owed. A debt is assigned to one user of the person first, then their account takes
 * it over, then its row goes: a sign-in that is cut off in between is completed by the next.
 */
import { and, eq, inArray, isNull, or, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { Debt } from "../port.ts";
import { debts } from "./schema.ts";

/** The debts of a person that a user's account is to take over. From then on no other user's does. */
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

/** Says that the user's account owes these debts now. */
export async function dropDebts(
  database: DrizzleD1Database,
  user_id: string,
  taken_over: readonly Debt[],
): Promise<void> {
  const ids = taken_over.map(({ id }) => id);
  await dropTakenOver(database, user_id, ids);
}

/** The statement that drops debts which the user's account owes. */
export function dropTakenOver(
  database: DrizzleD1Database,
  user_id: string,
  ids: readonly string[],
) {
  const listed = sql`(select value from json_each(${JSON.stringify(ids)}))`;
  return database.delete(debts).where(and(eq(debts.owed_by, user_id), inArray(debts.id, listed)));
}
