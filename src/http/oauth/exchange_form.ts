/** The form of a token exchange (RFC 8693, section 2.1), with its limits in `authorization_details` (RFC 9396). */
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { readScope } from "../../domain/oauth_scopes.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { Narrowing } from "../../domain/token_exchange.ts";
import { invalidRequest } from "./errors.ts";
import type { OAuthForm } from "./form.ts";
import { readSpendingDetails } from "./spending_details.ts";

export const ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";

export const REFRESH_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:refresh_token";

/**
 * The form of a personal access token, for a program that cannot renew tokens: `passbook run` starts it with one. It is
 * valid for a day at most.
 */
export const PERSONAL_TOKEN_TYPE = "urn:passbook:token-type:personal";

const PERSONAL_TTL_MAX_SECONDS = 24 * 60 * 60;

const SUBJECT_TYPES = { [ACCESS_TOKEN_TYPE]: "access", [REFRESH_TOKEN_TYPE]: "refresh" } as const;

export interface ExchangeForm {
  readonly subject_token: string;
  readonly subject_kind: "access" | "refresh";
  readonly narrowing: Narrowing;
  /** Whether the token is to have the form of a personal access token. */
  readonly is_personal: boolean;
}

export function readExchange(form: OAuthForm): Result<ExchangeForm, OAuthError> {
  const subject_token = form.get("subject_token");
  if (subject_token === null) return refused(invalidRequest("subject_token is missing."));
  const subject_type = form.get("subject_token_type");
  if (subject_type !== ACCESS_TOKEN_TYPE && subject_type !== REFRESH_TOKEN_TYPE) {
    const types = `${ACCESS_TOKEN_TYPE} or ${REFRESH_TOKEN_TYPE}`;
    return refused(invalidRequest(`subject_token_type must be ${types}.`));
  }
  const requested_type = form.get("requested_token_type") ?? ACCESS_TOKEN_TYPE;
  if (requested_type !== ACCESS_TOKEN_TYPE && requested_type !== PERSONAL_TOKEN_TYPE) {
    const types = `${ACCESS_TOKEN_TYPE} or ${PERSONAL_TOKEN_TYPE}`;
    return refused(invalidRequest(`requested_token_type must be ${types}, or left out.`));
  }
  if (form.get("actor_token") !== null || form.get("audience") !== null) {
    return refused(invalidRequest("actor_token and audience are not supported. Leave them out."));
  }
  const narrowing = readNarrowing(form);
  if (!narrowing.ok) return narrowing;
  const is_personal = requested_type === PERSONAL_TOKEN_TYPE;
  const latest_ms = Date.now() + PERSONAL_TTL_MAX_SECONDS * 1000;
  if (is_personal && (narrowing.value.expires_at_ms ?? Infinity) > latest_ms) {
    const error_description = `A ${PERSONAL_TOKEN_TYPE} needs expires_in in authorization_details, of at most ${PERSONAL_TTL_MAX_SECONDS} seconds.`;
    return refused(invalidRequest(error_description));
  }
  const subject_kind = SUBJECT_TYPES[subject_type];
  return accepted({ subject_token, subject_kind, narrowing: narrowing.value, is_personal });
}

export const NO_SCOPE = {
  error: "invalid_scope",
  error_description: "Name a scope, or leave scope out.",
} as const;

function readNarrowing(form: OAuthForm): Result<Narrowing, OAuthError> {
  const scope = form.get("scope");
  const scopes = scope === null ? undefined : readScope(scope);
  if (scopes?.length === 0) return refused(NO_SCOPE);
  const sent = form.get("authorization_details");
  if (sent === null) return accepted({ scopes });
  const read = readSpendingDetails(sent);
  if (!read.ok) return refused(invalidRequest(read.refusal));
  const limits = read.value;
  const { expires_in } = limits;
  return accepted({
    scopes,
    caps: limits.caps,
    app_slugs: limits.apps && [...new Set(limits.apps)],
    expires_at_ms: expires_in === undefined ? undefined : Date.now() + expires_in * 1000,
  });
}
