/**
 * Requests and their retries. Only what can be sent twice without harm is sent twice: reads, and writes
 * under an idempotency key that was made before the first send.
 */
import type { Credentials } from "./credentials.ts";
import { codeOf, isLimited, isRefusal, PassbookError, type PassbookErrorCode } from "./errors.ts";

/** What this package needs of a `Response`. */
export interface FetchedResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** Read by `events` alone, as it comes. */
  readonly body?: { getReader(): StreamReader } | null;
}

/** What this package needs of a stream's reader. */
export interface StreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  credentials?: "include";
  signal: AbortSignal;
}

/** The part of `fetch` that is used: any runtime's serves. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>;

/** Resolves after so many milliseconds; rejects with the signal's reason when that is aborted. */
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
 * How often a call may be sent. `read`: as often as it takes. `keyed`: likewise, with this
 * `Idempotency-Key`. `once`: again only where the service says that it did nothing.
 */
export type Repeat =
  | { readonly kind: "read" }
  | { readonly kind: "keyed"; readonly key: string }
  | { readonly kind: "once" };

export interface Call<Body extends object = object> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | Date | undefined>>;
  readonly body?: object | undefined;
  readonly repeat: Repeat;
  /** Null: a call that needs no caller. */
  readonly credentials: Credentials | null;
  /** Whether a body of 2xx has the shape that the service promises. What has not is no answer of its. */
  readonly isAnswer: (body: Body) => boolean;
  readonly signal?: AbortSignal | undefined;
  /** Instead of a number of retries: go on until this moment, in milliseconds since 1970. */
  readonly untilMs?: number | undefined;
  /** Told when an attempt was sent and its outcome is not known. */
  readonly onUnknown?: (() => void) | undefined;
  /** Told when it will be sent again, before the wait for that. */
  readonly onWait?: (() => void) | undefined;
}

/** What is asked for without changing anything. */
export const READ = { method: "GET", repeat: { kind: "read" } } as const;
export type Read<Body extends object> = Pick<Call<Body>, "path" | "query" | "signal" | "isAnswer">;

/** The answer to an act that has nothing to tell. */
export const isDone = ({ ok }: { readonly ok?: unknown }): boolean => ok === true;

/** An answer of the service's that is no refusal. */
export interface Answer<Body extends object = object> {
  readonly status: number;
  readonly body: Body;
  readonly retryAfterMs: number | null;
  /** Whether the service had done this before, and only repeats its first response. */
  readonly replayed: boolean;
  /** How many times it was sent. */
  readonly attempts: number;
}

const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 15_000;

/** A service that asks to wait for longer than this is not waited for. */
const RETRY_AFTER_MAX_MS = 60_000;

/** Words for a state that another attempt soon does not change. */
const FINAL = new Set<PassbookErrorCode>([
  "account_full",
  "misconfigured",
  "payments_refused",
  "token_storage_full",
  "upstream_error",
  "upstream_not_configured",
]);

/** A call that is sent once, and whose answer is read as it comes. */
export interface OpenCall extends Pick<Call, "path" | "query" | "credentials"> {
  readonly accept: string;
  /** Ends the reading too. */
  readonly signal: AbortSignal;
}

export interface Transport extends Pick<
  TransportOptions,
  "origin" | "wait" | "timeoutMs" | "retries"
> {
  /** Sends a call once. @throws what `fetch` throws, or PassbookError where there is no token. */
  open(call: OpenCall): Promise<FetchedResponse>;
  /** Sends a call until it is answered. @throws PassbookError, or the reason of an aborted signal. */
  send<Body extends object>(call: Call<Body>): Promise<Answer<Body>>;
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
        if (!mayRepeat(call, outcome) || isSpent(options, call, attempt, delay_ms)) throw outcome;
        call.onWait?.();
        await options.wait(delay_ms, call.signal);
      }
    },
  };
}

