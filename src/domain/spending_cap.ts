/** Spending caps of personal access tokens: what is spent and what is left in each period. Pure. */

/** The period of a spending cap "per 30 days", counted from the token's creation. */
export const CAP_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;

/** `total`: over the token's whole lifetime. `30_days`: again in each 30 days since its creation. */
export const CAP_PERIODS = ["total", "30_days"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

export interface SpendingCap {
  readonly credits: number;
  readonly period: CapPeriod;
}

/** A cap and the credits spent under it: the reserves of started jobs and the cost of ended ones. */
export interface CapSpending {
  readonly cap: SpendingCap;
  readonly created_at_ms: number;
  /** Spent in the period with number `spent_window`. Spending of an earlier period does not count now. */
  readonly spent: number;
  readonly spent_window: number;
}

/** The number of the period at a time, from 0. A total cap has only one. */
export function windowAt(budget: CapSpending, at_ms: number): number {
  if (budget.cap.period === "total") return 0;
  return Math.floor((at_ms - budget.created_at_ms) / CAP_PERIOD_MS);
}

/** The current period. It never decreases, even if the clock goes back. */
function currentWindow(budget: CapSpending, now_ms: number): number {
  return Math.max(budget.spent_window, windowAt(budget, now_ms));
}

/** Credits spent in the current period. */
export function spentNow(budget: CapSpending, now_ms: number): number {
  return currentWindow(budget, now_ms) === budget.spent_window ? budget.spent : 0;
}

/** Credits that the token may still spend now. */
export function roomNow(budget: CapSpending, now_ms: number): number {
  return Math.max(0, budget.cap.credits - spentNow(budget, now_ms));
}

/** When the next period begins; null: a total cap has no next one. */
export function resetsAt(budget: CapSpending, now_ms: number): number | null {
  if (budget.cap.period === "total") return null;
  const next = currentWindow(budget, now_ms) + 1;
  return budget.created_at_ms + next * CAP_PERIOD_MS;
}

/**
 * The spending after a job of the token changed it by `credits` (positive: spent; negative: returned). Spent
 * credits count in the current period. Returned credits count only if they were reserved in the current period:
 * otherwise a refund of an old period would let the new one exceed its cap.
 */
export function charge(
  budget: CapSpending,
  credits: number,
  reserved_at_ms: number,
  now_ms: number,
): Pick<CapSpending, "spent" | "spent_window"> {
  const spent_window = currentWindow(budget, now_ms);
  const spent = spentNow(budget, now_ms);
  const lost = credits < 0 && windowAt(budget, reserved_at_ms) !== spent_window;
  return { spent: lost ? spent : spent + credits, spent_window };
}
