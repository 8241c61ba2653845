/** The wallet, the account's apps, and purchases. */
import type { StartedJobs } from "../../domain/app_stop.ts";
import type { PersonalRights } from "../../domain/allowance.ts";
import type { Lot } from "../../domain/lots.ts";
import type { StarterTerms } from "../../domain/starter_rule.ts";
import type { ChargeFailure, TopUpOutcome, TopUpPlan, TopUpState } from "../../domain/top_up.ts";
import type { Purchase, Reversal } from "../../domain/purchases.ts";
import type { AppRow } from "../sql/schema.ts";
import type { ListedAllowance } from "./allowances.ts";

export interface WalletRequest {
  /**
   * The app to add to the account; null: none. `starter_credits`: the worth of its grant now; null if that is unknown,
   * so that no grant is made now and one may be made later. `reservation`: left out if no daily budget bounds the
   * app's grants; null if one does and nothing is reserved yet.
   */
  readonly app: {
    readonly slug: string;
    readonly starter_credits: number | null;
    /** Whether the app is registered; left out: it is not. */
    readonly is_registered?: boolean;
    readonly reservation?: GrantReservation | null;
    /** The terms of the grant; left out: it never expires, and all apps may use it. */
    readonly starter?: StarterTerms;
  } | null;
}

/** Credits of an app's daily starter budget that are reserved for this account's grant. */
interface GrantReservation {
  /** Days since the epoch, UTC. The grant is made on that day or not at all. */
  readonly day: number;
  readonly credits: number;
}

export interface Profile {
  readonly plan: string;
  /** The caller's rights to data about the person. */
  readonly sees: PersonalRights;
}

export interface Wallet {
  readonly account: {
    readonly id: string;
    readonly identity_id: string;
    readonly plan: string;
    readonly credits: number;
  };
  /** Credits that started jobs hold, not included in the credits of the account. */
  readonly held: number;
  /** The bought part of the account's credits. */
  readonly bought: number;
  /** The lots that the caller may see, in the order of use; without notes for an app. */
  readonly lots: readonly Lot[];
  /** The credits that the named app can reserve, before the caller's caps; null: no app is named. */
  readonly spendable: number | null;
  readonly apps: readonly AppRow[];
  readonly app_grant: {
    readonly slug: string;
    readonly starter_credits: number;
    readonly granted: boolean;
  } | null;
  /** The credits that the caller's caps still allow; null: it has no cap. */
  readonly room: number | null;
  /** Whether only a {@link GrantReservation} of today was missing for a grant. */
  readonly grant_waits: boolean;
  /** Whether apps may grant starter credits here: not if the holder deleted an account before. */
  readonly takes_starters: boolean;
  /** Automatic top-up; null: it was never set. Left out: the caller may not see it. */
  readonly topup?: TopUpView | null;
  /** The number of the newest entry. */
  readonly line: number;
}

/** Automatic top-up as the holder sees it. */
export interface TopUpView {
  readonly on: boolean;
  readonly plan: TopUpPlan;
  /** How people recognise the card. */
  readonly card: string;
  /** The charges of this calendar month (UTC), with those that are pending. */
  readonly month_spent_minor: number;
  readonly state: TopUpState;
  /** When the next charge may follow after one that failed; null: none failed since the last that succeeded. */
  readonly retry_at_ms: number | null;
}

/** One top-up that was due. */
export interface TopUpRecord {
  readonly number: number;
  /** The failed charges in a row before it, plus 1. */
  readonly attempt: number;
  readonly outcome: TopUpOutcome;
  readonly failure: ChargeFailure | null;
  readonly package_name: string;
  /** Credits of all packages. */
  readonly credits: number;
  readonly amount_minor: number;
  readonly currency: string;
  readonly payment_intent_id: string | null;
  readonly created_at_ms: number;
}

/** Automatic top-up with its newest top-ups. */
export interface TopUp {
  readonly setting: TopUpView | null;
  readonly top_ups: readonly TopUpRecord[];
  /** The balance. */
  readonly credits: number;
}

/** The holder stops an app: see `app_stop.ts`. */
export interface StopAppRequest {
  readonly slug: string;
  readonly started_jobs: StartedJobs;
  /** The addresses of the resources that the app owns now. Absent: not known. */
  readonly resources?: readonly string[];
}

/** A paid checkout, with its refunds and disputes. */
export interface PurchaseRecord extends Purchase {
  /** Credits taken back so far. */
  readonly taken_back: number;
  /** Money returned so far. */
  readonly refunded_minor: number;
  readonly created_at_ms: number;
  readonly reversals: readonly Reversal[];
}

/** The position of a purchase in lists, which are newest first. */
export type PurchaseKey = Pick<PurchaseRecord, "created_at_ms" | "checkout_session_id">;

export interface ListPurchasesRequest {
  /** Only purchases after this one in the list. */
  readonly before?: PurchaseKey | undefined;
  readonly limit: number;
}

/** The data that an account holds about its holder, other than lists that have their own operation. */
export interface Holdings {
  readonly account: Wallet["account"] & {
    readonly created_at_ms: number;
    /** Null: the account is not suspended. */
    readonly suspended_at_ms: number | null;
    /** Why, as its holder reads it; null: the operator gave no reason. */
    readonly suspended_public_reason: string | null;
  };
  readonly apps: readonly AppRow[];
  readonly lots: readonly Lot[];
  readonly topup: TopUpView | null;
  readonly top_ups: readonly TopUpRecord[];
  /** Without the tokens, which are secrets. Times are in milliseconds since the epoch. */
  readonly upstream_tokens: readonly {
    readonly provider: string;
    readonly subject: string;
    readonly scope: string | null;
    readonly expires_at_ms: number | null;
    readonly updated_at_ms: number;
  }[];
  /** Also tokens that have ended, as far as they are stored; newest first, at most 1,000. */
  readonly allowances: readonly ListedAllowance[];
  /** The authorizations of OAuth clients that have not ended; at most 1,000. */
  readonly authorizations: readonly {
    readonly allowance_id: string;
    readonly scopes: string;
    readonly redirect_uri: string;
    readonly auth_time_ms: number;
    readonly rotated_at_ms: number;
  }[];
}

/** A purchase as its buyer sees it. */
export interface ListedPurchase {
  /** Null until the purchase is credited. */
  readonly purchase: { readonly package_name: string; readonly credits: number } | null;
  readonly taken_back: number;
  /** The balance now, and the number of the newest entry. */
  readonly credits: number;
  readonly line: number;
}
