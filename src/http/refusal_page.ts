/**
 * Refusals for browsers. The page itself comes from `web`, which builds on this room: `app.ts` hands it in, so
 * that middleware can show it without importing a page.
 */
import type { Refusal } from "../domain/refusals.ts";
import { factory, type AppContext } from "./context.ts";
import { refuse } from "./refusals.ts";

/** Renders a refusal as a page. */
export type RefusalPage = (context: AppContext, refusal: Refusal) => Response | Promise<Response>;

/** Gives the middleware and handlers behind it the page for refusals. */
export const withRefusalPage = (page: RefusalPage) =>
  factory.createMiddleware(async (context, next) => {
    context.set("refusal_page", page);
    await next();
  });

/** Responds with a page outside `/api` if the client accepts HTML, otherwise with JSON. */
export function refuseByAccept(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  const is_page = !context.req.path.startsWith("/api/") && acceptsHtml(context);
  return is_page ? refuseWithPage(context, refusal) : refuse(context, refusal);
}

/** Responds with a page. */
export function refuseWithPage(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  return context.get("refusal_page")(context, refusal);
}

/** Whether the client names HTML in `Accept`; a bare wildcard is a program. */
export function acceptsHtml(context: AppContext): boolean {
  return (context.req.header("Accept") ?? "").includes("text/html");
}
