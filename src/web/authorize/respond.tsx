/** The responses to requests that the page does not ask about. */
import type { AuthorizeError } from "../../domain/authorize_request.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { finishAccountDeletion, isAccountDeleted } from "../../http/caller/deleted_account.ts";
import type { AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { showStoppedApp } from "../signin/stopped_app.tsx";
import { CannotAskPage, ClientErrorPage, RoomFullPage } from "./problem_pages.tsx";
import type { AskingRequest, CannotAsk, KnownClient, Reading } from "./read_request.ts";
import { responseUrl, returnToClient } from "./return_to_client.ts";

export function respond(
  context: AppContext,
  reading: Exclude<Reading, { kind: "asks" }>,
): Response | Promise<Response> {
  switch (reading.kind) {
    case "cannot_ask":
      return showCannotAsk(context, reading.problem, reading);
    case "busy":
      return refuseWithPage(context, reading.refusal);
    case "sign_in": {
      const signin = new URL("/signin", context.get("base_url"));
      signin.searchParams.set("redirect_to", reading.return_to);
      context.header("Referrer-Policy", "no-referrer");
      return context.redirect(signin.href, 303);
    }
    case "refused":
      return sendError(context, reading.known, reading.error);
  }
}

export function showCannotAsk(
  context: AppContext,
  problem: CannotAsk,
  details: Omit<Extract<Reading, { kind: "cannot_ask" }>, "kind" | "problem"> = {},
): Response | Promise<Response> {
  const { redirect_uri, other_loopback, broken_rules } = details;
  const page = { problem, redirect_uri, other_loopback, broken_rules };
  return context.html(<CannotAskPage {...page} />, 400);
}

/**
 * Sends an error to the client. To a client without a registration, only if the person follows a link, or if the client
 * requested that no page is shown.
 */
export function sendError(
  context: AppContext,
  known: KnownClient,
  error: AuthorizeError,
): Response | Promise<Response> {
  if (known.client.kind === "registered" || known.is_silent)
    return returnToClient(context, known, error);
  const return_url = responseUrl(context, known, error);
  return context.html(<ClientErrorPage known={known} error={error} return_url={return_url} />, 400);
}

/**
 * A suspended account is refused on a page, a deleted one leads to sign-in, and a stopped app can be allowed again. A client
 * without a page gets an error.
 */
export async function refuseAccount(
  context: AppContext,
  request: AskingRequest,
  refusal: Refusal,
): Promise<Response> {
  if (request.is_silent) {
    const error_description = "The account cannot be used now. Show the person a page to see why.";
    return sendError(context, request, { error: "interaction_required", error_description });
  }
  const page = pageOf(context, request);
  if (refusal.code === "app_stopped") {
    return showStoppedApp(context, { slug: refusal.app_slug, back: page });
  }
  if (!isAccountDeleted(refusal)) {
    // The session ended while the page was open: the person signs in again and returns.
    return refusal.code === "unauthorized"
      ? context.redirect(page, 303)
      : refuseWithPage(context, refusal);
  }
  const { identity_id } = request.session;
  return finishAccountDeletion(context, identity_id, new URL(page));
}

export function showRoomFull(
  context: AppContext,
  request: AskingRequest,
): Response | Promise<Response> {
  const { name } = request.client;
  return context.html(<RoomFullPage name={name} this_page={pageOf(context, request)} />, 400);
}

/** The address of a request's page. */
export function pageOf(context: AppContext, { query }: Pick<AskingRequest, "query">): string {
  return `${context.get("base_url")}/oauth/authorize?${query}`;
}
