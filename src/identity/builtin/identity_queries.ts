/** Identities, and the parts of queries about them. */
import { and, asc, eq, getTableColumns, sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { identities, users } from "./schema.ts";
import type { PseudonymsOf } from "./tombstones.ts";

/** The second copy of people: see `kept_people.ts`. */
export interface PeopleCopy {
  /** Copies a user in the background, after a change. */
  changed(user_id: string): void;
  /** The same for whatever waits: of a user who left, tombstones and debts remain. */
  left(): void;
  /**
   * Restores the users and tombstones of an unknown sign-in method, if the directory replaced a lost one. @returns whether it
   * restored anything.
   */
  bringBack(identity: Pick<Origin, "issuer" | "subject">): Promise<boolean>;
}

/** The copy of a service without one. */
export const NO_COPY: PeopleCopy = {
  changed() {},
  left() {},
  bringBack: () => Promise.resolve(false),
};

export interface IdentityStore {
  readonly database: DrizzleD1Database;
  readonly pseudonymsOf: PseudonymsOf;
  /** The configured providers. */
  readonly provider_ids: readonly string[];
  readonly copy: PeopleCopy;
}

export type IdentityRow = typeof identities.$inferSelect;

/** An identity, the issuer that names its subject, and the client that the subject was given to. */
export interface Origin {
  readonly provider: string;
  readonly subject: string;
  readonly issuer: string;
  readonly client_id: string;
  /** The columns of a new passkey; null: a known one, or another method. */
  readonly passkey?: {
    readonly passkey_name: string;
    readonly algorithm: number;
    readonly public_key: string;
    readonly sign_count: number;
  } | null;
}

/** The provider's id belonged to another issuer, whose subjects are other people. */
export interface IssuerChanged {
  readonly kind: "issuer_changed";
  readonly known_issuer: string;
}

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

/** SQL: whether an identity of the issuer is stored under an id that no provider has. */
export function isUnconfigured({ provider_ids }: IdentityStore, issuer: string): SQL {
  return sql`
    identities.issuer = ${issuer} and identities.provider not in (
      select value from json_each(${JSON.stringify(provider_ids)}))`;
}

/**
 * The query of an identity, first under its own provider, then under an id that no provider has: people of a trusted
 * issuer are stored under such an id until a provider of the same issuer is configured.
 */
export function findIdentity(store: IdentityStore, { provider, subject, issuer }: Origin) {
  const { opens_as_returned } = users;
  return store.database
    .select({ ...getTableColumns(identities), opens_as_returned })
    .from(identities)
    .leftJoin(users, eq(users.id, identities.user_id))
    .where(
      and(
        eq(identities.subject, subject),
        sql`(${identities.provider} = ${provider} or (${isUnconfigured(store, issuer)}))`,
      ),
    )
    .orderBy(sql`${identities.provider} = ${provider} desc`)
    .limit(1);
}

/** The query of a user's identities, oldest first. */
export function linkedTo(database: DrizzleD1Database, user_id: string) {
  return database
    .select()
    .from(identities)
    .where(eq(identities.user_id, user_id))
    .orderBy(asc(identities.created_at_ms), asc(identities.provider));
}

/** The query of the issuer that the provider's identities have, if it is another one. */
export function otherIssuer(database: DrizzleD1Database, origin: Origin) {
  return database.select({ known_issuer: knownIssuer(origin) }).from(sql`(select 1)`);
}

/** Stores a new client of the same issuer. */
export async function updateClient(
  database: DrizzleD1Database,
  known: IdentityRow,
  { client_id }: Origin,
): Promise<void> {
  const { provider, subject } = known;
  if (known.client_id === client_id) return;
  await database
    .update(identities)
    .set({ client_id })
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)));
}
