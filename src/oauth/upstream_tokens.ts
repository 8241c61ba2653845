/** Tokens that a provider gave for a user. Times in ms since the epoch. */

/** What a token endpoint answers. */
export interface GrantedTokens {
  readonly access_token: string;
  /** Null where the provider gave none. */
  readonly refresh_token: string | null;
  /** When the access token runs out; null where the provider did not say. */
  readonly expires_at_ms: number | null;
  readonly scope: string | null;
}

/** The same as it goes into the vault: with who it is about, by which provider's word. */
export interface UpstreamTokens extends GrantedTokens {
  readonly provider: string;
  readonly subject: string;
  /** Whose word it was, and towards which client: the only ones a refresh token may be shown to. */
  readonly issuer: string;
  readonly client_id: string;
  /** When the identity was linked that they came through. */
  readonly linked_at_ms: number;
}

/**
 * Told that a person no longer signs in with a provider, through an identity that was linked then:
 * nothing that it brought stays, and what it still brings is dropped.
 */
export type ForgetUpstreamTokens = (
  identity_id: string,
  provider: string,
  linked_at_ms: number,
) => Promise<void>;

/** Takes the tokens that come with a sign-in, unless that identity was unlinked meanwhile. */
export type KeepUpstreamTokens = (identity_id: string, tokens: UpstreamTokens) => Promise<void>;