type Attempt<Body extends object> = Omit<Answer<Body>, "attempts">;

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
    // The service redirects no call; a token must not follow one elsewhere.
    redirect: "manual",
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  };
  if (call.body !== undefined) init.body = JSON.stringify(call.body);
  if (credentials?.cookies === true) init.credentials = "include";
  try {
    const response = await options.fetch(addressOf(options.origin, call), init);
    const text = await response.text();
    const answer = readAnswer(response, text, call.isAnswer);
    const undone = answer instanceof PassbookError && (isRefusal(answer) || isLimited(answer));
    if (answer instanceof PassbookError && !undone) call.onUnknown?.();
    return answer;
  } catch (error) {
    call.onUnknown?.();
    signal?.throwIfAborted();
    const message =
      `${options.origin} gave no response: ${reasonOf(error, options.timeoutMs)}. ` +
      ("document" in globalThis
        ? "Check the address, and that the service allows this page's origin."
        : "Check the address, and that the service runs.");
    return new PassbookError("no_answer", message, { cause: error });
  }
}

const NETWORK_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection broke",
  ENOTFOUND: "this host is not known",
};

/** Why `fetch` failed. Node has a code for it; a browser tells pages nothing. */
function reasonOf(error: unknown, timeout_ms: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `none within ${timeout_ms / 1000} seconds`;
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
    url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return url.href;
}

function readAnswer<Body extends object>(
  response: FetchedResponse,
  text: string,
  isAnswer: (body: Body) => boolean,
): Attempt<Body> | PassbookError {
  const { status } = response;
  const body = parseObject(text);
  const retryAfterMs = readRetryAfter(response.headers.get("Retry-After"));
  if (status >= 200 && status < 300 && body !== null) {
    const answer = body as Body;
    const replayed = response.headers.get("Idempotency-Replayed") === "true";
    if (isAnswer(answer)) return { status, body: answer, retryAfterMs, replayed };
    return new PassbookError("bad_answer", "The answer has not the shape the service promises.");
  }
  if (status >= 400 && body !== null && typeof body["error"] === "string") {
    const code = codeOf(body["code"]) ?? "bad_answer";
    const details = { status, body, retryAfterMs: retryAfterMs ?? undefined };
    return new PassbookError(code, body["error"], details);
  }
  if (status >= 500) return new PassbookError("no_answer", `The service answered ${status}.`);
  const message = `The answer, of status ${status}, is not one of the service's.`;
  return new PassbookError("bad_answer", message, { status });
}

/** What an answer says that should have been a stream. */
export function readRefusal(response: FetchedResponse, text: string): PassbookError {
  const answer = readAnswer(response, text, () => false);
  return answer instanceof PassbookError ? answer : new PassbookError("bad_answer", "No stream.");
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

/** Whether another attempt does no harm and may end otherwise. */
function mayRepeat(call: Pick<Call, "repeat" | "untilMs">, error: PassbookError): boolean {
  const { repeat, untilMs } = call;
  if (isLimited(error)) return true;
  if (repeat.kind === "once" || isRefusal(error)) return false;
  // Who goes on for hours outlasts even a wrong setting of the service's.
  return untilMs !== undefined || !isFinal(error);
}

/** Whether another attempt soon would end the same. */
export function isFinal({ code }: PassbookError): boolean {
  return FINAL.has(code);
}

/** Whether nobody waits that long. */
export function isTooLong(delay_ms: number): boolean {
  return delay_ms > RETRY_AFTER_MAX_MS;
}

/** The pause before the attempt after this one, in milliseconds. */
export function delayBefore(attempt: number, error: PassbookError): number {
  const backoff_ms = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(attempt - 1, 16));
  // Half of it by chance, so that clients that failed together do not come back together.
  return Math.max(error.retryAfterMs ?? 0, backoff_ms * (0.5 + Math.random() / 2));
}

function isSpent(
  { retries }: TransportOptions,
  { untilMs }: Pick<Call, "untilMs">,
  attempt: number,
  delay_ms: number,
): boolean {
  if (untilMs !== undefined) return Date.now() + delay_ms > untilMs;
  return attempt > retries || isTooLong(delay_ms);
}
