/** Lists a person's browser sessions and ends one. */
import { and, asc, desc, eq, gt } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { SESSION_TTL_MS } from "../../domain/limits.ts";
import type { ListedSession, Session } from "../port.ts";
import { sessions } from "./schema.ts";

/** The most sessions that the account page lists, newest use first. Signing out everywhere ends all of them. */
const SESSIONS_SHOWN_MAX = 50;

const listed = {
  id: sessions.id,
  created_at_ms: sessions.created_at_ms,
  expires_at_ms: sessions.expires_at_ms,
  browser: sessions.browser,
  city: sessions.city,
  country: sessions.country,
};

/** The newest sessions of a user that have not ended, newest use first. */
export async function listSessions(
  database: DrizzleD1Database,
  user_id: string,
): Promise<readonly ListedSession[]> {
  const rows = await database
    .select(listed)
    .from(sessions)
    .where(isLiveOf(user_id))
    .orderBy(desc(sessions.expires_at_ms))
    .limit(SESSIONS_SHOWN_MAX);
  return rows.map(withLastUse);
}

/** A page of the same sessions, by id. */
export async function pageSessions(
  database: DrizzleD1Database,
  user_id: string,
  after_id: string,
  limit: number,
): Promise<readonly ListedSession[]> {
  const rows = await database
    .select(listed)
    .from(sessions)
    .where(and(isLiveOf(user_id), gt(sessions.id, after_id)))
    .orderBy(asc(sessions.id))
    .limit(limit);
  return rows.map(withLastUse);
}

function isLiveOf(user_id: string) {
  return and(eq(sessions.user_id, user_id), gt(sessions.expires_at_ms, Date.now()));
}

/** A use moves the end if that gains a day, so the day of the last use follows from the end. */
function withLastUse({
  expires_at_ms,
  ...session
}: Omit<ListedSession, "last_used_at_ms"> & { readonly expires_at_ms: number }): ListedSession {
  const last_used_at_ms = Math.max(session.created_at_ms, expires_at_ms - SESSION_TTL_MS);
  return { ...session, last_used_at_ms };
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
