/** Details of the client that starts a device login. The approver sees them. */
import * as z from "zod/mini";
import type { DeviceClient } from "../../../device/device_contract.ts";
import { locationOf, programOf } from "../../../domain/client_description.ts";
import type { AppContext } from "../../context.ts";
import { appSlug, clientName } from "../../../fields.ts";

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
