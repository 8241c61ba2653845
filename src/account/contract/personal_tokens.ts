/** Personal access tokens: requests and results. The token itself never reaches the account. */
import type { NewPersonalToken, PersonalTokenLimits } from "../../domain/personal_token.ts";

export type IssuePersonalTokenRequest = NewPersonalToken;

/** The session or the sign-in method by which personal access tokens were approved. */
export type Approver =
  | { readonly kind: "session"; readonly session_id: string }
  | { readonly kind: "signin_method"; readonly signin_method: string };

export interface RevokePersonalTokenRequest {
  readonly id: string;
}

/** A personal access token as its holder sees it. */
export interface ListedPersonalToken {
  readonly id: string;
  readonly label: string;
  readonly app_slug: string | null;
  readonly limits: PersonalTokenLimits;
  /** Credits spent of its cap in the current period; null without a cap. */
  readonly spent: number | null;
  /** Whether the request was made with this token. */
  readonly current: boolean;
  /** Whether it ends with the session that approved it. */
  readonly ends_with_session: boolean;
  /** The session that approved it. */
  readonly session_id: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number;
  /** When it was revoked or ended otherwise; null or absent: it was not. */
  readonly ended_at_ms?: number | null;
}
