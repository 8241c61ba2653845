/**
 * A token family: the tokens that follow from one authorization of a client. Its row has the number of the last response
 * (`generation`) and its time; every token of that response is derived from them, so a repeated request gets the same
 * tokens. Pure: the caller passes the time.
 */
import { resourceKey } from "./resource_uri.ts";

/** An authorization code can be redeemed for this long. The client does so in the same second. */
export const CODE_TTL_MS = 60_000;

/** A used code is remembered for this long, so that a second use is recognised. */
export const CODE_KEEP_MS = 24 * 60 * 60 * 1000;

/** A second use within this time is a double submit of the same client, and ends nothing. */
export const CODE_DOUBLE_SUBMIT_MS = 10_000;

/**
 * The refresh token before the current one gets the current tokens again for this long, without a rotation: until one of
 * them is used, its client may not have received them.
 */
export const REFRESH_REPEAT_MS = 24 * 60 * 60 * 1000;

/** Lifetime of access and ID tokens. */
export const OAUTH_TOKEN_TTL_SECONDS = 600;

/**
 * The `expires_in` of a response, at most: a repeated response is the same for a minute. One that is repeated after this
 * time has a new access token.
 */
export const OAUTH_EXPIRES_IN_SECONDS = OAUTH_TOKEN_TTL_SECONDS - 60;

/**
 * The families of one allowance. One more ends one whose code was not redeemed, or else the one that was not used for the
 * longest time.
 */
export const FAMILIES_PER_ALLOWANCE_MAX = 50;

/** The last response of a family. Generation 0: the code was not redeemed yet. */
export interface FamilyState {
  readonly generation: number;
  readonly rotated_at_ms: number;
}

/** `end`: the refresh token was used before, so it was stolen or its client is broken. `refuse`: it was never issued. */
type RefreshVerdict = "rotate" | "repeat" | "end" | "refuse";

/** The outcome for a refresh token of a generation. `is_used`: whether a token of the last response was used. */
export function judgeRefresh(
  family: FamilyState & { readonly is_used: boolean },
  presented: number,
  now_ms: number,
): RefreshVerdict {
  if (presented === family.generation) return "rotate";
  // The object lost what it had promised, for example in a restored backup.
  if (presented > family.generation) return "refuse";
  const is_previous = presented === family.generation - 1;
  return is_previous && !family.is_used && now_ms - family.rotated_at_ms < REFRESH_REPEAT_MS
    ? "repeat"
    : "end";
}

/** The facts that were fixed when a code was issued. */
export interface IssuedCode {
  readonly client_id: string;
  readonly redirect_uri: string;
  /** Null: our API. */
  readonly resource: string | null;
  /** PKCE's S256 challenge (RFC 7636); null: the client sent none. */
  readonly code_challenge: string | null;
  readonly created_at_ms: number;
  /** Null: not used. */
  readonly used_at_ms: number | null;
}

/** The fields that a client sends to redeem a code. */
export interface PresentedCode {
  readonly client_id: string;
  /** Null: not sent, which OAuth 2.1 allows with PKCE. */
  readonly redirect_uri: string | null;
  /** Undefined: not sent. Null: our API. */
  readonly resource: string | null | undefined;
  /** The challenge that the sent verifier belongs to; null: none was sent. */
  readonly code_challenge: string | null;
}

/** Why tokens are not issued. */
export type GrantProblem =
  | "code_unknown"
  | "code_expired"
  | "code_used"
  | "other_client"
  | "other_redirect_uri"
  | "other_resource"
  | "verifier_missing"
  | "verifier_unexpected"
  | "verifier_wrong"
  | "assertion_missing"
  | "refresh_token_unknown"
  | "refresh_token_used"
  | "family_ended"
  | "allowance_ended"
  | "allowance_expired"
  | "suspended"
  | "app_stopped"
  | "account_deleted";

type CodeVerdict =
  | { readonly kind: "redeem" }
  | { readonly kind: "refuse"; readonly problem: GrantProblem; readonly ends_family: boolean };

/**
 * Whether a code is redeemed. A code that was used before ends its family only if its own client presents it with its
 * verifier, and not as a double submit: then the first use may have been a thief's.
 */
export function judgeCode(code: IssuedCode, sent: PresentedCode, now_ms: number): CodeVerdict {
  const refuse = (problem: GrantProblem, ends_family = false): CodeVerdict => ({
    kind: "refuse",
    problem,
    ends_family,
  });
  const mismatch = findMismatch(code, sent);
  if (mismatch !== null) return refuse(mismatch);
  if (code.used_at_ms !== null) {
    return refuse("code_used", now_ms - code.used_at_ms >= CODE_DOUBLE_SUBMIT_MS);
  }
  return now_ms - code.created_at_ms >= CODE_TTL_MS ? refuse("code_expired") : { kind: "redeem" };
}

function findMismatch(code: IssuedCode, sent: PresentedCode): GrantProblem | null {
  if (sent.client_id !== code.client_id) return "other_client";
  if (code.code_challenge === null && sent.code_challenge !== null) return "verifier_unexpected";
  if (code.code_challenge !== null && sent.code_challenge === null) return "verifier_missing";
  if (sent.code_challenge !== code.code_challenge) return "verifier_wrong";
  const may_omit_address = code.code_challenge !== null && sent.redirect_uri === null;
  if (sent.redirect_uri !== code.redirect_uri && !may_omit_address) return "other_redirect_uri";
  if (sent.resource === undefined || isSameResource(sent.resource, code.resource)) return null;
  return "other_resource";
}

/** Whether two resources are the same; null: our API. A bare origin may have a slash. */
export function isSameResource(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other;
  return resourceKey(one) === resourceKey(other);
}
