/** Responses to a client: a redirect to its address, with `iss` (RFC 9207) and the client's `state`. */
import type { AuthorizeError } from "../../domain/authorize_request.ts";
import type { AppContext } from "../../http/context.ts";
import type { KnownClient } from "./read_request.ts";

/** The address that a response goes to. The client's own query stays as it is. */
export function responseUrl(
  context: AppContext,
  { address }: KnownClient,
  response: { readonly code: string } | AuthorizeError,
): string {
  const { redirect_uri, state } = address;
  const parameters = new URLSearchParams({
    ...response,
    ...(state === null ? {} : { state }),
    iss: context.get("base_url"),
  });
  return `${redirect_uri}${redirect_uri.includes("?") ? "&" : "?"}${parameters.toString()}`;
}

/**
 * Sends the person back to the client. 303, because with 307 the browser would send the client the form of the consent
 * page too (RFC 9700, section 4.12). No referrer, because our address has the request.
 */
export function returnToClient(
  context: AppContext,
  known: KnownClient,
  response: { readonly code: string } | AuthorizeError,
): Response {
  context.header("Referrer-Policy", "no-referrer");
  context.header("Cache-Control", "no-store");
  return context.redirect(responseUrl(context, known, response), 303);
}
