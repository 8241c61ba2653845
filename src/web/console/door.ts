/** Who may see and use the console: operators by their own browser, from its own pages. */
import { hasOperatorRights } from "../../http/caller/operator.ts";
import { factory } from "../../http/context.ts";
import { isFromOwnPage } from "../../http/middleware/origins.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { limitWrites } from "../../http/middleware/rate_limits.ts";

/**
 * Refuses what another origin's page asks for, before anybody is looked up: forms but from the console
 * itself, and reads by a script. A link from elsewhere is fine.
 */
export const guardConsole = factory.createMiddleware(async (context, next) => {
  const reads = ["GET", "HEAD"].includes(context.req.method);
  const navigates = (context.req.header("Sec-Fetch-Mode") ?? "navigate") === "navigate";
  const by_link = reads && navigates && context.req.header("Origin") === undefined;
  if (by_link || isFromOwnPage(context)) return next();
  return refuseByAccept(context, { code: "origin_not_allowed" });
});

/**
 * Lets operators through; after `requireSignIn`, so that a living session alone counts. Whoever is none is
 * told so before any address is looked for, whatever it names.
 */
export const requireConsoleOperator = factory.createMiddleware(async (context, next) => {
  const { identity_id } = context.get("session");
  if (!(await hasOperatorRights(context, identity_id))) {
    return refuseByAccept(context, { code: "not_operator" });
  }
  context.set("is_operator", true);
  return context.req.method === "POST" ? limitWrites(context, next) : next();
});
