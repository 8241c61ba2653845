/** Refusals in the form that a client reads. `app.ts` passes in the page from `web`, so that middleware does not import a page. */
import type { Refusal } from "../domain/refusals.ts";
import type { OAuthErrorCode } from "../domain/oauth_errors.ts";
import { factory, type AppContext, type RefusalPage } from "./context.ts";
import { describeRefusal, refuse } from "./refusals.ts";

/** Sets the page for refusals. */
export const withRefusalPage = (page: RefusalPage) =>
  factory.createMiddleware(async (context, next) => {
    context.set("refusal_page", page);
    await next();
  });

/** Responds with a page outside `/api` if the client accepts HTML, otherwise with JSON; below `/oauth` in the form of OAuth. */
export function refuseByAccept(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  const is_page = !context.req.path.startsWith("/api/") && acceptsHtml(context);
  if (is_page) return refuseWithPage(context, refusal);
  const is_oauth = context.req.path.startsWith("/oauth/");
  return is_oauth ? refuseAsOAuth(context, refusal) : refuse(context, refusal);
}

/** Clients of the OAuth server read the errors of RFC 6749, section 5.2. Ours may have further members, so `code` stays. */
function refuseAsOAuth(context: AppContext, refusal: Refusal): Response {
  context.set("refusal_code", refusal.code);
  const { error: error_description, code, status, headers } = describeRefusal(refusal);
  const error = oauthErrorOf(status);
  return context.json({ error, error_description, code }, status, headers);
}

function oauthErrorOf(status: number): OAuthErrorCode {
  if (status === 429) return "slow_down";
  return status >= 500 ? "temporarily_unavailable" : "invalid_request";
}

export function refuseWithPage(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  context.set("refusal_code", refusal.code);
  return context.get("refusal_page")(context, refusal);
}

/** Whether `Accept` names HTML. Programs send a bare wildcard, so that does not count. */
export function acceptsHtml(context: AppContext): boolean {
  return (context.req.header("Accept") ?? "").includes("text/html");
}
