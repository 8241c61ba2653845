/** Tombstones: what is kept of an identity once it is nobody's sign-in method any more. */
import { sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { debts, identities, tombstones, users } from "./schema.ts";

/** See `keys/pseudonym.ts`. */
export type PseudonymsOf = (identity: readonly string[]) => Promise<readonly [string, ...string[]]>;

/** The identity whose tombstone is meant, and whose it is or was. */
interface OwnedIdentity {
  readonly provider: string;
  readonly subject: string;
  readonly user_id: string;
}

/** What a tombstone is the pseudonym of. */
export function nameOf({ provider, subject }: { provider: string; subject: string }): string[] {
  return ["identity", provider, subject];
}

/** SQL: whether a row of `tombstones` is of an identity. It may have one for each key. */
export async function isTombstoneOf(
  pseudonymsOf: PseudonymsOf,
  identity: { provider: string; subject: string },
): Promise<SQL> {
  const pseudonyms = JSON.stringify(await pseudonymsOf(nameOf(identity)));
  return sql`pseudonym in (select value from json_each(${pseudonyms}))`;
}

/**
 * The statement that leaves a tombstone of a user's identity. It runs in the transaction that takes the
 * identity away, before it. `where`: what else must hold.
 */
export function leaveTombstone(
  database: DrizzleD1Database,
  pseudonym: string,
  { provider, subject, user_id }: OwnedIdentity,
  where: SQL = sql`true`,
) {
  const person_id = sql`(select person_id from users where id = ${user_id})`;
  return database
    .insert(tombstones)
    .select(
      sql`
        select ${pseudonym}, coalesce(${person_id}, ${crypto.randomUUID()}), ${Date.now()}
        where exists (
            select 1 from identities
            where provider = ${provider} and subject = ${subject} and user_id = ${user_id})
          and ${where}`,
    )
    .onConflictDoUpdate({
      target: tombstones.pseudonym,
      set: { person_id: sql`excluded.person_id` },
    });
}

/**
 * The statements that make a user and the former owner of an identity one person, once the identity is
 * the user's: what that owner owes, this user owes.
 */
export async function joinPeople(
  database: DrizzleD1Database,
  pseudonymsOf: PseudonymsOf,
  { provider, subject, user_id }: OwnedIdentity,
) {
  const former = sql`
    person_id in (select person_id from tombstones where ${await isTombstoneOf(pseudonymsOf, { provider, subject })})
    and exists (
      select 1 from ${identities}
      where provider = ${provider} and subject = ${subject} and user_id = ${user_id})`;
  const person_id = sql`(select person_id from users where id = ${user_id})`;
  // The tombstones last: they say who the former owner is.
  return [
    database.update(debts).set({ person_id }).where(former),
    database.update(users).set({ person_id }).where(former),
    database.update(tombstones).set({ person_id }).where(former),
  ] as const;
}
