/** The built-in identity provider: our own users and sessions, and anyone's OAuth 2 to sign in with. */
import { drizzle } from "drizzle-orm/d1";
import { parse } from "hono/utils/cookie";
import { SESSION_TTL_MS } from "../../domain/limits.ts";
import { sessionCookie, type CookieScope } from "../cookies.ts";
import type { IdentityProvider, SignedIn } from "../port.ts";
import type { SignInProvider } from "../providers.ts";
import type { KeepUpstreamTokens } from "../upstream_tokens.ts";
import { createFlowCookies, type EncryptionKey } from "./flow_cookie.ts";
import { endSession, listSessions } from "./session_list.ts";
import { createSessions } from "./sessions.ts";
import { createSignIns } from "./sign_ins.ts";
import { createUsers } from "./users.ts";

export const SESSION_COOKIE = "passbook_session";

/** 256 bits in base64url. */
const SESSION_SECRET = /^[A-Za-z0-9_-]{43}$/;

export interface BuiltinOptions {
  readonly database: D1Database;
  readonly cookie_scope: CookieScope;
  /** Whether `POST /signin/dev` exists. */
  readonly dev_signin: boolean;
  readonly providers: readonly SignInProvider[];
  /** The first seals flow cookies, all open them. */
  readonly encryption_keys: readonly EncryptionKey[];
  /** Takes the tokens that come with a sign-in. */
  readonly keep_upstream_tokens?: KeepUpstreamTokens;
  /** Told when a person no longer signs in with a provider. */
  readonly forget_upstream_tokens?: (identity_id: string, provider: string) => Promise<void>;
}

/** Opens the provider over D1. */
export function createBuiltinProvider(options: BuiltinOptions): IdentityProvider {
  const database = drizzle(options.database);
  const sessions = createSessions(database);
  const users = createUsers(database);
  const cookieFor = (secret: string, max_age_seconds = SESSION_TTL_MS / 1000): string =>
    sessionCookie(SESSION_COOKIE, secret, max_age_seconds, options.cookie_scope);

  // Always a new session: one that was planted in the browser before gains nothing from a sign-in.
  const signIn = async (user_id: string): Promise<SignedIn> => {
    const { secret, session } = await sessions.start(user_id);
    return { session, set_cookies: [cookieFor(secret)] };
  };
  const sessionOf = async (request: Request) => {
    const secret = secretOf(request);
    return secret === undefined ? null : sessions.resume(secret);
  };
  const signIns = createSignIns({
    providers: options.providers,
    flows: createFlowCookies(options.encryption_keys),
    users,
    keep_upstream_tokens: options.keep_upstream_tokens ?? null,
    sessionOf,
    signIn,
  });

  return {
    ways: options.providers.map(({ id, name }) => ({ id, name })),
    async resume(request) {
      const secret = secretOf(request);
      const session = await sessionOf(request);
      if (secret === undefined || session === null) return { kind: "none" };
      return { kind: "session", session, set_cookies: [cookieFor(secret)] };
    },
    sessionIsAlive: (session_id, identity_id) => sessions.isAlive(session_id, identity_id),
    startSignIn: (start) => signIns.start(start),
    finishSignIn: (request, way_id, base_url) => signIns.finish(request, way_id, base_url),
    async signOut(request) {
      const secret = secretOf(request);
      if (secret !== undefined) await sessions.end(secret);
      return { kind: "signed_out", set_cookies: [cookieFor("", 0)] };
    },
    signOutEverywhere: (identity_id) => sessions.endAll(identity_id),
    listSessions: (identity_id) => listSessions(database, identity_id),
    endSession: (identity_id, session_id) => endSession(database, identity_id, session_id),
    readPerson: (identity_id) => users.read(identity_id),
    async unlink(identity_id, provider) {
      const outcome = await users.unlink(identity_id, provider);
      if (outcome === "only_one_left") return { kind: "refused", reason: outcome };
      // Also where it was not linked: a first try may have unlinked it and failed before this.
      await options.forget_upstream_tokens?.(identity_id, provider);
      return outcome === "unlinked" ? { kind: "unlinked" } : { kind: "refused", reason: outcome };
    },
    signInDevelopment: options.dev_signin
      ? async (email) => {
          const subject = email.toLowerCase();
          const profile = { name: null, email: subject, email_verified: true };
          return signIn(await users.findOrCreate("dev", subject, profile));
        }
      : null,
  };
}

/** The secret in a request's cookie; what cannot be one of ours asks no store. */
function secretOf(request: Request): string | undefined {
  const value = parse(request.headers.get("Cookie") ?? "", SESSION_COOKIE)[SESSION_COOKIE];
  return value !== undefined && SESSION_SECRET.test(value) ? value : undefined;
}
