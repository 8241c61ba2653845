/**
 * Requires a browser session that the identity provider confirms as live. Other routes accept a session JWT for its 15
 * minutes without that query; approving a device creates a token for 90 days, and pages may change the account.
 */
import { finishAccountDeletion, isAccountDeleted } from "./deleted_account.ts";
import { appKeyOf, findAppOfKey } from "./app_key.ts";
import { HOLDER } from "../../account/contract.ts";
import { browserCaller, identify } from "./authenticate.ts";
import { isOfAllowance } from "../../domain/proof.ts";
import type { ResumedSession, Session } from "../../identity/port.ts";
import type { Next } from "hono";
import { accountOf, callerOf, factory, type AppContext } from "../context.ts";
import { isFromOwnPage } from "../middleware/origins.ts";
import { refuseByAccept } from "../refusal_page.ts";
import { countAuthenticated, resumeSession, TooManyLookups } from "../middleware/rate_limits.ts";
import { refuse } from "../refusals.ts";
import { setSessionCookies } from "./session_cookies.ts";

const SESSION_REQUIRED = "This requires a browser session. Sign in first.";

async function setSession(context: AppContext, session: ResumedSession): Promise<void> {
  context.set("session", session);
  context.set("caller", await browserCaller(context, session));
}

/** Sets the session of one of our own pages. A link from another site opens a page as the holder too. */
async function setPageSession(context: AppContext, session: ResumedSession): Promise<void> {
  context.set("session", session);
  context.set("caller", { ...(await browserCaller(context, session)), account_caller: HOLDER });
}

/**
 * For the API: requires the cookies of a live session, or a session JWT whose session is live. A personal access token, a
 * session JWT made from one, and a JWT cookie without its session cookie are refused.
 */
export const requireBrowserSession = factory.createMiddleware(async (context, next) => {
  const key = appKeyOf(context);
  if (key !== null) {
    const app = await findAppOfKey(context, key);
    return refuse(context, app.ok ? { code: "scope", reason: "app_key" } : app.refusal);
  }
  const session = await findSession(context);
  if (session === null) return refuse(context, { code: "unauthorized", detail: SESSION_REQUIRED });
  return next();
});

/** Finds the live session of a request, and sets it as the caller. */
async function findSession(context: AppContext): Promise<Session | null> {
  const { identity } = context.get("services");
  if (context.req.header("Authorization") === undefined) {
    const resumed = await resumeSession(context);
    if (resumed.kind !== "session") return null;
    await setSessionCookies(context, resumed.session, resumed.set_cookies);
    await setSession(context, resumed.session);
    return resumed.session;
  }
  const bearer = await identify(context);
  if (!bearer.ok || bearer.value.proof.kind !== "session") return null;
  const { identity_id, proof } = bearer.value;
  const limited = await countAuthenticated(context, bearer.value);
  if (limited !== null) throw new TooManyLookups(limited);
  if (!(await identity.isSessionLive(proof.session_id, identity_id))) return null;
  context.set("caller", bearer.value);
  return { id: proof.session_id, identity_id };
}

/**
 * Requires that the session behind the caller's token has not ended. Other endpoints accept a session JWT until it
 * expires; a credential for another service is worth the extra query.
 */
export const requireLiveSession = factory.createMiddleware(async (context, next) => {
  const { proof, identity_id } = context.get("caller");
  const { identity } = context.get("services");
  // The account checks a personal access token itself when it reads the upstream token. An app's session is the token.
  if (isOfAllowance(proof) || proof.kind === "app_session") return next();
  if (proof.kind !== "session") return refuse(context, { code: "scope", reason: "app_key" });
  if (await identity.isSessionLive(proof.session_id, identity_id)) return next();
  return refuse(context, {
    code: "unauthorized",
    detail: "The session behind this token has ended. Sign in again.",
  });
});

/**
 * For pages: a person who is not signed in signs in first and returns to the page, or to the page of the form. The holder
 * of a suspended account is refused.
 */
export const requireSignIn = factory.createMiddleware((context, next) =>
  requireSession(context, next, { allow_suspended: false }),
);

/** {@link requireSignIn} for signing out and for the download of one's data, which a suspension does not prevent. */
export const requireSignInEvenSuspended = factory.createMiddleware((context, next) =>
  requireSession(context, next, { allow_suspended: true }),
);

async function requireSession(
  context: AppContext,
  next: Next,
  { allow_suspended }: { readonly allow_suspended: boolean },
): Promise<Response | void> {
  const resumed = await resumeSession(context);
  const { pathname, search } = new URL(context.req.url);
  const is_page = ["GET", "HEAD"].includes(context.req.method);
  if (resumed.kind === "none") {
    const page = is_page ? `${pathname}${search}` : parentOf(pathname);
    const signin = new URL("/signin", context.get("base_url"));
    signin.searchParams.set("redirect_to", new URL(page, context.get("base_url")).href);
    return context.redirect(signin.href, 303);
  }
  await setPageSession(context, resumed.session);
  const admitted = allow_suspended
    ? null
    : await accountOf(context).readTopUpState(callerOf(context));
  if (admitted?.ok === false) {
    const { refusal } = admitted;
    return isAccountDeleted(refusal)
      ? finishAccountDeletion(context, resumed.session.identity_id, null)
      : refuseByAccept(context, refusal);
  }
  context.set("top_up_state", admitted?.value ?? null);
  // Not on forms: the sign-out form clears the cookies.
  if (is_page) await setSessionCookies(context, resumed.session, resumed.set_cookies);
  return next();
}

/** For pages that decide themselves what a signed-out person sees: sets the session, if the request proves one. */
export const loadSession = factory.createMiddleware(async (context, next) => {
  const resumed = await resumeSession(context);
  if (resumed.kind === "session") {
    await setPageSession(context, resumed.session);
    await setSessionCookies(context, resumed.session, resumed.set_cookies);
  }
  return next();
});

/** The page of a form: a form's path is one level below the path of its page. */
function parentOf(pathname: string): string {
  return pathname.slice(0, pathname.lastIndexOf("/"));
}

/** For forms of our own pages: only a page of the service's own origin may send them. */
export const guardOwnForms = factory.createMiddleware((context, next) =>
  isFromOwnPage(context)
    ? next()
    : Promise.resolve(refuseByAccept(context, { code: "origin_not_allowed" })),
);
