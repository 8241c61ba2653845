/** People as operators find them. */
import { and, asc, gt, gte, inArray, lt, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { lowerCaseAscii } from "../../domain/text.ts";
import type { Profile } from "../port.ts";
import { users } from "./schema.ts";

/** Names and addresses, of those who are there. */
export async function readPeople(
  database: DrizzleD1Database,
  identity_ids: readonly string[],
): Promise<ReadonlyMap<string, Profile>> {
  if (identity_ids.length === 0) return new Map();
  // One parameter however many there are: D1 takes a hundred.
  const ids = sql`(select value from json_each(${JSON.stringify(identity_ids)}))`;
  const { id, name, email } = users;
  const rows = await database.select({ id, name, email }).from(users).where(inArray(id, ids));
  return new Map(rows.map((row) => [row.id, { name: row.name, email: row.email }]));
}

/** Identities after one, in order. */
export async function listIdentities(
  database: DrizzleD1Database,
  after_id: string,
  limit: number,
): Promise<readonly string[]> {
  const { id } = users;
  const rows = await database
    .select({ id })
    .from(users)
    .where(gt(id, after_id))
    .orderBy(asc(id))
    .limit(limit);
  return rows.map((row) => row.id);
}

/** How many people there are. */
export function countPeople(database: DrizzleD1Database): Promise<number> {
  return database.$count(users);
}

/** Identities whose address begins with `prefix`, by the index that the schema has for this. */
export async function findByEmail(
  database: DrizzleD1Database,
  prefix: string,
  limit: number,
): Promise<readonly string[]> {
  const address = sql`lower(${users.email})`;
  // As `lower` does in SQL.
  const from = lowerCaseAscii(prefix);
  // Nothing that an address holds comes after the last character there is.
  const rows = await database
    .select({ id: users.id })
    .from(users)
    .where(and(gte(address, from), lt(address, `${from}\u{10ffff}`)))
    .orderBy(asc(address))
    .limit(limit);
  return rows.map(({ id }) => id);
}
