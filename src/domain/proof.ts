/** How a caller proves who they are, and what tells the kinds of tokens apart. */

/**
 * What stands behind a caller: a browser session, or a personal access token. A session JWT got with
 * such a token is bound to it: it dies with the token and has its limits.
 */
export type Proof = SessionProof | PersonalTokenProof;

export interface SessionProof {
  readonly kind: "session";
  readonly session_id: string;
  /**
   * The origin that acts by the session (RFC 7519 claim `azp`): the one that a session token was issued to, or
   * the one whose page sent the cookie. The service's own origin stands for its own pages; {@link SHARED_AZP}
   * and {@link UNKNOWN_AZP} equal no origin.
   */
  readonly azp: string;
}

export interface PersonalTokenProof {
  readonly kind: "personal_token";
  readonly personal_token_id: string;
}

/** The `azp` of the session token in the parent domain's cookie, which every host of the domain can read. */
export const SHARED_AZP = "shared";

/** The `azp` of a cookie request from another site that names no origin. */
export const UNKNOWN_AZP = "unknown";

/** Whose proof it is. */
export interface Identified {
  readonly identity_id: string;
  readonly proof: Proof;
}

/**
 * What stands behind an app's server: one of the app's keys. It proves nobody, so the account that it
 * acts in is named beside it.
 */
export interface AppProof {
  readonly kind: "app";
  readonly app_slug: string;
}

/** How every app key begins: a secret of 256 bits in base64url follows. */
export const APP_KEY_PREFIX = "pb_app_";

/** How every personal access token begins; it lets secret scanners find a leaked one. */
export const PERSONAL_TOKEN_PREFIX = "pb_pat_";
