/** The cookies that an answer sets and takes away: the session's own, and the JWT beside it. */
import { SESSION_JWT_TTL_SECONDS } from "../domain/limits.ts";
import { sessionCookie } from "../identity/cookies.ts";
import type { SendElsewhere, Session } from "../identity/port.ts";
import type { AppContext } from "./context.ts";

/** The cookie that carries the session JWT, so that the usual request reads no store. */
export const TOKEN_COOKIE = "passbook_token";

/**
 * Puts a session's cookies on the answer, the JWT cookie beside the provider's own.
 * @returns the JWT.
 */
export async function keepSignedIn(
  context: AppContext,
  session: Session,
  set_cookies: readonly string[],
): Promise<string> {
  const { config, session_tokens } = context.get("services");
  const { id: session_id, identity_id } = session;
  const token = await session_tokens.sign(context.get("base_url"), {
    identity_id,
    proof: { kind: "session", session_id },
  });
  const scope = { domain: config.cookie_domain };
  const cookie = sessionCookie(TOKEN_COOKIE, token, SESSION_JWT_TTL_SECONDS, scope);
  setCookies(context, [...set_cookies, cookie]);
  return token;
}

/** Clears the JWT cookie, and puts the provider's own cookies of a sign-out on the answer. */
export function forgetSignedIn(context: AppContext, set_cookies: readonly string[]): void {
  const scope = { domain: context.get("services").config.cookie_domain };
  setCookies(context, [...set_cookies, sessionCookie(TOKEN_COOKIE, "", 0, scope)]);
}

/** Puts `Set-Cookie` values on the answer. */
export function setCookies(context: AppContext, set_cookies: readonly string[]): void {
  for (const value of set_cookies) context.header("Set-Cookie", value, { append: true });
}

/** Sends the browser on where an identity provider wants it. */
export function sendElsewhere(context: AppContext, elsewhere: SendElsewhere): Response {
  setCookies(context, elsewhere.set_cookies);
  context.header("Referrer-Policy", "no-referrer");
  return context.redirect(elsewhere.to, 303);
}
