/** Lists of people for operators. */
import { and, asc, desc, eq, gt, gte, inArray, lt, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { lowerCaseAscii } from "../../domain/text.ts";
import type { Profile } from "../port.ts";
import { users } from "./schema.ts";

export async function readPeople(
  database: DrizzleD1Database,
  identity_ids: readonly string[],
): Promise<ReadonlyMap<string, Profile>> {
  if (identity_ids.length === 0) return new Map();
  // One parameter for any number of ids, because D1 limits a query to 100 parameters.
  const ids = sql`(select value from json_each(${JSON.stringify(identity_ids)}))`;
  const { id, name, email } = users;
  const rows = await database.select({ id, name, email }).from(users).where(inArray(id, ids));
  return new Map(rows.map((row) => [row.id, { name: row.name, email: row.email }]));
}

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

/** People that one query counts. */
const COUNTED_AT_ONCE = 9_000;

/** Reads all people, in portions. */
export async function countPeople(database: DrizzleD1Database): Promise<number> {
  let people = 0;
  let after_id = "";
  for (;;) {
    const portion = await database.all<{ count: number; last: string | null }>(
      sql`select count(*) as count, max(id) as last from (
        select id from users where id > ${after_id} order by id limit ${COUNTED_AT_ONCE})`,
    );
    const { count = 0, last = null } = portion[0] ?? {};
    if (last === null) return people;
    people += count;
    after_id = last;
  }
}

/** Identities whose address is in a domain, newest first, by the schema's index for this. */
export async function findByDomain(
  database: DrizzleD1Database,
  domain: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await database
    .select({ id: users.id })
    .from(users)
    .where(eq(users.email_domain, lowerCaseAscii(domain)))
    .orderBy(desc(users.created_at_ms))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Identities whose address starts with `prefix`, by the schema's index for this. */
export async function findByEmail(
  database: DrizzleD1Database,
  prefix: string,
  limit: number,
): Promise<readonly string[]> {
  const address = sql`lower(${users.email})`;
  // The same as `lower` in SQL.
  const from = lowerCaseAscii(prefix);
  // No character sorts after U+10FFFF.
  const rows = await database
    .select({ id: users.id })
    .from(users)
    .where(and(gte(address, from), lt(address, `${from}\u{10ffff}`)))
    .orderBy(asc(address))
    .limit(limit);
  return rows.map(({ id }) => id);
}

interface AddressSearch {
  /** Our own sign-in providers. */
  readonly provider_ids: readonly string[];
  readonly limit: number;
}

/**
 * Identities with this address, by the same index. If our own providers verified it for anyone, only those: what a token of
 * a trusted issuer says of its person must not hide the person who proved the address.
 */
export async function findByAddress(
  database: DrizzleD1Database,
  address: string,
  { provider_ids, limit }: AddressSearch,
): Promise<readonly string[]> {
  // The profile comes from the oldest identity.
  const oldest = sql`(select provider from identities where user_id = users.id
    order by created_at_ms, provider limit 1)`;
  const is_proven = sql<number>`${users.email_verified} and ${oldest} in (
    select value from json_each(${JSON.stringify(provider_ids)}))`;
  const rows = await database
    .select({ id: users.id, is_proven })
    .from(users)
    .where(sql`lower(${users.email}) = ${lowerCaseAscii(address)}`)
    .orderBy(sql`${is_proven} desc`)
    .limit(limit);
  const proven = rows.filter((row) => row.is_proven === 1);
  return (proven.length > 0 ? proven : rows).map(({ id }) => id);
}
