/** Tombstones: pseudonyms of identities that are no longer anyone's sign-in method. */
import { sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { debts, identities, tombstones, users } from "./schema.ts";

/** See `keys/pseudonym.ts`. */
export type PseudonymsOf = (identity: readonly string[]) => Promise<readonly [string, ...string[]]>;

/** An identity, and its present or former user. */
interface OwnedIdentity {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly user_id: string;
}

type NamedIdentity = Pick<OwnedIdentity, "issuer" | "subject">;

/** The text that a tombstone is the pseudonym of: with the issuer, because the id of its provider may change. */
export function nameOf({ issuer, subject }: NamedIdentity): string[] {
  return ["identity", issuer, subject];
}

/**
 * SQL: whether a row of `tombstones` belongs to an identity. An identity may have one tombstone for each key.
 */
export async function isTombstoneOf(
  pseudonymsOf: PseudonymsOf,
  identity: NamedIdentity,
): Promise<SQL> {
  const pseudonyms = JSON.stringify(await pseudonymsOf(nameOf(identity)));
  return sql`pseudonym in (select value from json_each(${pseudonyms}))`;
}

/**
 * The query that writes the tombstone of a user's identity. It must run in the transaction that deletes the
 * identity, before the deletion. `where`: a further condition.
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
      set: { person_id: sql`excluded.person_id`, left_at_ms: sql`excluded.left_at_ms` },
    });
}

/**
 * The queries that make a user and the former owner of an identity one person, after the identity was linked to
 * the user. The user then owes what the former owner owed.
 */
export async function joinPeople(
  database: DrizzleD1Database,
  pseudonymsOf: PseudonymsOf,
  { provider, issuer, subject, user_id }: OwnedIdentity,
) {
  const former = sql`
    person_id in (select person_id from tombstones where ${await isTombstoneOf(pseudonymsOf, { issuer, subject })})
    and exists (
      select 1 from ${identities}
      where provider = ${provider} and subject = ${subject} and user_id = ${user_id})`;
  const person_id = sql`(select person_id from users where id = ${user_id})`;
  // The tombstones last, because they identify the former owner.
  return [
    database.update(debts).set({ person_id }).where(former),
    database.update(users).set({ person_id }).where(former),
    database.update(tombstones).set({ person_id }).where(former),
  ] as const;
}
