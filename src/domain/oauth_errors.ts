/** Errors of the OAuth endpoints (RFC 6749, section 5.2; RFC 7009; RFC 8707, section 2). Other endpoints have `refusals.ts`. */

/** The HTTP status of each error. */
export const OAUTH_ERROR_STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  /** The `resource` is not known, or not the one that was approved. */
  invalid_target: 400,
  unsupported_token_type: 400,
  /** No code of RFC 6749 exists for these two at the token endpoint; clients wait as `Retry-After` says. */
  slow_down: 429,
  temporarily_unavailable: 503,
} as const;

export type OAuthErrorCode = keyof typeof OAUTH_ERROR_STATUS;

export interface OAuthError {
  readonly error: OAuthErrorCode;
  /** The fault and the next step, in ASCII without double quotes and backslashes (RFC 6749, section 5.2). */
  readonly error_description: string;
  /** How long the client must wait. */
  readonly retry_after_seconds?: number;
}
