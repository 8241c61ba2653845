/** `redirect_to`: the address, in a query or form, to which a person returns. */
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

/** The address to return to; null if it was removed from the allowlist while the person signed in. */
export async function targetIfStillAllowed(
  context: AppContext,
  redirect_to: string | null,
): Promise<URL | null> {
  const redirect = await readRedirectTo(context, redirect_to ?? undefined);
  return redirect.ok ? redirect.value : null;
}
