/** Details of the client that starts a device login. The approver sees them. */
import * as z from "zod/mini";
import type { DeviceClient } from "../../../device/contract.ts";
import { locationOf, programOf } from "../../../domain/client_description.ts";
import type { AppContext } from "../../context.ts";
import { appSlug } from "../../validation.ts";

/** Longest name of a device client on the approval page, in UTF-16 code units. */
const CLIENT_NAME_MAX_LENGTH = 80;

/** The name of a device client, and the label of its token. */
export const clientName = z.string("must be a string").check(
  z.trim(),
  z.minLength(1, "must not be empty"),
  z.maxLength(CLIENT_NAME_MAX_LENGTH, `must have at most ${CLIENT_NAME_MAX_LENGTH} characters`),
  // Control and format characters could hide or reverse text that the approver reads. Characters without a
  // visible form (fillers, selectors, the blank Braille pattern) could make a name look empty.
  z.regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800\u{1d159}]*$/u, "must be plain text"),
  z.regex(/[\p{L}\p{N}\p{P}\p{S}]/u, "must have a visible character"),
);

/** The client can claim anything here, and nothing is decided by it. */
export const clientDetailsBody = z.object({
  app: z.optional(appSlug),
  client_name: z.optional(clientName),
});

export function clientDetailsOf(
  context: AppContext,
  body: z.output<typeof clientDetailsBody>,
): DeviceClient {
  return {
    client_name: body.client_name ?? null,
    app_slug: body.app ?? null,
    program: programOf(context.req.header("User-Agent") ?? ""),
    ...locationOf(context.req.raw),
  };
}
