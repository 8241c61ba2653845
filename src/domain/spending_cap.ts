/** Spending caps of allowances: what is spent and what is left in each period. Pure. */
import { DAY_MS, utcDayOf } from "./calendar.ts";

/** The length of the period `30_days`. */
const CAP_PERIOD_MS = 30 * DAY_MS;

/**
 * `day`, `week` (from Monday) and `month` are those of the UTC calendar. `30_days`: again in each 30 days since the cap
 * was set. `total`: over the allowance's whole lifetime.
 */
export const CAP_PERIODS = ["day", "week", "month", "30_days", "total"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

export interface SpendingCap {
  readonly credits: number;
  readonly period: CapPeriod;
}

/** A cap and the credits spent under it: the reserves of started jobs and the cost of ended ones. */
export interface CapSpending extends SpendingCap {
  /** Spent in the period with the number `window`. Spending of an earlier period does not count now. */
  readonly spent: number;
  readonly window: number;
  /** When the cap was set. Jobs that were created earlier give nothing back to it. */
  readonly since_ms: number;
}

/** A cap under which nothing is spent yet. */
export function newCap({ credits, period }: SpendingCap, now_ms: number): CapSpending {
  return { credits, period, spent: 0, window: 0, since_ms: now_ms };
}

/** The caps after their holder changed them. A cap of the same period keeps its spending; a new one counts from now. */
export function changedCaps(
  caps: readonly CapSpending[],
  wanted: readonly SpendingCap[],
  now_ms: number,
): readonly CapSpending[] {
  return wanted.map((cap) => {
    const existing = caps.find(({ period }) => period === cap.period);
    return existing === undefined ? newCap(cap, now_ms) : { ...existing, credits: cap.credits };
  });
}

/** The number of the period at a time. A total cap has only one. */
export function windowAt({ period, since_ms }: CapSpending, at_ms: number): number {
  switch (period) {
    case "day":
      return utcDayOf(at_ms);
    case "week":
      // The epoch was a Thursday, so the first Monday before it is three days earlier.
      return Math.floor((utcDayOf(at_ms) + 3) / 7);
    case "month": {
      const at = new Date(at_ms);
      return at.getUTCFullYear() * 12 + at.getUTCMonth();
    }
    case "30_days":
      return Math.floor((at_ms - since_ms) / CAP_PERIOD_MS);
    case "total":
      return 0;
  }
}

/** The current period. It never decreases, even if the clock goes back. */
function currentWindow(cap: CapSpending, now_ms: number): number {
  return Math.max(cap.window, windowAt(cap, now_ms));
}

/** Credits spent in the current period. */
export function spentNow(cap: CapSpending, now_ms: number): number {
  return currentWindow(cap, now_ms) === cap.window ? cap.spent : 0;
}

/** Credits that may still be spent now. */
export function roomNow(cap: CapSpending, now_ms: number): number {
  return Math.max(0, cap.credits - spentNow(cap, now_ms));
}

/** When the next period begins, in milliseconds since the epoch; null: a total cap has no next one. */
export function resetsAt(cap: CapSpending, now_ms: number): number | null {
  const next = currentWindow(cap, now_ms) + 1;
  switch (cap.period) {
    case "day":
      return next * DAY_MS;
    case "week":
      return (next * 7 - 3) * DAY_MS;
    case "month":
      return Date.UTC(Math.floor(next / 12), next % 12);
    case "30_days":
      return cap.since_ms + next * CAP_PERIOD_MS;
    case "total":
      return null;
  }
}

/** The cap with the least room, which decides whether credits may be spent; null: there is no cap. */
export function tightestCap(caps: readonly CapSpending[], now_ms: number): CapSpending | null {
  return caps.reduce<CapSpending | null>(
    (tightest, cap) =>
      tightest === null || roomNow(cap, now_ms) < roomNow(tightest, now_ms) ? cap : tightest,
    null,
  );
}

/**
 * The cap after a job changed its spending by `credits` (positive: spent; negative: returned). Spent credits count in the
 * current period. Returned credits count only if they were reserved under this cap and in the current period: otherwise
 * a refund of an old period would let the new one exceed its cap.
 */
export function charge(
  cap: CapSpending,
  credits: number,
  reserved_at_ms: number,
  now_ms: number,
): CapSpending {
  const window = currentWindow(cap, now_ms);
  const spent = spentNow(cap, now_ms);
  const is_earlier = reserved_at_ms < cap.since_ms || windowAt(cap, reserved_at_ms) !== window;
  const is_lost = credits < 0 && is_earlier;
  return { ...cap, spent: is_lost ? spent : spent + credits, window };
}
