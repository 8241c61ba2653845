/** People and how they sign in. An identity is (provider, subject); an e-mail address never joins two. */
import { and, eq } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { v4 as uuidv4 } from "uuid";
import { identities, users } from "../../readmodel/schema.ts";

/** What a provider says of a person. */
export interface Profile {
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
}

export interface Users {
  /** The user of an identity, made at first sight; one user also for simultaneous first sights. */
  findOrCreate(provider: string, subject: string, profile: Profile): Promise<string>;
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
  return {
    async findOrCreate(provider, subject, profile) {
      const known = await find(provider, subject);
      if (known !== null) return known;
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
  };
}
