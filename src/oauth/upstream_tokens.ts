/** Tokens that a provider issued for a person. Times in milliseconds since the epoch. */

/** Tokens in a response of a token endpoint. */
export interface GrantedTokens {
  readonly access_token: string;
  /** Null: the provider issued none. */
  readonly refresh_token: string | null;
  /** When the access token expires; null: the provider did not say. */
  readonly expires_at_ms: number | null;
  readonly scope: string | null;
}

/** The same tokens for the vault, with their subject and provider. */
export interface UpstreamTokens extends GrantedTokens {
  readonly provider: string;
  readonly subject: string;
  /**
   * The issuer of the tokens, and the client that they were issued to. A refresh token may be sent only by this
   * client to this issuer.
   */
  readonly issuer: string;
  readonly client_id: string;
  /** When the identity was linked that they were received through. */
  readonly linked_at_ms: number;
}

/**
 * Deletes the tokens of a provider that a person unlinked. `linked_at_ms` says when the unlinked identity was
 * linked, so that tokens which a sign-in in progress still brings are refused.
 */
export type DeleteUpstreamTokens = (
  identity_id: string,
  provider: string,
  linked_at_ms: number,
) => Promise<void>;

/** Stores the tokens of a sign-in, unless its identity was unlinked meanwhile. */
export type StoreUpstreamTokens = (identity_id: string, tokens: UpstreamTokens) => Promise<void>;
