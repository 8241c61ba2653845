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
}

/** Takes the tokens that come with a sign-in. */
export type KeepUpstreamTokens = (identity_id: string, tokens: UpstreamTokens) => Promise<void>;
