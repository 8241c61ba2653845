/** Purchases as their buyer sees them. */

export interface ListedPurchase {
  /** Null until the purchase is credited. */
  readonly purchase: { readonly package_name: string; readonly credits: number } | null;
  readonly taken_back: number;
  /** The balance now, and the number of the newest entry. */
  readonly credits: number;
  readonly line: number;
}
