/**
 * The proof that approving a device needs: a browser session that the identity provider says lives. A
 * session JWT is believed for a quarter of an hour elsewhere; what makes a token of 90 days is worth
 * the look.
 */
import { finishAccountDeletion, isAccountDeleted } from "./deleted_account.ts";
import { findAppOfKey, readAppKey } from "./app_key.ts";
import { browserCaller, identify } from "./authenticate.ts";
import type { Session } from "../../identity/port.ts";
import type { Next } from "hono";
import { accountOf, callerOf, factory, type AppContext } from "../context.ts";
import { isFromOwnPage } from "../middleware/origins.ts";
import { refuseByAccept } from "../refusal_page.ts";
import { countAuthenticated, resumeSession, TooManyLookups } from "../middleware/rate_limits.ts";
import { refuse } from "../refusals.ts";
import { setSessionCookies } from "./session_cookies.ts";

const NEEDS_BROWSER = "This needs the browser session of a signed-in person.";

function confirm(context: AppContext, session: Session): void {
  context.set("session", session);
  context.set("caller", browserCaller(context, session));
}

/**
 * For the API: the cookies of a living session, or a session JWT whose session still lives. A personal
 * access token is neither, nor is a session JWT made from one, nor a JWT cookie without its session.
 */
export const requireBrowserSession = factory.createMiddleware(async (context, next) => {
  const key = readAppKey(context.req.header("Authorization") ?? "");
  if (key !== null) {
    const app = await findAppOfKey(context, key);
    return refuse(context, app.ok ? { code: "scope", reason: "app_key" } : app.refusal);
  }
  const session = await findSession(context);
  if (session === null) return refuse(context, { code: "unauthorized", detail: NEEDS_BROWSER });
  return next();
});

/** Finds the living session behind a request, and makes it the principal. */
async function findSession(context: AppContext): Promise<Session | null> {
  const { identity } = context.get("services");
  if (context.req.header("Authorization") === undefined) {
    const resumed = await resumeSession(context);
    if (resumed.kind !== "session") return null;
    await setSessionCookies(context, resumed.session, resumed.set_cookies);
    confirm(context, resumed.session);
    return resumed.session;
  }
  const bearer = await identify(context);
  if (!bearer.ok || bearer.value.proof.kind !== "session") return null;
  const { identity_id, proof } = bearer.value;
  const limited = await countAuthenticated(context, bearer.value);
  if (limited !== null) throw new TooManyLookups(limited);
  if (!(await identity.sessionIsAlive(proof.session_id, identity_id))) return null;
  context.set("caller", bearer.value);
  return { id: proof.session_id, identity_id };
}

/**
 * For pages: signed-out people sign in and come back to the same page, or a form's page. Nobody is let
 * in whose account is suspended.
 */
export const requireSignIn = factory.createMiddleware((context, next) =>
  requireSession(context, next, { suspended_too: false }),
);

/** {@link requireSignIn} for signing out, which is nobody's to forbid. */
export const requireSignInEvenSuspended = factory.createMiddleware((context, next) =>
  requireSession(context, next, { suspended_too: true }),
);

async function requireSession(
  context: AppContext,
  next: Next,
  { suspended_too }: { readonly suspended_too: boolean },
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
  confirm(context, resumed.session);
  const admitted = suspended_too ? null : await accountOf(context).checkCaller(callerOf(context));
  if (admitted?.ok === false) {
    const { refusal } = admitted;
    return isAccountDeleted(refusal)
      ? finishAccountDeletion(context, resumed.session.identity_id, null)
      : refuseByAccept(context, refusal);
  }
  // Not on forms: one of them takes the cookies away.
  if (is_page) await setSessionCookies(context, resumed.session, resumed.set_cookies);
  return next();
}

/** The page whose form is sent to an address: our forms go one step below their page. */
function parentOf(pathname: string): string {
  return pathname.slice(0, pathname.lastIndexOf("/"));
}

/** For forms of our own pages: only a page of this very origin may send them. */
export const guardOwnForms = factory.createMiddleware((context, next) =>
  isFromOwnPage(context)
    ? next()
    : Promise.resolve(refuseByAccept(context, { code: "origin_not_allowed" })),
);
