/** People and how they sign in. An identity is (provider, subject); an e-mail address never joins two. */
import { and, asc, eq, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { v4 as uuidv4 } from "uuid";
import { identities, users } from "./schema.ts";
import type { Person } from "../port.ts";

/** What a provider says of a person. */
export interface Profile {
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
}

export type Linking = "linked" | "linked_elsewhere" | "linked_another";
export type Unlinking = "unlinked" | "only_one_left" | "not_linked";

export interface Users {
  /**
   * The user of an identity, made at first sight; one user also for simultaneous first sights. The
   * profile is kept up to date by the identity a person has had longest, and by no other: signing in
   * another way must not exchange an address that operators may have given powers to.
   */
  findOrCreate(provider: string, subject: string, profile: Profile): Promise<string>;
  /** Gives a user a further identity, at most one of each provider. Linking it again changes nothing. */
  link(user_id: string, provider: string, subject: string): Promise<Linking>;
  /** Takes an identity from a user, never the last one. */
  unlink(user_id: string, provider: string): Promise<Unlinking>;
  /** A user and their identities, oldest first; null where there is none. */
  read(user_id: string): Promise<Person | null>;
}

/** Users kept in the `users` and `identities` tables. */
export function createUsers(database: DrizzleD1Database): Users {
  const find = async (provider: string, subject: string): Promise<string | null> => {
    const row = await database
      .select({ user_id: identities.user_id })
      .from(identities)
      .where(and(eq(identities.provider, provider), eq(identities.subject, subject)))
      .get();
    return row?.user_id ?? null;
  };
  const linkedTo = (user_id: string) =>
    database
      .select()
      .from(identities)
      .where(eq(identities.user_id, user_id))
      .orderBy(asc(identities.created_at_ms), asc(identities.provider));
  const refresh = async (user_id: string, provider: string, profile: Profile): Promise<void> => {
    const [[oldest], [user]] = await database.batch([
      linkedTo(user_id).limit(1),
      database.select().from(users).where(eq(users.id, user_id)),
    ]);
    if (user === undefined || oldest?.provider !== provider) return;
    const changed =
      user.name !== profile.name ||
      user.email !== profile.email ||
      user.email_verified !== profile.email_verified;
    if (changed)
      await database
        .update(users)
        .set({ ...profile })
        .where(eq(users.id, user_id));
  };
  return {
    async findOrCreate(provider, subject, profile) {
      const known = await find(provider, subject);
      if (known !== null) {
        await refresh(known, provider, profile);
        return known;
      }
      const id = `user_${uuidv4()}`;
      const created_at_ms = Date.now();
      try {
        // One transaction: the identity's key decides who was first, and the loser leaves no user.
        await database.batch([
          database.insert(identities).values({ provider, subject, user_id: id, created_at_ms }),
          database.insert(users).values({ id, ...profile, created_at_ms }),
        ]);
        return id;
      } catch (error) {
        const winner = await find(provider, subject);
        if (winner !== null) return winner;
        throw error;
      }
    },
    async link(user_id, provider, subject) {
      // One statement decides: neither a stolen identity nor a second one of the provider slips by.
      const inserted = await database.run(sql`
        insert into identities (provider, subject, user_id, created_at_ms)
        select ${provider}, ${subject}, ${user_id}, ${Date.now()}
        where not exists (select 1 from identities where user_id = ${user_id} and provider = ${provider})
        on conflict (provider, subject) do nothing`);
      if (inserted.meta.changes > 0) return "linked";
      const owner = await find(provider, subject);
      if (owner === user_id) return "linked";
      return owner === null ? "linked_another" : "linked_elsewhere";
    },
    async unlink(user_id, provider) {
      const before = await linkedTo(user_id);
      const removal = database
        .delete(identities)
        .where(
          and(
            eq(identities.user_id, user_id),
            eq(identities.provider, provider),
            sql`(select count(*) from identities where user_id = ${user_id}) > 1`,
          ),
        );
      // Who vouched for the address goes, and the word for it with them, in one transaction; the next
      // oldest speaks at its next sign-in.
      const vouched = before[0]?.provider === provider && before.length > 1;
      const silence = database
        .update(users)
        .set({ email_verified: false })
        .where(eq(users.id, user_id));
      const [removed] = await database.batch(vouched ? [removal, silence] : [removal]);
      if (removed.meta.changes > 0) return "unlinked";
      return before.some((row) => row.provider === provider) ? "only_one_left" : "not_linked";
    },
    async read(user_id) {
      const [[user], rows] = await database.batch([
        database.select().from(users).where(eq(users.id, user_id)),
        linkedTo(user_id),
      ]);
      if (user === undefined) return null;
      const { id: identity_id, name, email, email_verified } = user;
      const linked = rows.map((row) => ({
        provider: row.provider,
        linked_at_ms: row.created_at_ms,
      }));
      return { identity_id, name, email, email_verified, linked };
    },
  };
}
