/**
 * Requests and their retries. Only requests that are safe to repeat are repeated: reads, and writes with an idempotency
 * key that was chosen before the first attempt.
 */
import type { Credentials } from "./credentials.ts";
import { codeOf, isLimited, isRefusal, PassbookError, type PassbookErrorCode } from "./errors.ts";

/** The members of a `Response` that this package uses. */
export interface FetchedResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** Read as a stream, by `events` only. */
  readonly body?: { getReader(): StreamReader } | null;
}

/** The members of a stream's reader that this package uses. */
export interface StreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

/** The request that the client gives to your `fetch`. */
export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  credentials?: "include";
  signal: AbortSignal;
}

/** The part of `fetch` that this package uses. The `fetch` of every runtime fits. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>;

/** Resolves after this many milliseconds. Rejects with the signal's reason when the signal is aborted. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface TransportOptions {
  readonly origin: string;
  readonly fetch: Fetch;
  readonly wait: Wait;
  /** How long one attempt may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
}

/**
 * Whether a request may be repeated. `read`: always. `keyed`: always, with this `Idempotency-Key`. `once`: only if the
 * service limited the rate, and so did not carry it out.
 */
export type Repeat =
  | { readonly kind: "read" }
  | { readonly kind: "keyed"; readonly key: string }
  | { readonly kind: "once" };

export interface Call<Body extends object = object> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | Date | undefined>>;
  readonly body?: object | undefined;
  readonly repeat: Repeat;
  /** Null for a call that needs no credentials. */
  readonly credentials: Credentials | null;
  /** Whether the body of a 2xx response has the promised shape. Otherwise something else sent the response. */
  readonly isValid: (body: Body) => boolean;
  readonly signal?: AbortSignal | undefined;
  /** Retry until this time, in milliseconds since 1970, instead of a fixed number of times. */
  readonly untilMs?: number | undefined;
  /** Called when an attempt was sent and its outcome is unknown. */
  readonly onUnknown?: (() => void) | undefined;
  /** Called before the wait for the next attempt. */
  readonly onWait?: (() => void) | undefined;
}

/** A request that changes nothing. */
export const READ = { method: "GET", repeat: { kind: "read" } } as const;
export type Read<Body extends object> = Pick<Call<Body>, "path" | "query" | "signal" | "isValid">;

/** Whether a body is the response to a write that returns no data. */
export const isDone = ({ ok }: { readonly ok?: unknown }): boolean => ok === true;

/** A successful response of the service. */
export interface ServiceResponse<Body extends object = object> {
  readonly status: number;
  readonly body: Body;
  readonly retryAfterMs: number | null;
  /** Whether this is the stored response of an earlier request with the same key. */
  readonly replayed: boolean;
  /** How many times the request was sent. */
  readonly attempts: number;
}

const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 15_000;

/** If `Retry-After` is longer than this, the call fails instead of waiting. */
const RETRY_AFTER_MAX_MS = 60_000;

/** Codes of failures that an attempt soon after would meet again. */
const LASTING_FAILURES = new Set<PassbookErrorCode>([
  "account_full",
  "misconfigured",
  "payments_refused",
  "token_storage_full",
  "upstream_error",
  "upstream_not_configured",
]);

/** A call that is sent once, and whose response is read as a stream. */
export interface OpenCall extends Pick<Call, "path" | "query" | "credentials"> {
  readonly accept: string;
  /** Also ends the reading of the response. */
  readonly signal: AbortSignal;
}

export interface Transport extends Pick<
  TransportOptions,
  "origin" | "wait" | "timeoutMs" | "retries"
> {
  /** Sends a call once. @throws the error of `fetch`, or PassbookError without a token */
  open(call: OpenCall): Promise<FetchedResponse>;
  /** Sends a call, with retries. @throws PassbookError, or the reason of an aborted signal */
  send<Body extends object>(call: Call<Body>): Promise<ServiceResponse<Body>>;
}

export function createTransport(options: TransportOptions): Transport {
  return {
    ...options,
    async open({ credentials, accept, signal, ...call }) {
      const init: FetchInit = {
        method: "GET",
        headers: await headersOf(credentials, accept),
        redirect: "manual",
        signal,
      };
      if (credentials?.cookies === true) init.credentials = "include";
      return options.fetch(addressOf(options.origin, call), init);
    },
    async send(call) {
      let reauthorised = false;
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await attemptOnce(options, call);
        if (!(outcome instanceof PassbookError)) return { ...outcome, attempts: attempt };
        if (
          outcome.status === 401 &&
          !reauthorised &&
          (await call.credentials?.replace()) === true
        ) {
          reauthorised = true;
          continue;
        }
        const delay_ms = delayBefore(attempt, outcome);
        if (!mayRepeat(call, outcome) || isExhausted(options, call, attempt, delay_ms))
          throw outcome;
        call.onWait?.();
        await options.wait(delay_ms, call.signal);
      }
    },
  };
}

type Attempt<Body extends object> = Omit<ServiceResponse<Body>, "attempts">;

