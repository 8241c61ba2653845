/** Error responses of the OAuth endpoints (RFC 6749, section 5.2). */
import type { GrantProblem } from "../../domain/token_family.ts";
import {
  OAUTH_ERROR_STATUS,
  type OAuthError,
  type OAuthErrorCode,
} from "../../domain/oauth_errors.ts";
import { nameScopes } from "../../domain/oauth_scopes.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../context.ts";

export type Problem = GrantProblem;

const AUTHORIZE_AGAIN = "Start the authorization again.";

/** The faults of codes and refresh tokens. */
const PROBLEMS: Readonly<Record<Problem, readonly [OAuthErrorCode, string]>> = {
  code_unknown: ["invalid_grant", `This code was not issued here. ${AUTHORIZE_AGAIN}`],
  code_expired: ["invalid_grant", `The code has expired. ${AUTHORIZE_AGAIN}`],
  code_used: ["invalid_grant", `The code was used before. ${AUTHORIZE_AGAIN}`],
  other_client: ["invalid_grant", "The code or token was issued to another client."],
  other_redirect_uri: [
    "invalid_grant",
    "redirect_uri is not the address of the authorization request. Send the same one.",
  ],
  other_resource: [
    "invalid_target",
    "resource is not the one that the person approved. Send the same one, or none.",
  ],
  verifier_missing: ["invalid_grant", "Send the code_verifier of the authorization request."],
  verifier_unexpected: [
    "invalid_grant",
    "The authorization request had no code_challenge, so code_verifier is refused.",
  ],
  verifier_wrong: ["invalid_grant", "code_verifier is not the one of the authorization request."],
  assertion_missing: [
    "invalid_client",
    "The client's document says that it authenticates with private_key_jwt. Send client_assertion.",
  ],
  refresh_token_unknown: [
    "invalid_grant",
    `This refresh token was not issued here. ${AUTHORIZE_AGAIN}`,
  ],
  refresh_token_used: [
    "invalid_grant",
    `The refresh token was used before, so this authorization has ended: a program did not save its new tokens, or someone copied the old one. ${AUTHORIZE_AGAIN}`,
  ],
  family_ended: [
    "invalid_grant",
    `This authorization has ended: the person signed out, or a code or token was used twice. ${AUTHORIZE_AGAIN}`,
  ],
  allowance_ended: [
    "invalid_grant",
    `The person ended the connection, or an operator deleted its client. ${AUTHORIZE_AGAIN}`,
  ],
  allowance_expired: ["invalid_grant", `The connection has expired. ${AUTHORIZE_AGAIN}`],
  app_stopped: [
    "invalid_grant",
    "The person stopped this app. They can allow it again on the page /account/access.",
  ],
  suspended: ["invalid_grant", "The account is suspended. The person can contact its operator."],
  account_deleted: ["invalid_grant", `The account was deleted. ${AUTHORIZE_AGAIN}`],
};

export function errorOf(problem: Problem): OAuthError {
  const [error, error_description] = PROBLEMS[problem];
  return { error, error_description };
}

/** Scopes that the token does not permit; none: it permits none that may be passed on. */
export function widerScope(scopes: readonly string[]): OAuthError {
  const error_description =
    scopes.length === 0
      ? "The exchanged token has no scope that can be passed on."
      : `The token does not permit these scopes: ${nameScopes(scopes)}. Leave them out, or leave scope out.`;
  return { error: "invalid_scope", error_description };
}

export function invalidRequest(error_description: string): OAuthError {
  return { error: "invalid_request", error_description };
}

export const RESOURCE_DELETED: OAuthError = {
  error: "invalid_target",
  error_description: "The resource of this token is no longer registered here. Ask its operator.",
};

/** Nobody knows now, so the request may be repeated later. */
export const UNAVAILABLE: OAuthError = {
  error: "temporarily_unavailable",
  error_description: "The service is not available now. Try again shortly.",
  retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
};

/** A refusal of our own service as an OAuth error. */
export function errorFrom(refusal: Refusal): OAuthError {
  if (refusal.code === "rate_limited") {
    const { window_seconds } = refusal.rule;
    const error_description = `Too many requests. Try again in ${window_seconds} seconds.`;
    return { error: "slow_down", error_description, retry_after_seconds: window_seconds };
  }
  if (refusal.code === "account_unknown") return errorOf("account_deleted");
  if (refusal.code === "suspended") return errorOf("suspended");
  if (refusal.code === "app_stopped") return errorOf("app_stopped");
  return UNAVAILABLE;
}

export function refuseOAuth(
  context: AppContext,
  { error, error_description, retry_after_seconds, status }: OAuthError,
): Response {
  context.set("refusal_code", error);
  if (retry_after_seconds !== undefined) context.header("Retry-After", String(retry_after_seconds));
  if (error === "invalid_client" && context.req.header("Authorization") !== undefined) {
    context.header("WWW-Authenticate", `Basic realm="${context.get("base_url")}"`);
  }
  return context.json({ error, error_description }, status ?? OAUTH_ERROR_STATUS[error]);
}
