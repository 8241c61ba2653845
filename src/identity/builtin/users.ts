/** People and their sign-in methods. An identity is (provider, subject). An e-mail address never joins two. */
import { and, asc, eq, getTableColumns, ne, sql, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { PASSKEYS_MAX } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Person, Session, TokenPerson, TokenPersonFound } from "../port.ts";
import { isOldest, isOther, knownIssuer } from "./identity_queries.ts";
import { withToken, type Profile } from "./profile.ts";
import { identities, sessions, tombstones, users } from "./schema.ts";
import {
  isTombstoneOf,
  joinPeople,
  leaveTombstone,
  nameOf,
  type PseudonymsOf,
} from "./tombstones.ts";

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

export type Found =
  | {
      readonly kind: "found";
      readonly user_id: string;
      /** The method that the identity is stored under. */
      readonly provider: string;
      readonly linked_at_ms: number;
      /** Whether they deleted an account before, and the new one is not opened yet. */
      readonly opens_as_returned: boolean;
    }
  | IssuerChanged;

export type Linking =
  | { readonly kind: "linked"; readonly linked_at_ms: number }
  | { readonly kind: "linked_elsewhere" | "linked_another" | "link_session_ended" }
  | IssuerChanged;

export type Unlinking =
  | {
      readonly kind: "unlinked";
      readonly linked_at_ms: number;
      readonly ended_sessions: readonly Session[];
    }
  | { readonly kind: "only_one_left" | "not_linked" };

export interface Users {
  /**
   * The user of an identity, created at the first sign-in, also if two first sign-ins happen at once. Only the
   * oldest identity of a person updates the profile. A sign-in by another method must not replace an address
   * that operators may have given rights to.
   */
  findOrCreate(origin: Origin, profile: Profile): Promise<Found>;
  /**
   * The same for a token of a trusted issuer, which often has no profile: one without an address changes nothing. `left`:
   * the identity was unlinked or deleted after the token was issued. See `IdentityPort.findByToken`.
   */
  findByToken(
    origin: Origin,
    token: Pick<TokenPerson, "profile" | "issued_at_ms" | "takes_starters">,
    whyNoNewPerson: () => Promise<Refusal | null>,
  ): Promise<Found | Exclude<TokenPersonFound, { kind: "found" }>>;
  /** The subject of a user at an issuer; null if the user has no identity there. */
  readSubject(user_id: string, issuer: string): Promise<string | null>;
  /** Whether the user's account has to be opened without starter credits first. */
  opensAsReturned(user_id: string): Promise<boolean>;
  /** Notes that the account of a returning user is open. */
  markOpened(user_id: string): Promise<void>;
  /**
   * Links a further identity to the person of a session, at most one per provider; may be repeated. The person
   * then owes what the identity's former owner owed.
   */
  link(session: Session, origin: Origin): Promise<Linking>;
  /**
   * Unlinks an identity from the person of a session, but never the last one. Writes a tombstone and ends the
   * other sessions that were started with its provider.
   */
  unlink(session: Session, provider: string): Promise<Unlinking>;
  /** A user and their identities, oldest first; null if the user does not exist. */
  read(user_id: string): Promise<Person | null>;
}

