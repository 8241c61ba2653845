/** Device login (RFC 8628): how a program without a browser gets a personal access token. */
import { isRefusal, PassbookError } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { DeviceAuthorization } from "./responses.ts";

/** A program that a person signs in on another device, and how it shows them the code. */
export interface DeviceLogin {
  /** The program's name, shown to the person who approves the login. */
  readonly clientName?: string;
  /** The slug of the app that the program belongs to. */
  readonly app?: string;
  /** Shows the person the code and where to enter it. */
  readonly onCode: (code: DeviceAuthorization) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Added to the polling interval for each `slow_down` response (RFC 8628, section 3.5). */
const SLOW_DOWN_MS = 5_000;

const INTERVAL_MAX_MS = 60_000;

/**
 * Starts a login, shows its code, and polls until a person has decided.
 * @returns the personal access token. It is returned only once: store it as a secret.
 * @throws PassbookError `access_denied`, `expired_token`, or `already_used` if the response with the token was lost; the
 * person should then revoke that token.
 */
export async function logInDevice(transport: Transport, login: DeviceLogin): Promise<string> {
  const { clientName: client_name, app, onCode, signal } = login;
  const { body: code } = await transport.send<DeviceAuthorization>({
    method: "POST",
    path: "/api/device/start",
    body: { client_name, app },
    // A repeated request starts another login. The first one expires unused.
    repeat: { kind: "read" },
    credentials: null,
    isValid: ({ device_code, interval }) =>
      typeof device_code === "string" && Number.isFinite(interval),
    signal,
  });
  await onCode(code);
  return poll(transport, code, signal);
}

async function poll(
  transport: Transport,
  { device_code, interval, expires_in }: DeviceAuthorization,
  signal: AbortSignal | undefined,
): Promise<string> {
  let interval_ms = interval * 1000;
  for (let waited_ms = 0; waited_ms <= expires_in * 1000; waited_ms += interval_ms) {
    await transport.wait(interval_ms, signal);
    const step = await pollOnce(transport, device_code, signal);
    if (step.kind === "token") return step.token;
    if (step.kind === "slow_down") interval_ms += SLOW_DOWN_MS;
    // After a network failure the interval doubles (section 3.5).
    if (step.kind === "no_response") interval_ms = Math.min(INTERVAL_MAX_MS, interval_ms * 2);
    interval_ms = Math.max(interval_ms, step.kind === "pending" ? step.retry_after_ms : 0);
  }
  throw new PassbookError("expired_token", "The login was not approved in time. Start it again.");
}

type Step =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "pending"; readonly retry_after_ms: number }
  | { readonly kind: "slow_down" | "no_response" };

/** The token, or the code of a pending login. */
interface PollResponse {
  readonly token?: string;
  readonly code?: string;
}

async function pollOnce(
  transport: Transport,
  device_code: string,
  signal: AbortSignal | undefined,
): Promise<Step> {
  try {
    const response = await transport.send<PollResponse>({
      method: "GET",
      path: "/api/device/poll",
      query: { device_code },
      // The loop repeats it at the interval of the service.
      repeat: { kind: "once" },
      credentials: null,
      isValid: ({ token, code }) => typeof (token ?? code) === "string",
      signal,
    });
    const { token, code } = response.body;
    if (token === undefined) {
      if (code === "slow_down") return { kind: "slow_down" };
      return { kind: "pending", retry_after_ms: response.retryAfterMs ?? 0 };
    }
    return { kind: "token", token };
  } catch (error) {
    if (error instanceof PassbookError && !isRefusal(error)) return { kind: "no_response" };
    throw error;
  }
}
