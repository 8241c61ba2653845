/** How a caller proves who they are, and what tells the kinds of tokens apart. */

/**
 * What stands behind a caller: a browser session, or a personal access token. A session JWT got with
 * such a token is bound to it: it dies with the token and has its limits.
 */
export type Proof =
  | { readonly kind: "session"; readonly session_id: string }
  | { readonly kind: "personal_token"; readonly personal_token_id: string };

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
