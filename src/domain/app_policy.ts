/** Apps: their slugs, and the policy of their jobs. Pure. */

/** An app slug starts with a letter or digit, is lower case, and has at most 64 characters. */
export const APP_SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** `holder`: whoever acts for the account, and the app's key. `app`: the app's key alone. */
export const SETTLERS = ["holder", "app"] as const;
export type Settler = (typeof SETTLERS)[number];

/** What happens to the reserve of a job whose time runs out: it comes back, or stays as its cost. */
export const EXPIRY_OUTCOMES = ["refund", "charge"] as const;
export type ExpiryOutcome = (typeof EXPIRY_OUTCOMES)[number];

/**
 * The largest `max_overage_percent`. Up to it the limit of any estimate is exact: COST_MAX_CREDITS times
 * 1,100 is below 2^53. An app whose estimates are further off sets no limit.
 */
export const OVERAGE_MAX_PERCENT = 1_000;

/**
 * What an app's server may do in an account by the app's key. `none`: only end the app's own jobs; `open`: also read
 * the wallet, and create and read the app's jobs; `disconnected`: as `none`, until the holder connects the app again.
 */
export const APP_ACCESS = ["none", "open", "disconnected"] as const;
export type AppAccess = (typeof APP_ACCESS)[number];

/** A job keeps the policy it was created under, whatever its app's is later. */
export interface JobPolicy {
  readonly settle: Settler;
  readonly on_expiry: ExpiryOutcome;
  /** How far the cost may exceed the estimate, in percent of it; null: no limit. */
  readonly max_overage_percent: number | null;
}

/** The most that a job of this estimate may cost, in credits; null: no limit. Of an estimate of 0 it is 0. */
export function costLimit(estimate: number, max_overage_percent: number | null): number | null {
  if (max_overage_percent === null) return null;
  return Math.floor((estimate * (100 + max_overage_percent)) / 100);
}

/** The policy of an app that says nothing, and of slugs nobody registered. */
export const FIRST_POLICY: JobPolicy = {
  settle: "holder",
  on_expiry: "refund",
  max_overage_percent: null,
};
