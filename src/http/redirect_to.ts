/** `redirect_to`: where a person asks to be sent at the end, by query or form. */
import { shownAddress } from "../domain/origins.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { AppContext } from "./context.ts";
import { allowedRedirect } from "./middleware/origins.ts";
import { logRefusedOrigin } from "./middleware/refused_origins.ts";

/**
 * The address asked for, null where none was. What is not allowed is refused as
 * `redirect_not_allowed` and named in the log, before anything else is done.
 */
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
