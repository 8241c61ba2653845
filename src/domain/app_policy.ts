/** Apps: their slugs, and the policy of their jobs. Pure. */

/** An app slug starts with a letter or digit, is lower case, and has at most 64 characters. */
export const APP_SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/**
 * The callers that may settle the app's jobs. `holder`: every caller who acts for the account, and the app's key. `app`:
 * only the app's key.
 */
export const SETTLERS = ["holder", "app"] as const;
type Settler = (typeof SETTLERS)[number];

/** The fate of an expired job's reserve: returned, or kept as the job's cost. */
export const EXPIRY_OUTCOMES = ["refund", "charge"] as const;
export type ExpiryOutcome = (typeof EXPIRY_OUTCOMES)[number];

/**
 * The largest `max_overage_percent`. Up to it the limit of every estimate is exact, because COST_MAX_CREDITS
 * times 1,100 is below 2^53. An app with less precise estimates sets no limit.
 */
export const OVERAGE_MAX_PERCENT = 1_000;

/**
 * The rights of an app's server in an account, by the app's key. `none`: only settle the app's own jobs. `open`:
 * also read the wallet, and create and read the app's jobs. `stopped`: the holder stopped the app, until they allow it
 * again; see `app_stop.ts`.
 */
export const APP_ACCESS = ["none", "open", "stopped"] as const;

/** A job keeps the policy under which it was created, even if the app's policy changes. */
export interface JobPolicy {
  readonly settle: Settler;
  readonly on_expiry: ExpiryOutcome;
  /** The most by which the cost may exceed the estimate, in percent of the estimate; null: no limit. */
  readonly max_overage_percent: number | null;
}

/**
 * The most that a job with this estimate may cost, in credits; null: no limit. For an estimate of 0 the limit
 * is 0.
 */
export function costLimit(estimate: number, max_overage_percent: number | null): number | null {
  if (max_overage_percent === null) return null;
  return Math.floor((estimate * (100 + max_overage_percent)) / 100);
}

/** The policy of an unregistered app, and of a registered one without settings. */
export const DEFAULT_POLICY: JobPolicy = {
  settle: "holder",
  on_expiry: "refund",
  max_overage_percent: null,
};
