/** Proofs of identity, and the prefixes of our tokens. */
import { CHARGE_SCOPE } from "./oauth_scopes.ts";

/**
 * The proof of a caller: a browser session, a personal access token, an OAuth client's connection, or a session of an app. A
 * session token that was issued for a token of an allowance is bound to it: it ends with that token and has its limits.
 */
export type Proof = SessionProof | AllowanceProof | AppSessionProof;

/** A token of an allowance. The account knows its limits, and whether it was exchanged from another token. */
export type AllowanceProof = PersonalTokenProof | ConnectionProof;

export interface SessionProof {
  readonly kind: "session";
  readonly session_id: string;
  /**
   * The origin that uses the session (RFC 7519 claim `azp`): the one that a session token was issued to, or the
   * one whose page sent the cookie. The service's own origin means its own pages. {@link SHARED_AZP} and {@link
   * UNKNOWN_AZP} equal no origin.
   */
  readonly azp: string;
}

interface PersonalTokenProof {
  readonly kind: "personal_token";
  readonly credential: AllowanceCredential;
  /** The OAuth client that collected it; left out: none. */
  readonly client_id?: string;
}

interface ConnectionProof {
  readonly kind: "connection";
  readonly credential: Credential;
  /** The OAuth client that the token was issued to. */
  readonly client_id: string;
}

export function isOfAllowance(proof: { readonly kind: string }): proof is AllowanceProof {
  return proof.kind === "personal_token" || proof.kind === "connection";
}

/**
 * The id in a token of an allowance: the allowance itself (a personal access token), or a family of tokens that a
 * client renews.
 */
export type Credential = AllowanceCredential | FamilyCredential;

interface AllowanceCredential {
  readonly kind: "allowance";
  readonly allowance_id: string;
}

/** A token of a family: see `token_family.ts`. */
export interface FamilyCredential {
  readonly kind: "family";
  readonly family_id: string;
  /** The number of the response that the token belongs to. */
  readonly generation: number;
  /** The scopes of the token: those of its family, or fewer. `all`: it is a refresh token. */
  readonly scopes: readonly string[] | "all";
}

/** Whether an app charges for a connection with the token. */
export function isForCharging(proof: { readonly kind: string }): boolean {
  if (!isOfAllowance(proof) || proof.credential.kind !== "family") return false;
  const { scopes } = proof.credential;
  return scopes !== "all" && scopes.includes(CHARGE_SCOPE);
}

/** The id that the credential's token names. */
export function credentialId(credential: Credential): string {
  return credential.kind === "allowance" ? credential.allowance_id : credential.family_id;
}

/**
 * A person's session in an app, proven by a token of a trusted issuer (`TRUSTED_ISSUERS`). It is no session of this
 * service: it approves no device, operates nothing, and nothing here can end it before its token expires.
 */
export interface AppSessionProof {
  readonly kind: "app_session";
  /** The id of the trusted issuer. */
  readonly issuer_id: string;
  /** The app that the token was issued to; null: the token names none. */
  readonly party: string | null;
  /** Whether the operator allows its apps to get upstream tokens. */
  readonly upstream: boolean;
}

/** The `azp` of the session token in the parent domain's cookie, which every host of that domain can read. */
export const SHARED_AZP = "shared";

/** The `azp` of a cookie request from another site that names no origin. */
export const UNKNOWN_AZP = "unknown";

/** A proof and its identity. */
export interface Identified {
  readonly identity_id: string;
  readonly proof: Proof;
}

/**
 * An app's server, proven by one of the app's keys. It proves no person, so each request names the account that
 * it acts in.
 */
export interface AppProof {
  readonly kind: "app";
  readonly app_slug: string;
  /** The hash of the key, for the day of its last use. */
  readonly key_hash: string;
  /** From when a stream of the key may last a minute. The key may have been revoked since. */
  readonly checked_at_ms: number;
}

/** The directory's knowledge about an app key. */
export type KnownKey =
  | AppProof
  | { readonly kind: "unknown" }
  /** The directory cannot be read now, and the last copy is too old or does not have the key. */
  | { readonly kind: "unreadable" };

/** The prefix of app keys. A secret of 256 bits in base64url follows. */
export const APP_KEY_PREFIX = "pb_app_";

/** The prefix of app keys of a development service, so that nobody takes one for a key of production. */
export const TEST_KEY_PREFIX = "pb_app_test_";

/**
 * The prefix of the secrets of OAuth clients. 256 bits in base64url follow. A secret proves its client at `/oauth/*`, and
 * nothing anywhere else.
 */
export const CLIENT_SECRET_PREFIX = "pb_cs_";

/** The prefix of personal access tokens. Secret scanners recognise a leaked one by it. */
export const PERSONAL_TOKEN_PREFIX = "pb_pat_";

/** The prefixes of an OAuth client's authorization codes, refresh tokens, and access tokens of our API. */
export const AUTHORIZATION_CODE_PREFIX = "pb_ac_";
export const REFRESH_TOKEN_PREFIX = "pb_rt_";
export const ACCESS_TOKEN_PREFIX = "pb_at_";

/** The prefixes of all our tokens and keys that are no plain JWT. */
export const OWN_PREFIXES = [
  APP_KEY_PREFIX,
  CLIENT_SECRET_PREFIX,
  PERSONAL_TOKEN_PREFIX,
  AUTHORIZATION_CODE_PREFIX,
  REFRESH_TOKEN_PREFIX,
  ACCESS_TOKEN_PREFIX,
] as const;
