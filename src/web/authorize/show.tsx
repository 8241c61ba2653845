/**
 * `GET /oauth/authorize`: the authorization endpoint (OAuth 2.1, section 3.1). `POST` with the same parameters redirects
 * here (OpenID Connect Core, section 3.1.2.1).
 */
import type { AuthorizeError } from "../../domain/authorize_request.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { countRequest } from "../../http/middleware/rate_limits.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { returnWithCode, readAccount } from "./account.ts";
import { showConsent } from "./consent.tsx";
import { readRequest, type AskingRequest } from "./read_request.ts";
import { refuseAccount, respond, sendError, showRoomFull } from "./respond.tsx";

export const showAuthorize = factory.createHandlers(async (context) => {
  const reading = await readRequest(context, new URL(context.req.url).searchParams);
  return reading.kind === "asks" ? proceed(context, reading.request) : respond(context, reading);
});

/** `POST` of an endpoint that browsers visit: redirects to it with the form's fields as its query. */
export const redirectToQuery = factory.createHandlers(async (context) => {
  const form = await context.req.formData().catch(() => new FormData());
  const query = new URLSearchParams();
  for (const [name, value] of form) if (typeof value === "string") query.append(name, value);
  context.header("Referrer-Policy", "no-referrer");
  return context.redirect(`${context.req.path}?${query.toString()}`, 303);
});

/** Connects the client if the person agreed before; otherwise shows the consent page. */
async function proceed(context: AppContext, request: AskingRequest): Promise<Response> {
  const facts = await readAccount(context, request);
  if (!facts.ok) return refuseAccount(context, request, facts.refusal);
  const { step } = facts.value;
  if (step.kind === "remembered") {
    const limited = await countRequest(context, "consent", request.session.identity_id);
    if (limited === null) return returnWithCode(context, request, null);
    return request.is_silent
      ? sendError(context, request, SLOW_DOWN)
      : refuseWithPage(context, limited);
  }
  if (request.is_silent) return sendError(context, request, CONSENT_REQUIRED);
  if (step.kind === "room_full") return showRoomFull(context, request);
  return showConsent(context, request, { ...facts.value, step });
}

const SLOW_DOWN: AuthorizeError = {
  error: "temporarily_unavailable",
  error_description: "Too many requests. Try again in a minute.",
};

const CONSENT_REQUIRED: AuthorizeError = {
  error: "consent_required",
  error_description: "The person must agree first. Send the request without prompt=none.",
};
