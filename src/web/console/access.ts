/** Only operators, in their own browser and on the console's own pages, can use the console. */
import { readOperatorRights } from "../../http/caller/operator.ts";
import { roleRefusal } from "../../http/caller/operator_roles.ts";
import { factory } from "../../http/context.ts";
import { isFromOwnPage } from "../../http/middleware/origins.ts";
import { refuseByAccept } from "../../http/refusal_page.ts";
import { limitWrites } from "../../http/middleware/rate_limits.ts";

/**
 * Refuses requests of other origins before any session is read: forms that are not the console's own, and
 * reads by scripts. A link from another site is allowed.
 */
export const refuseOtherOrigins = factory.createMiddleware(async (context, next) => {
  const reads = ["GET", "HEAD"].includes(context.req.method);
  const navigates = (context.req.header("Sec-Fetch-Mode") ?? "navigate") === "navigate";
  const by_link = reads && navigates && context.req.header("Origin") === undefined;
  if (by_link || isFromOwnPage(context)) return next();
  return refuseByAccept(context, { code: "origin_not_allowed" });
});

/**
 * Runs after `requireSignIn`, so that only a live session counts. It refuses other people before any route
 * looks up what the path names, so that they cannot find out what exists. It also refuses operators whose role
 * is too low for the route.
 */
export const requireOperatorSession = factory.createMiddleware(async (context, next) => {
  const { identity_id } = context.get("session");
  const operator = await readOperatorRights(context, identity_id);
  if (operator === null) return refuseByAccept(context, { code: "not_operator" });
  context.set("operator", operator);
  const refusal = roleRefusal(context, operator);
  if (refusal !== null) return refuseByAccept(context, refusal);
  return context.req.method === "POST" ? limitWrites(context, next) : next();
});
