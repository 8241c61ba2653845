/** What an app lets happen to its jobs: who settles them, and what becomes of one nobody settled. Pure. */

/** `holder`: whoever acts for the account, and the app's key. `app`: the app's key alone. */
export const SETTLERS = ["holder", "app"] as const;
export type Settler = (typeof SETTLERS)[number];

/** What happens to the reserve of a job whose time runs out: it comes back, or stays as its cost. */
export const EXPIRY_OUTCOMES = ["refund", "charge"] as const;
export type ExpiryOutcome = (typeof EXPIRY_OUTCOMES)[number];

/** A job keeps the policy it was created under, whatever its app's is later. */
export interface JobPolicy {
  readonly settle: Settler;
  readonly on_expiry: ExpiryOutcome;
}

/** The policy of an app that says nothing, and of slugs nobody registered. */
export const FIRST_POLICY: JobPolicy = { settle: "holder", on_expiry: "refund" };
