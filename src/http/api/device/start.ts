/** `POST /api/device/start`: begins a device login (RFC 8628, sections 3.1 and 3.2). */
import { USER_CODE_LENGTH, showUserCode, userCodeFrom } from "../../../domain/device_login.ts";
import { endpoint } from "../endpoint.ts";
import { clientDetailsBody, clientDetailsOf } from "./client_details.ts";

/** User codes drawn for one login before it is refused. Even a second draw is very rare. */
const USER_CODE_DRAWS_MAX = 5;

export const startDeviceLogin = endpoint(
  {
    at: "POST /api/device/start",
    caller: "anyone",
    rate: "device_start",
    body: clientDetailsBody,
    body_is_optional: true,
  },
  async (context, { body }) => {
    const { config, device_codes, device_logins, request_copies } = context.get("services");
    const device_client = clientDetailsOf(context, body);
    for (let draw = 0; draw < USER_CODE_DRAWS_MAX; draw += 1) {
      const user_code = drawUserCode();
      const device_code = await device_codes.issue(user_code);
      const started = await device_logins(user_code).start({
        device_client,
        device_code_digest: await device_codes.digest(device_code),
        ttl_seconds: config.device_code_ttl_seconds,
        poll_interval_seconds: config.device_poll_interval_seconds,
      });
      if (started.kind === "taken") continue;
      context.executionCtx.waitUntil(request_copies.remember(user_code, started.request));
      const verification_uri = `${context.get("base_url")}/device`;
      const shown = showUserCode(user_code);
      return context.json({
        device_code,
        user_code: shown,
        verification_uri,
        verification_uri_complete: `${verification_uri}?user_code=${shown}`,
        expires_in: config.device_code_ttl_seconds,
        interval: config.device_poll_interval_seconds,
      });
    }
    throw new Error("every drawn user code was taken");
  },
);

function drawUserCode(): string {
  for (;;) {
    const code = userCodeFrom(crypto.getRandomValues(new Uint8Array(2 * USER_CODE_LENGTH)));
    if (code !== null) return code;
  }
}
