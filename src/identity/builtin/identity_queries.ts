/** Parts of queries about identities: their age, and the issuer of a provider's id. */
import { sql, type SQL } from "drizzle-orm";

interface ProviderIssuer {
  readonly provider: string;
  readonly issuer: string;
}

/** SQL: whether this provider's identity is the user's oldest, in the order of `linkedTo`. */
export function isOldest(user_id: string, provider: string): SQL {
  return sql`${provider} = (
    select provider from identities where user_id = ${user_id}
    order by created_at_ms, provider limit 1)`;
}

interface OtherIssuer {
  readonly known_issuer: string | null;
}

export function isOther(row: OtherIssuer | undefined): row is { readonly known_issuer: string } {
  return row !== undefined && row.known_issuer !== null;
}

/**
 * SQL: another issuer of the provider's identities, or null. Two index searches, because "not
 * equal" would read every row.
 */
export function knownIssuer({ provider, issuer }: ProviderIssuer): SQL<string | null> {
  const search = (comparison: SQL) =>
    sql`(select issuer from identities where provider = ${provider} and issuer ${comparison} limit 1)`;
  return sql<string | null>`coalesce(${search(sql`< ${issuer}`)}, ${search(sql`> ${issuer}`)})`;
}
