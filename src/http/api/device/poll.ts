/** `GET /api/device/poll`: the device requests its token (RFC 8628, sections 3.4 and 3.5). */
import * as z from "zod/mini";
import { collectLogin } from "../../allowances/collect_login.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { queryText } from "../../validation.ts";

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
    const collected = await collectLogin(context, device_code, null);
    if (!collected.ok) return refuse(context, collected.refusal);
    if (collected.value.kind === "token") return context.json({ token: collected.value.token });
    const code = collected.value.too_early ? "slow_down" : "authorization_pending";
    context.header("Retry-After", String(collected.value.retry_after_seconds));
    return context.json(
      { code, interval: context.get("services").config.device_poll_interval_seconds },
      202,
    );
  },
);
