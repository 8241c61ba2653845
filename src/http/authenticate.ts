/** Who calls: a bearer token if there is one, otherwise a browser's cookies. */
import { getCookie } from "hono/cookie";
import { RATE_LIMIT_AUTHENTICATED_SECONDS, SESSION_JWT_TTL_SECONDS } from "../domain/limits.ts";
import { PERSONAL_TOKEN_PREFIX, type Identified } from "../domain/proof.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { sessionCookie } from "../identity/cookies.ts";
import type { Session } from "../identity/port.ts";
import { readBearer } from "./bearer.ts";
import { factory, type AppContext, type Principal } from "./context.ts";
import { refuse } from "./refusals.ts";

/** The cookie that carries the session JWT, so that the usual request reads no store. */
export const TOKEN_COOKIE = "passbook_token";

const NOT_SIGNED_IN = "Sign in, or send a bearer token.";
const BAD_BEARER = "The bearer token is not valid or has expired. Get a new one.";

/** Requires a caller, known by token or cookie, and holds them to the rate limit. */
export const authenticate = factory.createMiddleware(async (context, next) => {
  const principal = await identify(context);
  if (!principal.ok) return refuse(context, principal.refusal);
  const { limits } = context.get("services");
  const { success } = await limits.authenticated.limit({ key: principal.value.identity_id });
  if (!success) {
    const retry_after_seconds = RATE_LIMIT_AUTHENTICATED_SECONDS;
    return refuse(context, { code: "rate_limited", retry_after_seconds });
  }
  context.set("principal", principal.value);
  return next();
});

/** The caller, or why there is none. A bearer that is not valid is never rescued by a cookie. */
export async function identify(context: AppContext): Promise<Result<Principal, Refusal>> {
  const header = context.req.header("Authorization");
  return header === undefined ? identifyByCookie(context) : identifyByBearer(context, header);
}

/** The caller of an `Authorization` header. */
export async function identifyByBearer(
  context: AppContext,
  header: string,
): Promise<Result<Principal, Refusal>> {
  const token = readBearer(header);
  const claims = token ? await verifyBearer(context, token) : null;
  return claims
    ? accepted({ ...claims, via: "bearer" })
    : refused({ code: "unauthorized", detail: BAD_BEARER });
}

/** A token is what its prefix says or nothing: neither kind is ever tried as the other. */
async function verifyBearer(context: AppContext, token: string): Promise<Identified | null> {
  const { personal_tokens, session_tokens } = context.get("services");
  const issuer = context.get("base_url");
  if (!token.startsWith(PERSONAL_TOKEN_PREFIX)) return session_tokens.verify(issuer, token);
  const claims = await personal_tokens.verify(issuer, token);
  if (claims === null) return null;
  const { identity_id, token_id } = claims;
  return { identity_id, proof: { kind: "pat", token_id } };
}

async function identifyByCookie(context: AppContext): Promise<Result<Principal, Refusal>> {
  const { identity, session_tokens } = context.get("services");
  const token = getCookie(context, TOKEN_COOKIE);
  const claims = token && (await session_tokens.verify(context.get("base_url"), token));
  if (claims && claims.proof.kind === "session") {
    return accepted({ identity_id: claims.identity_id, proof: claims.proof, via: "cookie" });
  }
  const resumed = await identity.resume(context.req.raw);
  if (resumed.kind !== "session") return refused({ code: "unauthorized", detail: NOT_SIGNED_IN });
  await keepSignedIn(context, resumed.session, resumed.set_cookies);
  return accepted(browserPrincipal(resumed.session));
}

/** The principal of a session that the identity provider has just confirmed. */
export function browserPrincipal({ id: session_id, identity_id }: Session): Principal {
  return { identity_id, proof: { kind: "session", session_id }, via: "cookie" };
}

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
