/** Tokens a provider gave for a user, as they go into the vault. Times in ms since the epoch. */
export interface UpstreamTokens {
  readonly provider: string;
  readonly subject: string;
  readonly access_token: string;
  readonly refresh_token: string | null;
  readonly expires_at_ms: number | null;
  readonly scope: string | null;
}
export type KeepUpstreamTokens = (identity_id: string, tokens: UpstreamTokens) => Promise<void>;
