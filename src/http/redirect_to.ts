/** `redirect_to`: where a person asks to be sent at the end, by query or form. */
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { AppContext } from "./context.ts";
import { allowedRedirect } from "./origins.ts";

/** The address asked for, null where none was; refused as `redirect_not_allowed`. */
export async function readRedirectTo(
  context: AppContext,
  text: string | undefined,
): Promise<Result<URL | null, Refusal>> {
  if (text === undefined) return accepted(null);
  const target = await allowedRedirect(context, text);
  return target === null ? refused({ code: "redirect_not_allowed" }) : accepted(target);
}
