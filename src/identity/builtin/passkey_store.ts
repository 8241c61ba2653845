/**
 * Passkeys in D1. Each passkey is a sign-in method of its own, named by the hash of its credential id: removing one
 * leaves the others, and ends the sessions and tokens of that one.
 */
import { and, eq, like, sql } from "drizzle-orm";
import { base64url } from "jose";
import { identities, users } from "./schema.ts";
import { isTombstoneOf } from "./tombstones.ts";
import type { IdentityStore, Origin } from "./identity_queries.ts";
import { isAlgorithm, type PublicKey } from "./webauthn/public_key.ts";
import { rpIdOf } from "./webauthn/ceremony.ts";

/** A stored passkey. */
interface StoredPasskey {
  readonly user_id: string;
  readonly key: PublicKey;
  readonly sign_count: number;
  readonly last_used_at_ms: number | null;
}

/** An account to create. */
interface NewPerson {
  readonly user_id: string;
  readonly name: string;
  readonly recovery_code_hash: string;
  /** A script makes passkeys without end, so they earn no starter credits unless the settings say so. */
  readonly opens_as_returned: boolean;
}

/** A use of a passkey whose signature was verified. */
interface PasskeyUse {
  readonly sign_count: number;
  /** When the challenge was issued. */
  readonly started_at_ms: number;
}

export interface PasskeyStore {
  find(origin: Origin): Promise<StoredPasskey | null>;
  /** The credential ids of a person's passkeys. */
  list(user_id: string): Promise<readonly string[]>;
  /**
   * Creates a person with their first passkey. Returns whether it did: a credential that is or was anyone's, and a
   * registration that was already completed, are refused.
   */
  register(origin: Origin, person: NewPerson): Promise<boolean>;
  /**
   * Stores a use. Refused if the challenge was issued before the last use, so no response counts twice, and if the
   * counter did not grow. One query decides.
   */
  use(origin: Origin, use: PasskeyUse): Promise<boolean>;
}

/** A passkey as a sign-in method of the service at `base_url`. */
export async function passkeyOrigin(
  base_url: string,
  credential_id: string,
  passkey: Origin["passkey"] = null,
): Promise<Origin> {
  const digest = await crypto.subtle.digest("SHA-256", base64url.decode(credential_id));
  const rp_id = rpIdOf(base_url);
  return {
    // Ids of providers have no dot.
    provider: `passkey.${base64url.encode(new Uint8Array(digest))}`,
    subject: credential_id,
    issuer: rp_id,
    client_id: rp_id,
    passkey,
  };
}

export function createPasskeyStore({ database, pseudonymsOf, copy }: IdentityStore): PasskeyStore {
  const isThis = ({ provider, subject }: Origin) =>
    and(eq(identities.provider, provider), eq(identities.subject, subject));
  return {
    async find(origin) {
      const query = database.select().from(identities).where(isThis(origin));
      let row = await query.get();
      if (row === undefined && (await copy.bringBack(origin))) row = await query.get();
      if (row === undefined) return null;
      const { user_id, algorithm, public_key, sign_count, last_used_at_ms } = row;
      if (algorithm === null || !isAlgorithm(algorithm) || public_key === null) return null;
      const used = { sign_count: sign_count ?? 0, last_used_at_ms };
      return { user_id, key: { algorithm, public_key }, ...used };
    },
    async list(user_id) {
      const rows = await database
        .select({ subject: identities.subject })
        .from(identities)
        .where(and(eq(identities.user_id, user_id), like(identities.provider, "passkey.%")));
      return rows.map(({ subject }) => subject);
    },
    async register(origin, { user_id, name, recovery_code_hash, opens_as_returned }) {
      const { provider, subject, issuer, client_id, passkey } = origin;
      const now_ms = Date.now();
      const former = await isTombstoneOf(pseudonymsOf, origin);
      // One transaction: a person is never without a sign-in method.
      const [made] = await database.batch([
        database
          .insert(identities)
          .select(
            sql`
              select ${provider}, ${subject}, ${user_id}, ${now_ms}, ${issuer}, ${client_id},
                ${passkey?.passkey_name}, ${passkey?.algorithm}, ${passkey?.public_key},
                ${passkey?.sign_count}, ${now_ms}
              where not exists (select 1 from tombstones where ${former})
                and not exists (select 1 from users where id = ${user_id})`,
          )
          .onConflictDoNothing(),
        database
          .insert(users)
          .select(
            sql`
              select ${user_id}, ${name}, null, 0, ${now_ms}, ${Number(opens_as_returned)}, ${crypto.randomUUID()},
                ${recovery_code_hash}, ${now_ms}, null
              where exists (
                select 1 from identities
                where provider = ${provider} and subject = ${subject} and user_id = ${user_id})`,
          )
          .onConflictDoNothing(),
      ]);
      if (made.meta.changes > 0) copy.changed(user_id);
      return made.meta.changes > 0;
    },
    async use(origin, { sign_count, started_at_ms }) {
      // The clock of the machine that issued the challenge may be ahead.
      const last_used_at_ms = Math.max(Date.now(), started_at_ms);
      const used = await database
        .update(identities)
        .set({ sign_count, last_used_at_ms })
        .where(
          and(
            isThis(origin),
            sql`coalesce(last_used_at_ms, 0) < ${started_at_ms}`,
            sql`(${sign_count} > sign_count or (${sign_count} = 0 and sign_count = 0))`,
          ),
        );
      return used.meta.changes > 0;
    },
  };
}
