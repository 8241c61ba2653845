/**
 * A device that follows RFC 8628: it shows a code, waits between polls, waits longer on `slow_down`, and stops
 * when the login has ended. It knows only the address of the service.
 */

/** The response of `POST /api/device/start` (RFC 8628, section 3.2). */
export interface DeviceAuthorization {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

export type DeviceOutcome =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "denied" }
  | { readonly kind: "expired" };

export interface DeviceOptions {
  readonly base_url: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly wait: (seconds: number) => Promise<void>;
  /** What the device states about itself. */
  readonly app?: string;
  readonly client_name?: string;
  readonly user_agent?: string;
}

/** Seconds added to the interval permanently after `slow_down` (section 3.5). */
const SLOW_DOWN_SECONDS = 5;

/** Begins a login. */
export async function startDevice(options: DeviceOptions): Promise<DeviceAuthorization> {
  const { app, client_name, user_agent = "test-device/1" } = options;
  const response = await options.fetch(`${options.base_url}/api/device/start`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "User-Agent": user_agent },
    body: JSON.stringify({ app, client_name }),
  });
  if (response.status !== 200) throw new Error(`start answered ${response.status}`);
  return response.json();
}

/** Polls until the login gives a token or fails. */
export async function awaitToken(
  options: DeviceOptions,
  { device_code, interval, expires_in }: DeviceAuthorization,
): Promise<DeviceOutcome> {
  let pace_seconds = interval;
  for (let waited_seconds = 0; waited_seconds <= expires_in;) {
    const answer = await pollDevice(options, device_code);
    if (answer.status === 200) return { kind: "token", token: answer.body.token ?? "" };
    if (answer.status === 410) {
      return { kind: answer.body.code === "access_denied" ? "denied" : "expired" };
    }
    if (answer.status !== 202) throw new Error(`poll answered ${answer.status}`);
    if (answer.body.code === "slow_down") pace_seconds += SLOW_DOWN_SECONDS;
    const seconds = Math.max(pace_seconds, answer.retry_after_seconds);
    await options.wait(seconds);
    waited_seconds += seconds;
  }
  return { kind: "expired" };
}

async function pollDevice(options: DeviceOptions, device_code: string) {
  const query = new URLSearchParams({ device_code });
  const url = `${options.base_url}/api/device/poll?${query.toString()}`;
  const response = await options.fetch(url, { method: "GET" });
  const body = (await response.json()) as { token?: string; code?: string };
  const retry_after_seconds = Number(response.headers.get("Retry-After") ?? 0);
  return { status: response.status, body, retry_after_seconds };
}
