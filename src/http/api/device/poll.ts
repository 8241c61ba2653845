/** `GET /api/device/poll`: the device requests its token (RFC 8628, sections 3.4 and 3.5). */
import * as z from "zod/mini";
import type { PolledLogin } from "../../../device/device_contract.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import type { Result } from "../../../domain/result.ts";
import type { AppContext } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { queryText } from "../../validation.ts";
import { countNetworkRequest, countRequest } from "../../middleware/rate_limits.ts";

export const pollDeviceLogin = endpoint(
  {
    at: "GET /api/device/poll",
    caller: "anyone",
    query: z.object({ device_code: queryText }),
    refusals: [
      "suspended",
      "device_code_not_found",
      "expired_token",
      "already_used",
      "access_denied",
      "limit_reached:tokens",
      "rate_limited",
    ],
  },
  async (context, { query: { device_code } }) => {
    // HEAD would redeem the login and lose the token.
    if (context.req.raw.method !== "GET") return context.body(null, 405, { Allow: "GET" });
    const { device_codes, device_logins } = context.get("services");
    const user_code = await device_codes.read(device_code);
    if (user_code === null) return refuseUnknown(context);
    const digest = await device_codes.digest(device_code);
    // Also counted per network: each poll with an old code wakes an object.
    const limited =
      (await countRequest(context, "device_poll", digest)) ??
      (await countNetworkRequest(context, "device_poll"));
    if (limited !== null) return refuse(context, limited);
    const result = await device_logins(user_code).poll(digest);
    if (!result.ok) return refuse(context, result.refusal);
    const polled: PolledLogin = result.value;
    if (polled.kind === "collected") {
      const minted = await mint(context, polled);
      return minted.ok ? context.json({ token: minted.value }) : refuse(context, minted.refusal);
    }
    const code = polled.too_early ? "slow_down" : "authorization_pending";
    context.header("Retry-After", String(polled.retry_after_seconds));
    return context.json(
      { code, interval: context.get("services").config.device_poll_interval_seconds },
      202,
    );
  },
);

/** A code that this service never issued reaches no object. */
async function refuseUnknown(context: AppContext): Promise<Response> {
  const limited = await countNetworkRequest(context, "device_unknown");
  return refuse(context, limited ?? { code: "device_code_not_found" });
}

/** Issues the token of a login that was just redeemed. If this fails, the device must start again. */
function mint(
  context: AppContext,
  { grant, device_client }: Extract<PolledLogin, { kind: "collected" }>,
): Promise<Result<string, Refusal>> {
  const { app_slug, client_name, program } = device_client;
  const label = client_name ?? app_slug ?? program ?? "A device";
  const { mint_personal_token } = context.get("services");
  return mint_personal_token(context.get("base_url"), grant, { label, app_slug });
}