async function attemptOnce<Body extends object>(
  options: TransportOptions,
  call: Call<Body>,
): Promise<Attempt<Body> | PassbookError> {
  const { credentials, signal, repeat } = call;
  signal?.throwIfAborted();
  const headers = await headersOf(credentials, "application/json");
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  if (repeat.kind === "keyed") headers["Idempotency-Key"] = repeat.key;
  const late = AbortSignal.timeout(options.timeoutMs);
  const init: FetchInit = {
    method: call.method,
    headers,
    // The service never redirects a call. A redirect could take the token elsewhere.
    redirect: "manual",
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  };
  if (call.body !== undefined) init.body = JSON.stringify(call.body);
  if (credentials?.cookies === true) init.credentials = "include";
  const address = addressOf(options.origin, call);
  try {
    const response = await options.fetch(address, init);
    const text = await response.text();
    const attempt = readResponse(response, text, call.isValid);
    const refused = attempt instanceof PassbookError && (isRefusal(attempt) || isLimited(attempt));
    if (attempt instanceof PassbookError && !refused) call.onUnknown?.();
    return attempt;
  } catch (error) {
    call.onUnknown?.();
    signal?.throwIfAborted();
    const message =
      `${options.origin} gave no response: ${reasonOf(error, options.timeoutMs)}. ` +
      ("document" in globalThis
        ? "Check baseUrl, and that ALLOWED_ORIGINS of the service has this page's origin."
        : "Check baseUrl, and that the service is running.");
    return new PassbookError("no_response", message, { cause: error });
  }
}

const NETWORK_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "no server is listening there",
  ECONNRESET: "the connection was closed",
  ERR_SSL_WRONG_VERSION_NUMBER: "that server speaks http, not https",
  ENOTFOUND: "the host name is unknown",
};

/** Why `fetch` failed. Node gives a code; browsers give no reason to pages. */
function reasonOf(error: unknown, timeout_ms: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `it took longer than ${timeout_ms / 1000} seconds`;
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code } = cause as { readonly code?: unknown };
  return (typeof code === "string" && NETWORK_REASONS[code]) || cause.message || error.message;
}

async function headersOf(
  credentials: Credentials | null,
  accept: string,
): Promise<Record<string, string>> {
  const token = credentials === null ? null : await credentials.token();
  return { Accept: accept, ...(token === null ? {} : { Authorization: `Bearer ${token}` }) };
}

function addressOf(origin: string, { path, query }: Pick<Call, "path" | "query">): string {
  const url = new URL(path, origin);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    if (value instanceof Date && Number.isNaN(value.getTime())) {
      throw new PassbookError("invalid_argument", `${name} is an invalid Date.`);
    }
    url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return url.href;
}

function readResponse<Body extends object>(
  response: FetchedResponse,
  text: string,
  isValid: (body: Body) => boolean,
): Attempt<Body> | PassbookError {
  const { status } = response;
  const body = parseObject(text);
  const retryAfterMs = readRetryAfter(response.headers.get("Retry-After"));
  if (status >= 200 && status < 300 && body !== null) {
    const value = body as Body;
    const replayed = response.headers.get("Idempotency-Replayed") === "true";
    if (isValid(value)) return { status, body: value, retryAfterMs, replayed };
    const message = "The response does not come from a Passbook service. Check baseUrl.";
    return new PassbookError("invalid_response", message);
  }
  if (status >= 400 && body !== null && typeof body["error"] === "string") {
    const code = codeOf(body["code"]) ?? "invalid_response";
    const details = { status, body, retryAfterMs: retryAfterMs ?? undefined };
    return new PassbookError(code, body["error"], details);
  }
  if (status >= 500)
    return new PassbookError("no_response", `The service failed with status ${status}.`);
  const message = `A response of status ${status} does not come from a Passbook service. Check baseUrl.`;
  return new PassbookError("invalid_response", message, { status });
}

/** The error of a response that is not the expected stream. */
export function readRefusal(response: FetchedResponse, text: string): PassbookError {
  const attempt = readResponse(response, text, () => false);
  const message = "The response is not an event stream.";
  return attempt instanceof PassbookError
    ? attempt
    : new PassbookError("invalid_response", message);
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const is_object = typeof value === "object" && value !== null && !Array.isArray(value);
    return is_object ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function readRetryAfter(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : null;
}

/** Whether another attempt is safe and may succeed. */
function mayRepeat(call: Pick<Call, "repeat" | "untilMs">, error: PassbookError): boolean {
  const { repeat, untilMs } = call;
  if (isLimited(error)) return true;
  if (repeat.kind === "once" || isRefusal(error)) return false;
  // A call that retries for hours also outlasts a wrong setting of the service.
  return untilMs !== undefined || !isFinal(error);
}

/** Whether another attempt soon would fail in the same way. */
export function isFinal({ code }: PassbookError): boolean {
  return LASTING_FAILURES.has(code);
}

/** Whether the delay is too long to wait for. */
export function isTooLong(delay_ms: number): boolean {
  return delay_ms > RETRY_AFTER_MAX_MS;
}

/** The pause before the attempt after this one, in milliseconds. */
export function delayBefore(attempt: number, error: PassbookError): number {
  const backoff_ms = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(attempt - 1, 16));
  // Half of it is random, so that clients that failed together do not retry together.
  return Math.max(error.retryAfterMs ?? 0, backoff_ms * (0.5 + Math.random() / 2));
}

function isExhausted(
  { retries }: TransportOptions,
  { untilMs }: Pick<Call, "untilMs">,
  attempt: number,
  delay_ms: number,
): boolean {
  if (untilMs !== undefined) return Date.now() + delay_ms > untilMs;
  return attempt > retries || isTooLong(delay_ms);
}
