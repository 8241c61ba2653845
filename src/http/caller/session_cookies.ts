/** The cookies of a signed-in browser: the identity provider's session cookie, and the session JWT. */
import { SESSION_JWT_TTL_SECONDS } from "../../domain/limits.ts";
import { SHARED_AZP } from "../../domain/proof.ts";
import { readCookies, sharedCookie, sharedCookieName } from "../../identity/cookies.ts";
import type { BrowserSession, ProviderRedirect } from "../../identity/port.ts";
import type { AppContext } from "../context.ts";

/**
 * The cookie with the session JWT, on the parent domain (spec, Authentication 2). Servers of apps can verify it
 * themselves; together with the session cookie it lets the API authenticate without a query.
 */
const SESSION_TOKEN_COOKIE = "passbook_token";

/** The session JWTs in a request's cookies. Any host of the parent domain may have set them. */
export function readSessionTokenCookies(context: AppContext): readonly string[] {
  return readCookies(
    context.req.raw,
    sharedCookieName(context.get("base_url"), SESSION_TOKEN_COOKIE),
  );
}

/** Sets the identity provider's cookies and the JWT cookie on the response. */
export async function setSessionCookies(
  context: AppContext,
  session: BrowserSession,
  set_cookies: readonly string[],
): Promise<void> {
  const { id: session_id, identity_id, binding } = session;
  const { config, session_tokens } = context.get("services");
  const base_url = context.get("base_url");
  const azp = config.cookie_domain === null ? base_url : SHARED_AZP;
  const proof = { kind: "session", session_id, azp } as const;
  const token = await session_tokens.sign(base_url, { identity_id, proof, binding });
  setCookies(context, [
    ...set_cookies,
    sessionTokenCookie(context, token, SESSION_JWT_TTL_SECONDS),
  ]);
}

/** Clears the JWT cookie, and sets the identity provider's cookies of a sign-out. */
export function clearSessionCookies(context: AppContext, set_cookies: readonly string[]): void {
  setCookies(context, [...set_cookies, sessionTokenCookie(context, "", 0)]);
}

function sessionTokenCookie(context: AppContext, value: string, max_age_seconds: number): string {
  const { cookie_domain } = context.get("services").config;
  const cookie = { name: SESSION_TOKEN_COOKIE, value, max_age_seconds };
  return sharedCookie(context.get("base_url"), cookie, cookie_domain);
}

export function setCookies(context: AppContext, set_cookies: readonly string[]): void {
  for (const value of set_cookies) context.header("Set-Cookie", value, { append: true });
}

/** Sends the browser to the provider that a sign-in starts with. */
export function redirectToProvider(
  context: AppContext,
  { to, set_cookies }: ProviderRedirect,
): Response {
  setCookies(context, set_cookies);
  context.header("Referrer-Policy", "no-referrer");
  return context.redirect(to, 303);
}
