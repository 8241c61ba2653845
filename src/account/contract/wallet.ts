/** The wallet, the account's apps, and purchases. */
import type { AppRow } from "../sql/schema.ts";

export interface WalletRequest {
  /**
   * The app to add to the account; null: none. `starter_credits`: the worth of its grant now; null if that is unknown,
   * so that no grant is made now and one may be made later. `reservation`: left out if no daily budget bounds the
   * app's grants; null if one does and nothing is reserved yet.
   */
  readonly app: {
    readonly slug: string;
    readonly starter_credits: number | null;
    readonly reservation?: GrantReservation | null;
  } | null;
}

/** Credits of an app's daily starter budget that are reserved for this account's grant. */
export interface GrantReservation {
  /** Days since the epoch, UTC. The grant is made on that day or not at all. */
  readonly day: number;
  readonly credits: number;
}

export interface Wallet {
  readonly account: {
    readonly id: string;
    readonly identity_id: string;
    readonly plan: string;
    readonly credits: number;
  };
  readonly apps: readonly AppRow[];
  readonly app_grant: {
    readonly slug: string;
    readonly starter_credits: number;
    readonly granted: boolean;
  } | null;
  /** Whether only a {@link GrantReservation} of today was missing for a grant. */
  readonly grant_waits: boolean;
  /** Whether apps may grant starter credits here: not if the holder deleted an account before. */
  readonly takes_starters: boolean;
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
