/** The one error class of this package, and its codes. */
import type { Job } from "./responses.ts";
import { REFUSAL_STATUS, type RefusalCode } from "../domain/refusal_codes.ts";

/** The error codes of the service: `code` of an error body. */
export type ServiceErrorCode = RefusalCode;
/** All error codes of the service. */
// Marked pure, so that a bundler drops the list if the app does not use it.
export const SERVICE_ERROR_CODES = /* @__PURE__ */ Object.keys(
  REFUSAL_STATUS,
) as readonly ServiceErrorCode[];

/**
 * The client's own error codes.
 * - `no_response`: the network failed or took too long. The service may or may not have carried out the request.
 * - `invalid_response`: the response does not come from the service.
 * - `no_credentials`: there is no token; nothing was sent.
 * - `invalid_argument`: an argument is invalid; nothing was sent.
 * - `signin_failed`: the page was opened without a token, or by a sign-in that this browser did not start.
 * - `unknown_code`: the service sent a code that this version does not know; `body.code` has it.
 */
export type ClientErrorCode =
  | "no_response"
  | "invalid_response"
  | "no_credentials"
  | "invalid_argument"
  | "signin_failed"
  | "unknown_code";

/**
 * The codes of the OAuth endpoints, as their standards name them.
 * - `invalid_grant`: the connection has ended, or the code was used or is too old. Connect again.
 * - `invalid_client`, `unauthorized_client`: the client's id, secret or registration is wrong.
 * - `invalid_scope`, `invalid_target`: the scopes or the resource may not be requested.
 * - `login_required`, `consent_required`, `interaction_required`: the person must see a page, but `prompt: "none"`
 *   forbade it.
 * - the rest: a request that this client does not make, or a failure of the service.
 *
 * `access_denied` means that the person refused.
 */
export const OAUTH_ERROR_CODES = [
  "consent_required",
  "interaction_required",
  "invalid_client",
  "invalid_grant",
  "invalid_scope",
  "invalid_target",
  "login_required",
  "server_error",
  "slow_down",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
] as const;
/** The error codes of OAuth and OpenID Connect that the service sends to a client. */
export type OAuthErrorCode = (typeof OAUTH_ERROR_CODES)[number];

/** Every code that a `PassbookError` can have. */
export type PassbookErrorCode = ServiceErrorCode | ClientErrorCode | OAuthErrorCode;

/** The code of a response; `unknown_code` for a code of a newer service; null for text that cannot be a code. */
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

/** Every error that this package throws. An aborted call throws the reason of its signal instead. */
export class PassbookError extends Error {
  override readonly name = "PassbookError";
  readonly code: PassbookErrorCode;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** The whole error body, with the fields that a code adds, such as `upstream_status`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The service's `Retry-After` in milliseconds; null without one. */
  readonly retryAfterMs: number | null;
  /** The result of `runJob`'s work, if its job could not be settled; otherwise undefined. */
  readonly result: unknown;

  constructor(code: PassbookErrorCode, message: string, details: Details = {}) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.code = code;
    this.status = details.status ?? null;
    this.body = details.body ?? {};
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.result = details.result;
  }

  /** The same error with the result of the work. */
  withResult(result: unknown): PassbookError {
    const { code, message, status, body, retryAfterMs } = this;
    const details = { status: status ?? undefined, body, retryAfterMs: retryAfterMs ?? undefined };
    return new PassbookError(code, message, { ...details, cause: this, result });
  }

  /** The job of the caller's own key, if `runJob` found that it had ended (`job_ended`); otherwise null. */
  get job(): Job | null {
    return this.code === "job_ended" ? ((this.body["job"] as Job | undefined) ?? null) : null;
  }

  /** The sign-in page for this request, if the service named one. */
  get signinUrl(): string | null {
    const { signin_url } = this.body;
    return typeof signin_url === "string" ? signin_url : null;
  }
}

/** Whether `error` is a PassbookError and, if `code` is given, has that code. */
export function isPassbookError<Code extends PassbookErrorCode>(
  error: unknown,
  code?: Code,
): error is PassbookError & { readonly code: Code } {
  return error instanceof PassbookError && (code === undefined || error.code === code);
}

/** RFC 4918, section 11.5: the account is full. This is a refusal, although its status is a 5xx. */
const INSUFFICIENT_STORAGE = 507;

const TOO_MANY_REQUESTS = 429;

/** Whether the service limited the rate: it did not carry out the request, and a later attempt may succeed. */
export function isLimited(error: PassbookError): boolean {
  return error.status === TOO_MANY_REQUESTS && error.code !== "invalid_response";
}

/**
 * Whether the service refused the request: it changed nothing, and a retry would be refused too. Missing responses,
 * failures of the service, and responses of a firewall or proxy are not refusals.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof PassbookError) || error.status === null) return false;
  if (error.code === "invalid_response" || isLimited(error)) return false;
  return (error.status >= 400 && error.status < 500) || error.status === INSUFFICIENT_STORAGE;
}
