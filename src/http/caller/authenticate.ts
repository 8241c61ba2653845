/** Authentication: by the bearer token if the request has one, otherwise by cookies. */
import { SESSION_JWT_TTL_SECONDS } from "../../domain/limits.ts";
import { ACCESS_TOKEN_PREFIX, PERSONAL_TOKEN_PREFIX, type Identified } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { Session } from "../../identity/port.ts";
import { accountCallerOf } from "./account_caller.ts";
import { identifyAppSession } from "./app_session.ts";
import { appKeyOf, findAppOfKey, identifyApp, readAppKey } from "./app_key.ts";
import { factory, type AppContext, type UserCaller } from "../context.ts";
import { requestingOrigin } from "../middleware/origins.ts";
import {
  countApp,
  countAuthenticated,
  rememberTokenStatus,
  resumeSession,
} from "../middleware/rate_limits.ts";
import { readBearer, refusalOfBearer, refusingService } from "./bearer.ts";
import { refuse } from "../refusals.ts";
import { isOfDeletedClient } from "./deleted_registrations.ts";
import { setSessionCookies, readSessionTokenCookies } from "./session_cookies.ts";

const NOT_SIGNED_IN = "Sign in, or send a bearer token.";

/** Requires a caller with a token or cookies, within the rate limit. */
export const authenticate = factory.createMiddleware(async (context, next) => {
  const caller = await identify(context);
  if (!caller.ok) return refuse(context, caller.refusal);
  const limited = await countAuthenticated(context, caller.value);
  if (limited !== null) return refuse(context, limited);
  context.set("caller", caller.value);
  await next();
  rememberTokenStatus(context, caller.value);
  return undefined;
});

/** {@link authenticate} for routes that also accept an app's key. */
export const authenticateUserOrApp = factory.createMiddleware(async (context, next) => {
  const key = appKeyOf(context);
  if (key === null) return authenticate(context, next);
  const caller = await identifyApp(context, key);
  if (!caller.ok) return refuse(context, caller.refusal);
  const limited = await countApp(context, caller.value.proof);
  if (limited !== null) return refuse(context, limited);
  context.set("caller", caller.value);
  await next();
  return undefined;
});

/** The caller. If the bearer token is not valid, cookies are not tried. */
export async function identify(context: AppContext): Promise<Result<UserCaller, Refusal>> {
  const header = context.req.header("Authorization");
  return header === undefined ? identifyByCookie(context) : identifyByBearer(context, header);
}

/** The caller of an `Authorization` header. Only {@link authenticateUserOrApp} accepts an app's key. */
export async function identifyByBearer(
  context: AppContext,
  header: string,
): Promise<Result<UserCaller, Refusal>> {
  const app_key = readAppKey(header);
  if (app_key !== null) {
    const app = await findAppOfKey(context, app_key);
    return app.ok ? refused({ code: "scope", reason: "app_key" }) : app;
  }
  const token = readBearer(header);
  const claims = token ? await verifyBearer(context, token) : null;
  if (claims !== null) {
    const { identity_id, proof, expires_at_ms } = claims;
    if (await isOfDeletedClient(context, proof)) {
      return refused({ code: "unauthorized", reason: "personal_token_ended" });
    }
    const account_caller = await accountCallerOf(context, proof);
    return accepted({ identity_id, account_caller, proof, expires_at_ms, via: "bearer" });
  }
  const app_session = token ? await identifyAppSession(context, token) : null;
  if (app_session !== null) return app_session;
  return refused(refusalOfBearer(header, refusingService(context)));
}

/** The prefix decides the kind of the token. No other kind is tried, so one kind's key never verifies the other's token. */
async function verifyBearer(
  context: AppContext,
  token: string,
): Promise<(Identified & Pick<UserCaller, "expires_at_ms">) | null> {
  const { access_tokens, personal_tokens, session_tokens } = context.get("services");
  const issuer = context.get("base_url");
  if (token.startsWith(ACCESS_TOKEN_PREFIX)) {
    const claims = await access_tokens.verify(issuer, token);
    if (claims === null) return null;
    const { identity_id, credential, client_id, expires_at_ms } = claims;
    return { identity_id, proof: { kind: "connection", credential, client_id }, expires_at_ms };
  }
  if (!token.startsWith(PERSONAL_TOKEN_PREFIX)) return session_tokens.verify(issuer, token);
  const claims = await personal_tokens.verify(issuer, token);
  if (claims === null) return null;
  const { identity_id, personal_token_id, expires_at_ms, ...client } = claims;
  const credential = { kind: "allowance", allowance_id: personal_token_id } as const;
  const proof = { kind: "personal_token", credential, ...client } as const;
  return { identity_id, proof, expires_at_ms };
}

async function identifyByCookie(context: AppContext): Promise<Result<UserCaller, Refusal>> {
  const known = await findSessionToken(context);
  return known === null ? identifyBySession(context) : accepted(known);
}

/** Looks up the session of the cookies, and renews the JWT cookie. */
export async function identifyBySession(context: AppContext): Promise<Result<UserCaller, Refusal>> {
  const resumed = await resumeSession(context);
  if (resumed.kind !== "session") return refused({ code: "unauthorized", detail: NOT_SIGNED_IN });
  await setSessionCookies(context, resumed.session, resumed.set_cookies);
  return accepted(await browserCaller(context, resumed.session));
}

/**
 * The caller of the JWT cookie, without a query to a store. The JWT counts only together with the session cookie that it is
 * bound to: every host of the parent domain can set the JWT cookie, but only this host can set the session cookie.
 */
async function findSessionToken(context: AppContext): Promise<UserCaller | null> {
  const { identity, session_tokens } = context.get("services");
  const bindings = new Set(await identity.sessionBindings(context.req.raw));
  if (bindings.size === 0) return null;
  for (const token of readSessionTokenCookies(context)) {
    const claims = await session_tokens.verify(context.get("base_url"), token);
    if (claims === null || claims.proof.kind !== "session") continue;
    const { identity_id, proof, expires_at_ms, binding } = claims;
    if (binding === null || !bindings.has(binding)) continue;
    return browserCaller(context, { id: proof.session_id, identity_id }, expires_at_ms);
  }
  return null;
}

/**
 * The caller of a session that a cookie proved. `azp` is the origin of the page that sent the cookie, not the `azp` of the
 * JWT cookie. A session that was just looked up is valid for as long as a new JWT.
 */
export async function browserCaller(
  context: AppContext,
  { id: session_id, identity_id }: Session,
  expires_at_ms: number = Date.now() + SESSION_JWT_TTL_SECONDS * 1000,
): Promise<UserCaller & { readonly via: "cookie" }> {
  const proof = { kind: "session", session_id, azp: requestingOrigin(context) } as const;
  const account_caller = await accountCallerOf(context, proof);
  return { identity_id, account_caller, proof, expires_at_ms, via: "cookie" };
}
