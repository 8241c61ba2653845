/** Browser sessions in D1: 256 random bits in a cookie, only their SHA-256 kept, sliding. */
import { and, eq, gt, lte } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { base64url } from "jose";
import { v4 as uuidv4 } from "uuid";
import { SESSION_SLIDE_AFTER_MS, SESSION_TTL_MS } from "../../domain/limits.ts";
import { sessions } from "../../readmodel/schema.ts";
import type { Session } from "../port.ts";

export interface Sessions {
  /** Starts a session; `secret` goes into the cookie and is kept nowhere. Clears away ended ones. */
  start(user_id: string): Promise<{ readonly secret: string; readonly session: Session }>;
  /** The living session of a secret, its end moved on; null where there is none. */
  resume(secret: string): Promise<Session | null>;
  /** Whether this session of this user lives. */
  isAlive(id: string, user_id: string): Promise<boolean>;
  /** When this session of this user ends, in milliseconds since the epoch; null: it does not live. */
  endsAt(id: string, user_id: string): Promise<number | null>;
  /** Ends the session of a secret, and says which that was. */
  end(secret: string): Promise<readonly Session[]>;
  /** Ends all sessions of a user. */
  endAll(user_id: string): Promise<void>;
}

/** Sessions kept in the `sessions` table. */
export function createSessions(database: DrizzleD1Database): Sessions {
  const endsAt = async (id: string, user_id: string): Promise<number | null> => {
    const living = and(
      eq(sessions.id, id),
      eq(sessions.user_id, user_id),
      gt(sessions.expires_at_ms, Date.now()),
    );
    const { expires_at_ms } = sessions;
    const row = await database.select({ expires_at_ms }).from(sessions).where(living).get();
    return row?.expires_at_ms ?? null;
  };
  return {
    async start(user_id) {
      const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
      const id = uuidv4();
      const now_ms = Date.now();
      const secret_hash = await hashSecret(secret);
      const expires_at_ms = now_ms + SESSION_TTL_MS;
      const ended = and(eq(sessions.user_id, user_id), lte(sessions.expires_at_ms, now_ms));
      await database.batch([
        database.delete(sessions).where(ended),
        database
          .insert(sessions)
          .values({ secret_hash, id, user_id, created_at_ms: now_ms, expires_at_ms }),
      ]);
      return { secret, session: { id, identity_id: user_id } };
    },
    async resume(secret) {
      const now_ms = Date.now();
      const secret_hash = await hashSecret(secret);
      const living = and(eq(sessions.secret_hash, secret_hash), gt(sessions.expires_at_ms, now_ms));
      const row = await database.select().from(sessions).where(living).get();
      if (row === undefined) return null;
      const expires_at_ms = now_ms + SESSION_TTL_MS;
      if (expires_at_ms - row.expires_at_ms >= SESSION_SLIDE_AFTER_MS) {
        await database.update(sessions).set({ expires_at_ms }).where(living);
      }
      return { id: row.id, identity_id: row.user_id };
    },
    isAlive: async (id, user_id) => (await endsAt(id, user_id)) !== null,
    endsAt,
    async end(secret) {
      return database
        .delete(sessions)
        .where(eq(sessions.secret_hash, await hashSecret(secret)))
        .returning({ id: sessions.id, identity_id: sessions.user_id });
    },
    async endAll(user_id) {
      await database.delete(sessions).where(eq(sessions.user_id, user_id));
    },
  };
}

async function hashSecret(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return base64url.encode(new Uint8Array(digest));
}
