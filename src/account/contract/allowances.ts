/** Allowances: requests and results. No token ever reaches the account. */
import type {
  AllowanceChange,
  AllowanceKind,
  AllowanceLimits,
  NewAllowance,
} from "../../domain/allowance.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";

export type IssueAllowanceRequest = NewAllowance;

/** The session or the sign-in method by which allowances were approved. */
export type Approver =
  | { readonly kind: "session"; readonly session_id: string }
  | { readonly kind: "signin_method"; readonly signin_method: string };

export interface RevokeAllowanceRequest {
  readonly id: string;
}

export interface ChangeAllowanceRequest extends AllowanceChange {
  readonly id: string;
  /** Whether the change may give more rights, also to an allowance that outlives the session. */
  readonly may_widen: boolean;
}

/** A cap as its holder sees it, with the credits spent under it in the current period. */
export interface ListedCap extends SpendingCap {
  readonly spent: number;
  /** Credits of `spent` that belong to jobs that the holder approved beyond the cap. */
  readonly approved: number;
  /** When the next period begins; null: the period is `total`. */
  readonly resets_at_ms: number | null;
}

/** An allowance as its holder sees it. */
export interface ListedAllowance {
  readonly id: string;
  readonly kind: AllowanceKind;
  /** The allowance that it was exchanged from; null: the holder approved it. */
  readonly parent_id: string | null;
  /** The OAuth client that holds it, and the host of that client's address; null: none. */
  readonly client_id: string | null;
  readonly client_host: string | null;
  /** The protected resource that it is for; null: this service's API. */
  readonly resource: string | null;
  readonly label: string;
  readonly app_slug: string | null;
  readonly scopes: readonly string[];
  /** Its own limits. Those of its ancestors bind it too. */
  readonly limits: AllowanceLimits;
  readonly caps: readonly ListedCap[];
  /** Whether the request was made with this allowance. */
  readonly current: boolean;
  /** Whether it ends with the session that approved it. */
  readonly ends_with_session: boolean;
  /** The session that approved it. */
  readonly session_id: string;
  /** The sessions in which its client was connected again. Absent: not asked for. */
  readonly renewed_in?: readonly string[];
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number;
  /** Null: it was not revoked. */
  readonly revoked_at_ms: number | null;
}
