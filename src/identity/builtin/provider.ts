/** The built-in identity provider: our own users and sessions. */
import { drizzle } from "drizzle-orm/d1";
import { parse } from "hono/utils/cookie";
import { SESSION_TTL_MS } from "../../domain/limits.ts";
import { sessionCookie, type CookieScope } from "../cookies.ts";
import type { IdentityProvider, SignedIn } from "../port.ts";
import { createSessions } from "./sessions.ts";
import { createUsers } from "./users.ts";

export const SESSION_COOKIE = "passbook_session";

export interface BuiltinOptions {
  readonly database: D1Database;
  readonly cookie_scope: CookieScope;
  /** Whether `POST /signin/dev` exists. */
  readonly dev_signin: boolean;
}

/** Opens the provider over D1. */
export function createBuiltinProvider(options: BuiltinOptions): IdentityProvider {
  const database = drizzle(options.database);
  const sessions = createSessions(database);
  const users = createUsers(database);
  const cookieFor = (secret: string): string =>
    sessionCookie(SESSION_COOKIE, secret, SESSION_TTL_MS / 1000, options.cookie_scope);

  const signIn = async (user_id: string): Promise<SignedIn> => {
    const { secret, session } = await sessions.start(user_id);
    return { session, set_cookies: [cookieFor(secret)] };
  };

  return {
    async resume(request) {
      const secret = parse(request.headers.get("Cookie") ?? "", SESSION_COOKIE)[SESSION_COOKIE];
      const session = secret === undefined ? null : await sessions.resume(secret);
      if (secret === undefined || session === null) return { kind: "none" };
      return { kind: "session", session, set_cookies: [cookieFor(secret)] };
    },
    sessionIsAlive: (session_id, identity_id) => sessions.isAlive(session_id, identity_id),
    signInDevelopment: options.dev_signin
      ? async (email) => {
          const subject = email.toLowerCase();
          const profile = { name: null, email: subject, email_verified: true };
          return signIn(await users.findOrCreate("dev", subject, profile));
        }
      : null,
  };
}
