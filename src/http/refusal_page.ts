/** Refusals for browsers. `app.ts` passes in the page from `web`, so that middleware does not import a page. */
import type { Refusal } from "../domain/refusals.ts";
import { factory, type AppContext, type RefusalPage } from "./context.ts";
import { refuse } from "./refusals.ts";

/** Sets the page for refusals. */
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

export function refuseWithPage(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  return context.get("refusal_page")(context, refusal);
}

/** Whether `Accept` names HTML. Programs send a bare wildcard, so that does not count. */
export function acceptsHtml(context: AppContext): boolean {
  return (context.req.header("Accept") ?? "").includes("text/html");
}
