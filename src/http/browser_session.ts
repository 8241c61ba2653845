/**
 * The proof that approving a device needs: a living session of a browser, confirmed by the identity
 * provider. A session JWT is not enough, not even as a cookie: apps hold such tokens too, and one of a
 * quarter of an hour must not be able to make one of 90 days.
 */
import { browserPrincipal, keepSignedIn } from "./authenticate.ts";
import { factory, type AppContext } from "./context.ts";
import { refuseByAccept } from "./problem.tsx";
import { refuse } from "./refusals.ts";

const NEEDS_BROWSER = "This needs the browser session of a signed-in person.";

/** Finds the session behind the cookies, and makes it the principal. */
async function resumeSession(context: AppContext): Promise<boolean> {
  const resumed = await context.get("services").identity.resume(context.req.raw);
  if (resumed.kind !== "session") return false;
  await keepSignedIn(context, resumed.session, resumed.set_cookies);
  context.set("principal", browserPrincipal(resumed.session));
  return true;
}

/** For the API: 401 without a session, and with a bearer token of any kind. */
export const requireBrowserSession = factory.createMiddleware(async (context, next) => {
  const bearer = context.req.header("Authorization") !== undefined;
  if (!bearer && (await resumeSession(context))) return next();
  return refuse(context, { code: "unauthorized", detail: NEEDS_BROWSER });
});

/** For pages: signed-out people sign in and come back to the same page, or a form's page. */
export const signInFirst = factory.createMiddleware(async (context, next) => {
  if (await resumeSession(context)) return next();
  const { pathname, search } = new URL(context.req.url);
  const page = context.req.method === "GET" ? `${pathname}${search}` : parentOf(pathname);
  const signin = new URL("/signin", context.get("base_url"));
  signin.searchParams.set("redirect_to", new URL(page, context.get("base_url")).href);
  return context.redirect(signin.href, 303);
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
