/**
 * Browser sessions in D1: a cookie with 256 random bits, of which only the SHA-256 is stored. Each use extends
 * the session.
 */
import { and, asc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { base64url } from "jose";
import { locationOf, programOf, type Location } from "../../domain/client_description.ts";
import { errorName } from "../../domain/result.ts";
import {
  SESSION_CLEANUP_PORTIONS,
  SESSION_CLEANUP_ROWS,
  SESSION_TTL_MS,
} from "../../domain/limits.ts";
import type { BrowserSession, LiveSession, Session, StartedSession } from "../port.ts";
import { sessions, users } from "./schema.ts";

/** A renewal moves a session's end only if that gains this much: one write per day, not one per quarter of an hour. */
const SESSION_SLIDE_AFTER_MS = 24 * 60 * 60 * 1000;

/** The description of a session's browser, by which its person recognises it. */
interface BrowserDescription extends Location {
  /** Such as "Firefox on Linux"; null: unknown. */
  readonly browser: string | null;
}

export function describeBrowser(request: Request): BrowserDescription {
  return { browser: programOf(request.headers.get("User-Agent") ?? ""), ...locationOf(request) };
}

/** A session and its secret. The secret goes into the cookie and is not stored. */
interface ProvenSession<Proven extends BrowserSession = BrowserSession> {
  readonly secret: string;
  readonly session: Proven;
}

/** The identity that a sign-in proved. `subject` is null for a recovery code, which is used up. */
export interface ProvenIdentity {
  readonly provider: string;
  readonly subject: string | null;
}

/** The columns that an ended session returns. */
const ENDED = { id: sessions.id, identity_id: sessions.user_id };

export class Sessions {
  readonly #database: DrizzleD1Database;

  constructor(database: DrizzleD1Database) {
    this.#database = database;
  }

  /**
   * Starts a session of a user who signed in with an identity, and deletes the user's expired sessions. Null:
   * the identity was unlinked meanwhile.
   */
  async start(
    user_id: string,
    { provider, subject }: ProvenIdentity,
    { browser, city, country }: BrowserDescription,
  ): Promise<ProvenSession<StartedSession> | null> {
    const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
    const id = crypto.randomUUID();
    const now_ms = Date.now();
    const secret_hash = await hashSecret(secret);
    const expires_at_ms = now_ms + SESSION_TTL_MS;
    const ended = and(eq(sessions.user_id, user_id), lte(sessions.expires_at_ms, now_ms));
    // One query decides, so no session starts with an identity that was unlinked during the sign-in.
    const [, inserted, [user]] = await this.#database.batch([
      this.#database.delete(sessions).where(ended),
      this.#database.insert(sessions).select(sql`
          select ${secret_hash}, ${id}, ${user_id}, ${now_ms}, ${expires_at_ms}, ${provider},
            ${browser}, ${city}, ${country}
          where exists (
            select 1 from identities
            where user_id = ${user_id} and (
              ${subject} is null or (provider = ${provider} and subject = ${subject})))`),
      this.#database.select({ language: users.language }).from(users).where(eq(users.id, user_id)),
    ]);
    if (inserted.meta.changes === 0) return null;
    const binding = await bindingOf(secret);
    const language = user?.language ?? null;
    return { secret, session: { id, identity_id: user_id, binding, language } };
  }

  /**
   * The first of these secrets' sessions that has not ended, or null. Extends it and updates the
   * description of its browser.
   */
  async resume(
    secrets: readonly string[],
    description: BrowserDescription,
  ): Promise<ProvenSession<BrowserSession & LiveSession> | null> {
    if (secrets.length === 0) return null;
    const now_ms = Date.now();
    const hashes = await Promise.all(secrets.map(hashSecret));
    const rows = await this.#database
      .select()
      .from(sessions)
      .where(and(inArray(sessions.secret_hash, hashes), gt(sessions.expires_at_ms, now_ms)));
    for (const [index, secret] of secrets.entries()) {
      const row = rows.find(({ secret_hash }) => secret_hash === hashes[index]);
      if (row === undefined) continue;
      const expires_at_ms = now_ms + SESSION_TTL_MS;
      if (expires_at_ms - row.expires_at_ms >= SESSION_SLIDE_AFTER_MS) {
        await this.#slide(row.secret_hash, expires_at_ms, description);
      }
      const session = {
        id: row.id,
        identity_id: row.user_id,
        binding: await bindingOf(secret),
        started_at_ms: row.created_at_ms,
        ends_at_ms: row.expires_at_ms,
        signin_method: row.provider,
      };
      return { secret, session };
    }
    return null;
  }

  /** This session of this user; null: it has ended. */
  async read(id: string, user_id: string): Promise<LiveSession | null> {
    const living = and(
      eq(sessions.id, id),
      eq(sessions.user_id, user_id),
      gt(sessions.expires_at_ms, Date.now()),
    );
    const columns = {
      started_at_ms: sessions.created_at_ms,
      ends_at_ms: sessions.expires_at_ms,
      signin_method: sessions.provider,
    };
    return (await this.#database.select(columns).from(sessions).where(living).get()) ?? null;
  }

  async end(secrets: readonly string[]): Promise<readonly Session[]> {
    if (secrets.length === 0) return [];
    const hashes = await Promise.all(secrets.map(hashSecret));
    return this.#database
      .delete(sessions)
      .where(inArray(sessions.secret_hash, hashes))
      .returning(ENDED);
  }

  endAll(user_id: string): Promise<readonly Session[]> {
    return this.#database.delete(sessions).where(eq(sessions.user_id, user_id)).returning(ENDED);
  }

  /** Deletes expired sessions, oldest first, up to the limit of one run. */
  async deleteEnded(): Promise<{ readonly deleted_sessions: number }> {
    const { secret_hash, expires_at_ms } = sessions;
    const oldest = this.#database
      .select({ secret_hash })
      .from(sessions)
      .where(lte(expires_at_ms, Date.now()))
      .orderBy(asc(expires_at_ms))
      .limit(SESSION_CLEANUP_ROWS);
    let deleted_sessions = 0;
    for (let portions = 0; portions < SESSION_CLEANUP_PORTIONS; portions += 1) {
      const { meta } = await this.#database.delete(sessions).where(inArray(secret_hash, oldest));
      deleted_sessions += meta.changes;
      if (meta.changes < SESSION_CLEANUP_ROWS) break;
    }
    return { deleted_sessions };
  }

  /** Extends a session. A failure is only logged, because the session stays valid as it was. */
  async #slide(
    secret_hash: string,
    expires_at_ms: number,
    description: BrowserDescription,
  ): Promise<void> {
    try {
      await this.#database
        .update(sessions)
        .set({ expires_at_ms, ...description })
        .where(eq(sessions.secret_hash, secret_hash));
    } catch (error) {
      const name = errorName(error);
      console.warn({ event: "session_extension_failed", name });
    }
  }
}

/**
 * The binding of a session's JWTs to its cookie. It differs from the hash in D1, because apps on other hosts
 * receive the JWT.
 */
export function bindingOf(secret: string): Promise<string> {
  return hashSecret(`passbook session binding 1 ${secret}`);
}

async function hashSecret(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return base64url.encode(new Uint8Array(digest));
}