/** `provider_ids`: the configured providers. */
export function createUsers(
  database: DrizzleD1Database,
  pseudonymsOf: PseudonymsOf,
  provider_ids: readonly string[],
): Users {
  const { opens_as_returned } = users;
  /** SQL: whether an identity of the issuer is stored under an id that no provider has. */
  const unconfigured = (issuer: string): SQL => sql`
    identities.issuer = ${issuer} and identities.provider not in (
      select value from json_each(${JSON.stringify(provider_ids)}))`;
  /**
   * The identity, first under its own provider, then under an id that no provider has: people of a trusted issuer are
   * stored under such an id until a provider of the same issuer is configured.
   */
  const find = ({ provider, subject, issuer }: Origin) =>
    database
      .select({ ...getTableColumns(identities), opens_as_returned })
      .from(identities)
      .leftJoin(users, eq(users.id, identities.user_id))
      .where(
        and(
          eq(identities.subject, subject),
          sql`(${identities.provider} = ${provider} or (${unconfigured(issuer)}))`,
        ),
      )
      .orderBy(sql`${identities.provider} = ${provider} desc`)
      .limit(1);
  const linkedTo = (user_id: string) =>
    database
      .select()
      .from(identities)
      .where(eq(identities.user_id, user_id))
      .orderBy(asc(identities.created_at_ms), asc(identities.provider));
  const otherIssuer = (origin: Origin) =>
    database.select({ known_issuer: knownIssuer(origin) }).from(sql`(select 1)`);
  const refreshProfile = async (
    user_id: string,
    provider: string,
    profileOf: (known: Profile) => Profile,
  ) => {
    const [[oldest], [user]] = await database.batch([
      linkedTo(user_id).limit(1),
      database.select().from(users).where(eq(users.id, user_id)),
    ]);
    if (user === undefined || oldest?.provider !== provider) return;
    const profile = profileOf(user);
    const changed =
      user.name !== profile.name ||
      user.email !== profile.email ||
      user.email_verified !== profile.email_verified;
    // The provider may have been unlinked since. Its data must not count as the next oldest one's.
    if (changed)
      await database
        .update(users)
        .set({ ...profile })
        .where(and(eq(users.id, user_id), isOldest(user_id, provider)));
  };
  const create = async (
    origin: Origin,
    profile: Profile,
    takes_starters: boolean,
  ): Promise<Found> => {
    const id = `user_${crypto.randomUUID()}`;
    const created_at_ms = Date.now();
    const { name, email, email_verified } = profile;
    const former = await isTombstoneOf(pseudonymsOf, origin);
    try {
      // One transaction: the identity's key decides which sign-in was first, and the other one leaves no
      // user.
      const [, made] = await database.batch([
        database.insert(identities).values({ ...origin, user_id: id, created_at_ms }),
        database
          .insert(users)
          .select(
            sql`
              select ${id}, ${name}, ${email}, ${Number(email_verified)}, ${created_at_ms},
                ${Number(!takes_starters)} or exists (select 1 from tombstones where ${former}),
                coalesce(
                  (select person_id from tombstones where ${former} limit 1),
                  ${crypto.randomUUID()}),
                null, null`,
          )
          .returning({ opens_as_returned }),
      ]);
      const { provider } = origin;
      return found({ user_id: id, provider, created_at_ms, opens_as_returned: null, ...made[0] });
    } catch (error) {
      const winner = await find(origin).get();
      if (winner !== undefined) return found(winner);
      throw error;
    }
  };
  return {
    async findOrCreate(origin, profile) {
      const [[known], [other]] = await database.batch([find(origin), otherIssuer(origin)]);
      if (isOther(other)) return { kind: "issuer_changed", ...other };
      if (known !== undefined) {
        await updateClient(database, known, origin);
        await refreshProfile(known.user_id, known.provider, () => profile);
        return found(known);
      }
      return create(origin, profile, true);
    },
    async findByToken(origin, { profile, issued_at_ms, takes_starters }, whyNoNewPerson) {
      const former = await isTombstoneOf(pseudonymsOf, origin);
      const [[known], [other], [left]] = await database.batch([
        find(origin),
        otherIssuer(origin),
        database
          .select({ at_ms: sql<number | null>`max(left_at_ms)` })
          .from(tombstones)
          .where(former),
      ]);
      if (isOther(other)) return { kind: "issuer_changed", ...other };
      // Also for a person who returned since: the token was issued for the account that they left.
      if (issued_at_ms <= (left?.at_ms ?? -1)) return { kind: "left" };
      if (known === undefined) {
        const refusal = await whyNoNewPerson();
        return refusal === null
          ? create(origin, profile, takes_starters)
          : { kind: "refused", refusal };
      }
      if (profile.email !== null) {
        await refreshProfile(known.user_id, known.provider, (old) => withToken(old, profile));
      }
      return found(known);
    },
    async readSubject(user_id, issuer) {
      const row = await database
        .select({ subject: identities.subject })
        .from(identities)
        .where(and(eq(identities.user_id, user_id), eq(identities.issuer, issuer)))
        .limit(1)
        .get();
      return row?.subject ?? null;
    },
    async opensAsReturned(user_id) {
      const user = database.select({ opens_as_returned }).from(users).where(eq(users.id, user_id));
      return (await user.get())?.opens_as_returned ?? false;
    },
    async markOpened(user_id) {
      await database.update(users).set({ opens_as_returned: false }).where(eq(users.id, user_id));
    },
    async link({ id: session_id, identity_id: user_id }, origin) {
      const { provider, subject, issuer, client_id, passkey } = origin;
      const now_ms = Date.now();
      // One query decides. It refuses an identity of another person, a second one of the provider, one passkey too
      // many, and a session that ended while the person was at the provider.
      const [[other], inserted, [owned], [session]] = await database.batch([
        otherIssuer(origin),
        database
          .insert(identities)
          .select(
            sql`
              select ${provider}, ${subject}, ${user_id}, ${now_ms}, ${issuer}, ${client_id},
                ${passkey?.passkey_name ?? null}, ${passkey?.algorithm ?? null},
                ${passkey?.public_key ?? null}, ${passkey?.sign_count ?? null}, null
              where not exists (
                  select 1 from identities where user_id = ${user_id} and provider = ${provider})
                and not exists (
                  select 1 from identities where subject = ${subject} and ${unconfigured(issuer)})
                and ${knownIssuer(origin)} is null
                and (${passkey ? 1 : 0} = 0 or ${PASSKEYS_MAX} > (
                  select count(*) from identities
                  where user_id = ${user_id} and provider like 'passkey.%'))
                and exists (
                  select 1 from sessions
                  where id = ${session_id} and user_id = ${user_id} and expires_at_ms > ${now_ms})`,
          )
          .onConflictDoNothing(),
        find(origin),
        database
          .select({ id: sessions.id })
          .from(sessions)
          .where(and(eq(sessions.id, session_id), eq(sessions.user_id, user_id))),
        ...(await joinPeople(database, pseudonymsOf, { provider, issuer, subject, user_id })),
      ]);
      if (isOther(other)) return { kind: "issuer_changed", ...other };
      if (inserted.meta.changes > 0) return { kind: "linked", linked_at_ms: now_ms };
      if (session === undefined) return { kind: "link_session_ended" };
      if (owned === undefined) return { kind: "linked_another" };
      if (owned.user_id !== user_id) return { kind: "linked_elsewhere" };
      if (owned.provider !== provider) return { kind: "linked_another" };
      await updateClient(database, owned, origin);
      return { kind: "linked", linked_at_ms: owned.created_at_ms };
    },
    async unlink({ id: session_id, identity_id: user_id }, provider) {
      const before = await linkedTo(user_id);
      const row = before.find((linked) => linked.provider === provider);
      const subject = row?.subject ?? "";
      const not_the_last = sql`(select count(*) from identities where user_id = ${user_id}) > 1`;
      const identity = { provider, issuer: row?.issuer ?? "", subject, user_id };
      const [pseudonym] = await pseudonymsOf(nameOf(identity));
      const tombstone = leaveTombstone(database, pseudonym, identity, not_the_last);
      const removal = database
        .delete(identities)
        .where(
          and(
            eq(identities.user_id, user_id),
            eq(identities.provider, provider),
            eq(identities.subject, subject),
            not_the_last,
          ),
        );
      // Sessions of the unlinked provider end, and so do sessions without a known provider.
      const ending = database
        .delete(sessions)
        .where(
          and(
            eq(sessions.user_id, user_id),
            ne(sessions.id, session_id),
            sql`coalesce(${sessions.provider}, ${provider}) = ${provider}`,
            sql`not exists (
              select 1 from identities where user_id = ${user_id} and provider = ${provider})`,
          ),
        )
        .returning({ id: sessions.id, identity_id: sessions.user_id });
      // This session stays, but no longer names the provider. What it approved with the provider must end, and
      // so must an approval that is not collected yet.
      const cutting = database
        .update(sessions)
        .set({ provider: null })
        .where(
          and(
            eq(sessions.id, session_id),
            eq(sessions.user_id, user_id),
            eq(sessions.provider, provider),
            sql`not exists (
              select 1 from identities where user_id = ${user_id} and provider = ${provider})`,
          ),
        );
      // The address loses its verification together with the provider that verified it, in one transaction. The
      // next oldest provider sets it at its next sign-in. The query decides, because a link in progress may
      // have changed which one is oldest.
      const silence = database
        .update(users)
        .set({ email_verified: false })
        .where(and(eq(users.id, user_id), isOldest(user_id, provider), not_the_last));
      const [, , removed, ended_sessions] = await database.batch([
        silence,
        tombstone,
        removal,
        ending,
        cutting,
      ]);
      if (removed.meta.changes > 0) {
        const linked_at_ms = row?.created_at_ms ?? Date.now();
        return { kind: "unlinked", linked_at_ms, ended_sessions };
      }
      return { kind: row === undefined ? "not_linked" : "only_one_left" };
    },
    async read(user_id) {
      const [[user], rows] = await database.batch([
        database.select().from(users).where(eq(users.id, user_id)),
        linkedTo(user_id),
      ]);
      if (user === undefined) return null;
      const { id: identity_id, name, email, email_verified, created_at_ms } = user;
      const { recovery_code_at_ms } = user;
      const linked = rows.map((row) => ({
        provider: row.provider,
        subject: row.subject,
        linked_at_ms: row.created_at_ms,
        passkey:
          row.passkey_name === null
            ? null
            : { name: row.passkey_name, last_used_at_ms: row.last_used_at_ms },
      }));
      // The profile comes from the oldest identity.
      const vouched_by = email_verified ? (linked[0]?.provider ?? null) : null;
      const profile = { name, email, email_verified, vouched_by };
      return { identity_id, ...profile, linked, recovery_code_at_ms, created_at_ms };
    },
  };
}

type IdentityRow = typeof identities.$inferSelect;

/** An identity's row with its user's; null: the user is being deleted. */
interface FoundRow extends Pick<IdentityRow, "user_id" | "provider" | "created_at_ms"> {
  readonly opens_as_returned: boolean | null;
}

function found({ user_id, provider, created_at_ms, opens_as_returned }: FoundRow): Found {
  return {
    kind: "found",
    user_id,
    provider,
    linked_at_ms: created_at_ms,
    opens_as_returned: opens_as_returned ?? false,
  };
}

/** Stores a new client of the same issuer. */
async function updateClient(
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
