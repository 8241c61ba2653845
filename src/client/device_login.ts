/** Device login (RFC 8628): a program without a browser gets a personal access token. */
import { isRefusal, PassbookError } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { DeviceAuthorization } from "./responses.ts";

export interface DeviceLogin {
  /** What the program calls itself; the person who approves reads it. */
  readonly clientName?: string;
  /** The slug of the app it belongs to. */
  readonly app?: string;
  /** Shows the person the code and where to enter it. */
  readonly onCode: (code: DeviceAuthorization) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Added to the pace for good when the service says `slow_down` (RFC 8628, section 3.5). */
const SLOW_DOWN_MS = 5_000;

const PACE_MAX_MS = 60_000;

/**
 * Starts a login, shows its code, and polls until a person has decided.
 * @returns the personal access token, this once: keep it where secrets are kept.
 * @throws PassbookError `access_denied`, `expired_token`, or `already_used`: the answer that had the token
 * was lost on the way, and the person should revoke it.
 */
export async function logInDevice(transport: Transport, login: DeviceLogin): Promise<string> {
  const { clientName: client_name, app, onCode, signal } = login;
  const { body: code } = await transport.send<DeviceAuthorization>({
    method: "POST",
    path: "/api/device/start",
    body: { client_name, app },
    // Another attempt starts another login; the first one expires, unseen.
    repeat: { kind: "read" },
    credentials: null,
    isAnswer: ({ device_code, interval }) =>
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
  let pace_ms = interval * 1000;
  for (let waited_ms = 0; waited_ms <= expires_in * 1000; waited_ms += pace_ms) {
    await transport.wait(pace_ms, signal);
    const step = await askOnce(transport, device_code, signal);
    if (step.kind === "token") return step.token;
    if (step.kind === "slow_down") pace_ms += SLOW_DOWN_MS;
    // Where the network fails, polling slows down by itself (section 3.5).
    if (step.kind === "silence") pace_ms = Math.min(PACE_MAX_MS, pace_ms * 2);
    pace_ms = Math.max(pace_ms, step.kind === "pending" ? step.retry_after_ms : 0);
  }
  throw new PassbookError("expired_token", "Nobody approved the login in time.");
}

type Step =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "pending"; readonly retry_after_ms: number }
  | { readonly kind: "slow_down" | "silence" };

/** The token, or the word for what is still awaited. */
interface Polled {
  readonly token?: string;
  readonly code?: string;
}

async function askOnce(
  transport: Transport,
  device_code: string,
  signal: AbortSignal | undefined,
): Promise<Step> {
  try {
    const answer = await transport.send<Polled>({
      method: "GET",
      path: "/api/device/poll",
      query: { device_code },
      // The loop repeats it, at the pace it is told.
      repeat: { kind: "once" },
      credentials: null,
      isAnswer: ({ token, code }) => typeof (token ?? code) === "string",
      signal,
    });
    const { token, code } = answer.body;
    if (token === undefined) {
      if (code === "slow_down") return { kind: "slow_down" };
      return { kind: "pending", retry_after_ms: answer.retryAfterMs ?? 0 };
    }
    return { kind: "token", token };
  } catch (error) {
    if (error instanceof PassbookError && !isRefusal(error)) return { kind: "silence" };
    throw error;
  }
}
