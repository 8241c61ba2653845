/** What goes wrong, by a stable word. */
import type { Job } from "./responses.ts";
import { REFUSAL_STATUS, type RefusalCode } from "../domain/refusal_codes.ts";

/** The codes the service answers with (`code` of an error body). */
export type ServiceErrorCode = RefusalCode;
// Marked pure, so that an app's bundler drops the list where the app does not use it.
export const SERVICE_ERROR_CODES = /* @__PURE__ */ Object.keys(
  REFUSAL_STATUS,
) as readonly ServiceErrorCode[];

/**
 * The client's own words. `no_answer`: the network failed or took too long, and what was asked may or
 * may not have happened. `bad_answer`: an answer that is not one of the service's. `no_credentials`:
 * nothing was sent, since there is no token to send. `invalid_argument`: nothing was sent either.
 * `signin_failed`: the browser came back without a token, or from a sign-in that it did not start. `job_ended`:
 * the job of `runJob`'s own key has ended before; it is in `job`. `unknown_code`: a newer service's code, which is
 * `body.code`.
 */
export type ClientErrorCode =
  | "no_answer"
  | "bad_answer"
  | "no_credentials"
  | "invalid_argument"
  | "signin_failed"
  | "job_ended"
  | "unknown_code";

export type PassbookErrorCode = ServiceErrorCode | ClientErrorCode;

/** A response's `code` as this version knows it; null for text that is no code of any version. */
export function codeOf(text: unknown): ServiceErrorCode | "unknown_code" | null {
  if (typeof text !== "string" || !/^[a-z][a-z_]*$/.test(text)) return null;
  return Object.hasOwn(REFUSAL_STATUS, text) ? (text as ServiceErrorCode) : "unknown_code";
}

interface Details {
  readonly status?: number | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  readonly result?: unknown;
}

/** The one error that this package throws; an aborted call throws its signal's reason instead. */
export class PassbookError extends Error {
  override readonly name = "PassbookError";
  readonly code: PassbookErrorCode;
  /** The HTTP status; null where the service did not answer. */
  readonly status: number | null;
  /** The whole error body, for what a code adds, such as `upstream_status`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** How long the service asks to wait, in milliseconds; null where it does not say. */
  readonly retryAfterMs: number | null;
  /** What the work of `runJob` returned, where its job could not be settled; else undefined. */
  readonly result: unknown;

  constructor(code: PassbookErrorCode, message: string, details: Details = {}) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.code = code;
    this.status = details.status ?? null;
    this.body = details.body ?? {};
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.result = details.result;
  }

  /** The same error, with the work's result. */
  withResult(result: unknown): PassbookError {
    const { code, message, status, body, retryAfterMs } = this;
    const details = { status: status ?? undefined, body, retryAfterMs: retryAfterMs ?? undefined };
    return new PassbookError(code, message, { ...details, cause: this, result });
  }

  /** The job that has ended, where `code` is `job_ended`; else null. */
  get job(): Job | null {
    return this.code === "job_ended" ? (this.body["job"] as Job) : null;
  }

  /** Where to send the person to sign in, if the service said so. */
  get signinUrl(): string | null {
    const { signin_url } = this.body;
    return typeof signin_url === "string" ? signin_url : null;
  }
}

/**
 * Whether `error` is this package's, and, where a code is given, has that code.
 */
export function isPassbookError<Code extends PassbookErrorCode>(
  error: unknown,
  code?: Code,
): error is PassbookError & { readonly code: Code } {
  return error instanceof PassbookError && (code === undefined || error.code === code);
}

/** RFC 4918, section 11.5: the account holds all it can. A no like others, though its number is a failure's. */
const INSUFFICIENT_STORAGE = 507;

const TOO_MANY_REQUESTS = 429;

/** Whether the service itself asks to come back later: it did nothing, and is yet to say yes or no. */
export function isLimited(error: PassbookError): boolean {
  return error.status === TOO_MANY_REQUESTS && error.code !== "bad_answer";
}

/**
 * Whether the service said no, so that nothing happened, and will not when asked again. Neither silence,
 * nor a failure of its own, nor the no of a firewall or proxy on the way, which knows of no job.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof PassbookError) || error.status === null) return false;
  if (error.code === "bad_answer" || isLimited(error)) return false;
  return (error.status >= 400 && error.status < 500) || error.status === INSUFFICIENT_STORAGE;
}
