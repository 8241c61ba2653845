/** Lists a person's browser sessions and ends one. */
import { and, desc, eq, gt } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { SESSION_TTL_MS } from "../../domain/limits.ts";
import type { ListedSession, Session } from "../port.ts";
import { sessions } from "./schema.ts";

/** The most sessions that the account page lists, newest use first. Signing out everywhere ends all of them. */
const SESSIONS_SHOWN_MAX = 50;

/** Sessions of a user that have not ended, newest use first. */
export async function listSessions(
  database: DrizzleD1Database,
  user_id: string,
): Promise<readonly ListedSession[]> {
  const rows = await database
    .select({
      id: sessions.id,
      created_at_ms: sessions.created_at_ms,
      expires_at_ms: sessions.expires_at_ms,
      browser: sessions.browser,
      city: sessions.city,
      country: sessions.country,
    })
    .from(sessions)
    .where(and(eq(sessions.user_id, user_id), gt(sessions.expires_at_ms, Date.now())))
    .orderBy(desc(sessions.expires_at_ms))
    .limit(SESSIONS_SHOWN_MAX);
  return rows.map(({ expires_at_ms, ...session }) => ({
    ...session,
    // A use moves the end if that gains a day, so the day of the last use follows from the end.
    last_used_at_ms: Math.max(session.created_at_ms, expires_at_ms - SESSION_TTL_MS),
  }));
}

/**
 * Ends one session of a user and returns it. A session of another user, or one that has ended, is not changed.
 */
export async function endSession(
  database: DrizzleD1Database,
  user_id: string,
  session_id: string,
): Promise<readonly Session[]> {
  return database
    .delete(sessions)
    .where(and(eq(sessions.id, session_id), eq(sessions.user_id, user_id)))
    .returning({ id: sessions.id, identity_id: sessions.user_id });
}
