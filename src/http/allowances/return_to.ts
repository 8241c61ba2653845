/**
 * `return_to`: the address to which the pages that approve a job or sell credits lead back. It is on an origin of an app, or of
 * the redirect addresses of an OAuth client.
 */
import { parseAbsoluteUrl, shownAddress } from "../../domain/origins.ts";
import { isOnOriginOf } from "../../domain/redirect_match.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { AppContext } from "../context.ts";
import { allowedReturn } from "../middleware/origins.ts";
import { logRefusedOrigin } from "../middleware/refused_origins.ts";
import { resolveClient } from "../oauth/clients.ts";

/** The longest address, encoded: it travels through sign-in and the payment service inside another address. */
const RETURN_TO_MAX_LENGTH = 1_500;
/** Of an approval's address, which contains another one. */
const NESTED_MAX_LENGTH = 3_000;

/** Whose addresses are allowed. */
interface Returning {
  /** Null: those of every registered app. */
  readonly app_slug: string | null;
  /** The client that the person connected; null: none. */
  readonly client_id: string | null;
}

/** The address in `text`, if it is allowed; refused and logged otherwise. */
export async function readReturnTo(
  context: AppContext,
  text: string,
  { app_slug, client_id }: Returning,
): Promise<Result<URL, Refusal>> {
  if (encodeURIComponent(text.toWellFormed()).length <= RETURN_TO_MAX_LENGTH) {
    const of_app = await allowedReturn(context, text, app_slug);
    const url = of_app ?? (client_id === null ? null : await ofClient(context, text, client_id));
    if (url !== null) return accepted(url);
  }
  logRefusedOrigin(context, "return_to", text);
  return refused({ code: "return_to_not_allowed", address: shownAddress(text) });
}

/** An address of one of our pages that approve a job; null: it is another address. */
export function approvalReturn(context: AppContext, text: string): URL | null {
  const is_short = encodeURIComponent(text.toWellFormed()).length <= NESTED_MAX_LENGTH;
  const url = is_short ? parseAbsoluteUrl(text) : null;
  const approvals = new URL("/approve/", context.get("base_url")).href;
  return url?.href.startsWith(approvals) === true ? url : null;
}

async function ofClient(context: AppContext, text: string, client_id: string): Promise<URL | null> {
  const { identity_id } = context.get("caller");
  const found = await resolveClient(context, client_id, identity_id);
  const is_of_client = found.kind === "found" && isOnOriginOf(text, found.client.redirect_uris);
  return is_of_client ? URL.parse(text) : null;
}
