/** Starts a device login. Our own endpoint and the one of OAuth (RFC 8628) share the codes and the page. */
import type { DeviceClient } from "../../device/device_contract.ts";
import { showUserCode, USER_CODE_LENGTH, userCodeFrom } from "../../domain/device_login.ts";
import type { AppContext } from "../context.ts";

/** User codes drawn for one login before it is refused. Even a second draw is very rare. */
const USER_CODE_DRAWS_MAX = 5;

/** RFC 8628, section 3.2. */
export interface StartedDeviceLogin {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

/** `client_id`: the only OAuth client that collects the token; null: whoever has the device code. */
export async function startLogin(
  context: AppContext,
  device_client: DeviceClient,
  client_id: string | null,
): Promise<StartedDeviceLogin> {
  const { config, device_codes, device_logins, request_copies } = context.get("services");
  for (let draw = 0; draw < USER_CODE_DRAWS_MAX; draw += 1) {
    const user_code = drawUserCode();
    const device_code = await device_codes.issue(user_code);
    const started = await device_logins(user_code).start({
      device_client,
      device_code_digest: await device_codes.digest(collectorOf(device_code, client_id)),
      ttl_seconds: config.device_code_ttl_seconds,
      poll_interval_seconds: config.device_poll_interval_seconds,
    });
    if (started.kind === "taken") continue;
    context.executionCtx.waitUntil(request_copies.remember(user_code, started.request));
    const verification_uri = `${context.get("base_url")}/device`;
    const shown = showUserCode(user_code);
    return {
      device_code,
      user_code: shown,
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${shown}`,
      expires_in: config.device_code_ttl_seconds,
      interval: config.device_poll_interval_seconds,
    };
  }
  throw new Error("every drawn user code was taken");
}

/** The login stores a digest of this text, so that another client does not collect the token with the device code. */
export function collectorOf(device_code: string, client_id: string | null): string {
  return client_id === null ? device_code : `${device_code} ${client_id}`;
}

function drawUserCode(): string {
  for (;;) {
    const code = userCodeFrom(crypto.getRandomValues(new Uint8Array(2 * USER_CODE_LENGTH)));
    if (code !== null) return code;
  }
}
