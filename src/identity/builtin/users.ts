/** People and their sign-in methods. An identity is (provider, subject). An e-mail address never joins two. */
import { and, eq, sql } from "drizzle-orm";
import type { Language } from "../../domain/language.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Person, TokenPerson, TokenPersonFound } from "../port.ts";
import {
  findIdentity,
  isOldest,
  isOther,
  linkedTo,
  otherIssuer,
  updateClient,
  type IdentityRow,
  type IdentityStore,
  type IssuerChanged,
  type Origin,
} from "./identity_queries.ts";
import { withToken, type Profile } from "./profile.ts";
import { identities, tombstones, users } from "./schema.ts";
import { isTombstoneOf } from "./tombstones.ts";

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

export class Users {
  readonly #store: IdentityStore;
  readonly #database;

  constructor(store: IdentityStore) {
    this.#store = store;
    this.#database = store.database;
  }

  /**
   * The user of an identity, created at the first sign-in, also if two first sign-ins happen at once. Only the
   * oldest identity of a person updates the profile. A sign-in by another method must not replace an address
   * that operators may have given rights to.
   */
  async findOrCreate(origin: Origin, profile: Profile): Promise<Found> {
    const [[known], [other]] = await this.#database.batch([
      findIdentity(this.#store, origin),
      otherIssuer(this.#database, origin),
    ]);
    if (isOther(other)) return { kind: "issuer_changed", ...other };
    if (known !== undefined) {
      await updateClient(this.#database, known, origin);
      await this.#refreshProfile(known.user_id, known.provider, () => profile);
      return found(known);
    }
    if (await this.#store.copy.bringBack(origin)) return this.findOrCreate(origin, profile);
    return this.#create(origin, profile, true);
  }

  /**
   * The same for a token of a trusted issuer, which often has no profile: one without an address changes nothing. `left`:
   * the identity was unlinked or deleted after the token was issued. See `IdentityPort.findByToken`.
   */
  async findByToken(
    origin: Origin,
    token: Pick<TokenPerson, "profile" | "issued_at_ms" | "takes_starters">,
    whyNoNewPerson: () => Promise<Refusal | null>,
  ): Promise<Found | Exclude<TokenPersonFound, { kind: "found" }>> {
    const { profile, issued_at_ms, takes_starters } = token;
    const former = await isTombstoneOf(this.#store.pseudonymsOf, origin);
    const [[known], [other], [left]] = await this.#database.batch([
      findIdentity(this.#store, origin),
      otherIssuer(this.#database, origin),
      this.#database
        .select({ at_ms: sql<number | null>`max(left_at_ms)` })
        .from(tombstones)
        .where(former),
    ]);
    if (isOther(other)) return { kind: "issuer_changed", ...other };
    // Also for a person who returned since: the token was issued for the account that they left.
    if (issued_at_ms <= (left?.at_ms ?? -1)) return { kind: "left" };
    if (known === undefined) {
      if (await this.#store.copy.bringBack(origin)) {
        return this.findByToken(origin, token, whyNoNewPerson);
      }
      const refusal = await whyNoNewPerson();
      return refusal === null
        ? this.#create(origin, profile, takes_starters)
        : { kind: "refused", refusal };
    }
    if (profile.email !== null) {
      await this.#refreshProfile(known.user_id, known.provider, (old) => withToken(old, profile));
    }
    return found(known);
  }

  /** The subject of a user at an issuer; null if the user has no identity there. */
  async readSubject(user_id: string, issuer: string): Promise<string | null> {
    const row = await this.#database
      .select({ subject: identities.subject })
      .from(identities)
      .where(and(eq(identities.user_id, user_id), eq(identities.issuer, issuer)))
      .limit(1)
      .get();
    return row?.subject ?? null;
  }

  /** Whether the user's account has to be opened without starter credits first. */
  async opensAsReturned(user_id: string): Promise<boolean> {
    const user = this.#database
      .select({ opens_as_returned: users.opens_as_returned })
      .from(users)
      .where(eq(users.id, user_id));
    return (await user.get())?.opens_as_returned ?? false;
  }

  /** Notes that the account of a returning user is open. */
  async markOpened(user_id: string): Promise<void> {
    await this.#database
      .update(users)
      .set({ opens_as_returned: false })
      .where(eq(users.id, user_id));
  }

  /** A user and their identities, oldest first; null if the user does not exist. */
  async read(user_id: string): Promise<Person | null> {
    const [[user], rows] = await this.#database.batch([
      this.#database.select().from(users).where(eq(users.id, user_id)),
      linkedTo(this.#database, user_id),
    ]);
    if (user === undefined) return null;
    const { id: identity_id, name, email, email_verified, created_at_ms } = user;
    const { recovery_code_at_ms, language } = user;
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
    return { identity_id, ...profile, linked, recovery_code_at_ms, language, created_at_ms };
  }

  /** Keeps the language that a person chose. */
  async chooseLanguage(user_id: string, language: Language): Promise<void> {
    await this.#database.update(users).set({ language }).where(eq(users.id, user_id));
    this.#store.copy.changed(user_id);
  }

  async #refreshProfile(user_id: string, provider: string, profileOf: (known: Profile) => Profile) {
    const [[oldest], [user]] = await this.#database.batch([
      linkedTo(this.#database, user_id).limit(1),
      this.#database.select().from(users).where(eq(users.id, user_id)),
    ]);
    if (user === undefined || oldest?.provider !== provider) return;
    const profile = profileOf(user);
    const changed =
      user.name !== profile.name ||
      user.email !== profile.email ||
      user.email_verified !== profile.email_verified;
    // The provider may have been unlinked since. Its data must not count as the next oldest one's.
    if (!changed) return;
    await this.#database
      .update(users)
      .set({ ...profile })
      .where(and(eq(users.id, user_id), isOldest(user_id, provider)));
    this.#store.copy.changed(user_id);
  }

  async #create(origin: Origin, profile: Profile, takes_starters: boolean): Promise<Found> {
    const id = `user_${crypto.randomUUID()}`;
    const created_at_ms = Date.now();
    const { name, email, email_verified } = profile;
    const former = await isTombstoneOf(this.#store.pseudonymsOf, origin);
    try {
      // One transaction: the identity's key decides which sign-in was first, and the other one leaves no
      // user.
      const [, made] = await this.#database.batch([
        this.#database.insert(identities).values({ ...origin, user_id: id, created_at_ms }),
        this.#database
          .insert(users)
          .select(
            sql`
              select ${id}, ${name}, ${email}, ${Number(email_verified)}, ${created_at_ms},
                ${Number(!takes_starters)} or exists (select 1 from tombstones where ${former}),
                coalesce(
                  (select person_id from tombstones where ${former} limit 1),
                  ${crypto.randomUUID()}),
                null, null, null`,
          )
          .returning({ opens_as_returned: users.opens_as_returned }),
      ]);
      const { provider } = origin;
      this.#store.copy.changed(id);
      return found({ user_id: id, provider, created_at_ms, opens_as_returned: null, ...made[0] });
    } catch (error) {
      const winner = await findIdentity(this.#store, origin).get();
      if (winner !== undefined) return found(winner);
      throw error;
    }
  }
}

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
