/** `redirect_to`: the address, in a query or form, to which a person returns. */
import { SIGNED_IN_AFTER } from "../domain/authorize_request.ts";
import { shownAddress } from "../domain/origins.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { AppContext } from "./context.ts";
import { allowedRedirect } from "./middleware/origins.ts";
import { logRefusedOrigin } from "./middleware/refused_origins.ts";

/** Parses `redirect_to`; null if it is missing. An address that is not allowed is refused and logged. */
export async function readRedirectTo(
  context: AppContext,
  text: string | undefined,
): Promise<Result<URL | null, Refusal>> {
  if (text === undefined) return accepted(null);
  const target = await allowedRedirect(context, text);
  if (target !== null) return accepted(target);
  logRefusedOrigin(context, "redirect_to", text);
  return refused({ code: "redirect_not_allowed", address: shownAddress(text) });
}

/** Whether a person returns to an OAuth client that requires a new sign-in: then a session at a provider is not enough. */
export function needsNewSignIn(context: AppContext, target: URL | null): boolean {
  const is_ours = target?.origin === context.get("base_url");
  return (
    is_ours && target.pathname === "/oauth/authorize" && target.searchParams.has(SIGNED_IN_AFTER)
  );
}
