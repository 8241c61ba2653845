/**
 * The proof that approving a device needs: a living session of a browser, confirmed by the identity
 * provider. A session JWT is not enough, not even as a cookie: apps hold such tokens too, and one of a
 * quarter of an hour must not be able to make one of 90 days.
 */
import { browserPrincipal, keepSignedIn } from "./authenticate.ts";
import type { Session } from "../identity/port.ts";
import { factory, type AppContext } from "./context.ts";
import { refuseByAccept } from "./problem.tsx";
import { refuse } from "./refusals.ts";
import { redirectTo } from "./signin/land.ts";

const NEEDS_BROWSER = "This needs the browser session of a signed-in person.";

function confirm(context: AppContext, session: Session): void {
  context.set("session", session);
  context.set("principal", browserPrincipal(session));
}

/** For the API: 401 without a session, and with a bearer token of any kind. */
export const requireBrowserSession = factory.createMiddleware(async (context, next) => {
  const bearer = context.req.header("Authorization") !== undefined;
  const resumed = bearer ? null : await context.get("services").identity.resume(context.req.raw);
  if (resumed?.kind !== "session") {
    return refuse(context, { code: "unauthorized", detail: NEEDS_BROWSER });
  }
  await keepSignedIn(context, resumed.session, resumed.set_cookies);
  confirm(context, resumed.session);
  return next();
});

/** For pages: signed-out people sign in and come back to the same page, or a form's page. */
export const signInFirst = factory.createMiddleware(async (context, next) => {
  const resumed = await context.get("services").identity.resume(context.req.raw);
  if (resumed.kind === "redirect") return redirectTo(context, resumed);
  const { pathname, search } = new URL(context.req.url);
  const is_page = context.req.method === "GET";
  if (resumed.kind === "none") {
    const page = is_page ? `${pathname}${search}` : parentOf(pathname);
    const signin = new URL("/signin", context.get("base_url"));
    signin.searchParams.set("redirect_to", new URL(page, context.get("base_url")).href);
    return context.redirect(signin.href, 303);
  }
  // Not on forms: one of them takes the cookies away.
  if (is_page) await keepSignedIn(context, resumed.session, resumed.set_cookies);
  confirm(context, resumed.session);
  return next();
});

/** The page whose form is sent to an address: our forms go one step below their page. */
function parentOf(pathname: string): string {
  return pathname.slice(0, pathname.lastIndexOf("/"));
}

/** For forms of our own pages: only a page of this very origin may send them. */
export const guardOwnForms = factory.createMiddleware(async (context, next) => {
  const origin = context.req.header("Origin");
  const own =
    origin === undefined
      ? context.req.header("Sec-Fetch-Site") === "same-origin"
      : origin === context.get("base_url");
  return own ? next() : refuseByAccept(context, { code: "origin_not_allowed" });
});
