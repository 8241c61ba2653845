/** How a caller proves who they are, and what tells the kinds of tokens apart. */

/**
 * What stands behind a caller: a browser session, or a personal access token. A session JWT got with
 * such a token is bound to it: it dies with the token and has its limits.
 */
export type Proof =
  | { readonly kind: "session"; readonly session_id: string }
  | { readonly kind: "pat"; readonly token_id: string };

/** Whose proof it is. */
export interface Identified {
  readonly identity_id: string;
  readonly proof: Proof;
}

/** How every personal access token begins; it lets secret scanners find a leaked one. */
export const PERSONAL_TOKEN_PREFIX = "pb_pat_";
