/** Links a further identity to a person, and unlinks one. */
import { and, eq, ne, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { PASSKEYS_MAX } from "../../domain/limits.ts";
import type { Session } from "../port.ts";
import {
  findIdentity,
  isOldest,
  isOther,
  isUnconfigured,
  knownIssuer,
  linkedTo,
  otherIssuer,
  updateClient,
  type IdentityStore,
  type IssuerChanged,
  type Origin,
} from "./identity_queries.ts";
import { identities, sessions, users } from "./schema.ts";
import { joinPeople, leaveTombstone, nameOf } from "./tombstones.ts";

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

/**
 * Links a further identity to the person of a session, at most one per provider; may be repeated. The person
 * then owes what the identity's former owner owed.
 */
export async function link(
  store: IdentityStore,
  { id: session_id, identity_id: user_id }: Session,
  origin: Origin,
): Promise<Linking> {
  const { database, pseudonymsOf } = store;
  const { provider, subject, issuer, client_id, passkey } = origin;
  const now_ms = Date.now();
  // One query decides. It refuses an identity of another person, a second one of the provider, one passkey too
  // many, and a session that ended while the person was at the provider.
  const [[other], inserted, [owned], [session]] = await database.batch([
    otherIssuer(database, origin),
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
              select 1 from identities where subject = ${subject} and ${isUnconfigured(store, issuer)})
            and ${knownIssuer(origin)} is null
            and (${passkey ? 1 : 0} = 0 or ${PASSKEYS_MAX} > (
              select count(*) from identities
              where user_id = ${user_id} and provider like 'passkey.%'))
            and exists (
              select 1 from sessions
              where id = ${session_id} and user_id = ${user_id} and expires_at_ms > ${now_ms})`,
      )
      .onConflictDoNothing(),
    findIdentity(store, origin),
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
}

/**
 * Unlinks an identity from the person of a session, but never the last one. Writes a tombstone and ends the
 * other sessions that were started with its provider.
 */
export async function unlink(
  { database, pseudonymsOf, copy }: IdentityStore,
  session: Session,
  provider: string,
): Promise<Unlinking> {
  const user_id = session.identity_id;
  const before = await linkedTo(database, user_id);
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
    ...leaveSessions(database, session, provider),
  ]);
  if (removed.meta.changes > 0) {
    copy.left();
    const linked_at_ms = row?.created_at_ms ?? Date.now();
    return { kind: "unlinked", linked_at_ms, ended_sessions };
  }
  return { kind: row === undefined ? "not_linked" : "only_one_left" };
}

/** The queries that end the sessions of a provider's identity once it is unlinked. */
function leaveSessions(
  database: DrizzleD1Database,
  { id: session_id, identity_id: user_id }: Session,
  provider: string,
) {
  const is_unlinked = sql`not exists (
    select 1 from identities where user_id = ${user_id} and provider = ${provider})`;
  // Sessions of the unlinked provider end, and so do sessions without a known provider.
  const ending = database
    .delete(sessions)
    .where(
      and(
        eq(sessions.user_id, user_id),
        ne(sessions.id, session_id),
        sql`coalesce(${sessions.provider}, ${provider}) = ${provider}`,
        is_unlinked,
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
        is_unlinked,
      ),
    );
  return [ending, cutting] as const;
}
