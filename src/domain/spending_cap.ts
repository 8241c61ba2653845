/** Spending caps of allowances: what is spent and what is left in each period. Pure. */
import { DAY_MS, utcDayOf } from "./calendar.ts";
import { CLOCK_SKEW_MS } from "./limits.ts";

/** `day`, `week` (from Monday) and `month` are those of the UTC calendar; `total`: the allowance's whole lifetime. */
export const CAP_PERIODS = ["day", "week", "month", "total"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];

export interface SpendingCap {
  readonly credits: number;
  readonly period: CapPeriod;
}

/** A time, and the number of the account's newest entry then, which also orders what one millisecond has. */
export interface Moment {
  readonly at_ms: number;
  readonly line: number;
}

/** Credits that a job took at once, before the entry after `line`. */
export interface Taking extends Moment {
  readonly credits: number;
}

/** A cap and the credits spent under it: the reserves of started jobs and the cost of ended ones. */
export interface CapSpending extends SpendingCap {
  /** Spent in the period with the number `window`. Spending of an earlier period does not count now. */
  readonly spent: number;
  /** Credits of `spent` that belong to jobs that the holder approved beyond the cap. */
  readonly approved: number;
  readonly window: number;
  /** The newest entry when the cap was set. What was taken earlier does not count, and is not given back to it. */
  readonly since_line: number;
  /** The period in which it last refused a request; undefined: it has refused none. */
  readonly refused_window?: number | undefined;
}

/** A cap under which nothing is spent yet. */
export function newCap(
  { credits, period }: SpendingCap,
  { line }: Pick<Moment, "line">,
): CapSpending {
  return { credits, period, spent: 0, approved: 0, window: 0, since_line: line };
}

/** The caps after their holder changed them. A cap of the same period keeps its spending; a new one counts from now. */
export function changedCaps(
  caps: readonly CapSpending[],
  wanted: readonly SpendingCap[],
  now: Pick<Moment, "line">,
): readonly CapSpending[] {
  return wanted.map((cap) => {
    const existing = caps.find(({ period }) => period === cap.period);
    return existing === undefined
      ? newCap(cap, now)
      : { ...existing, credits: cap.credits, refused_window: undefined };
  });
}

/** The number of the period at a time. A total cap has only one. */
export function windowAt({ period }: Pick<CapSpending, "period">, at_ms: number): number {
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
    case "total":
      return 0;
  }
}

/**
 * The current period. It does not decrease if the clock goes back a little. A period that cannot have begun is one of a
 * clock that was far ahead: what was spent in it counts in no other.
 */
function currentWindow(cap: CapSpending, now_ms: number): number {
  const has_begun = cap.window <= windowAt(cap, now_ms + CLOCK_SKEW_MS);
  return has_begun ? Math.max(cap.window, windowAt(cap, now_ms)) : windowAt(cap, now_ms);
}

/** Credits spent in the current period. */
export function spentNow(cap: CapSpending, now_ms: number): number {
  return currentWindow(cap, now_ms) === cap.window ? cap.spent : 0;
}

/** Credits of {@link spentNow} that the holder approved beyond the cap. */
export function approvedNow(cap: CapSpending, now_ms: number): number {
  return currentWindow(cap, now_ms) === cap.window ? cap.approved : 0;
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

/** The cap after a job took credits: they count in the current period. `is_approved`: the holder approved the job. */
export function afterTaking(
  cap: CapSpending,
  credits: number,
  now_ms: number,
  is_approved = false,
): CapSpending {
  const spent = spentNow(cap, now_ms) + credits;
  const approved = approvedNow(cap, now_ms) + (is_approved ? credits : 0);
  return { ...cap, spent, approved, window: currentWindow(cap, now_ms) };
}

/**
 * The cap after a job gave back what it had taken. Only what was taken under this cap and in the current period makes room
 * again: otherwise what comes back to an old period would let the new one exceed its cap.
 */
export function afterReturn(
  cap: CapSpending,
  returned: readonly Taking[],
  now_ms: number,
  is_approved = false,
): CapSpending {
  const window = currentWindow(cap, now_ms);
  const credits = returned
    .filter(({ at_ms, line }) => line >= cap.since_line && windowAt(cap, at_ms) === window)
    .reduce((sum, taking) => sum + taking.credits, 0);
  const approved = approvedNow(cap, now_ms) - (is_approved ? credits : 0);
  return {
    ...cap,
    spent: Math.max(0, spentNow(cap, now_ms) - credits),
    approved: Math.max(0, approved),
    window,
  };
}

/** The cap after it refused a request; null: it has refused one in this period before. */
export function afterRefusal(cap: CapSpending, now_ms: number): CapSpending | null {
  const refused_window = currentWindow(cap, now_ms);
  return cap.refused_window === refused_window ? null : { ...cap, refused_window };
}

/** The credits that a job has taken, after one more taking. Two that all of the caps count alike become one. */
export function withTaking(
  takings: readonly Taking[],
  taking: Taking,
  caps: readonly CapSpending[],
): readonly Taking[] {
  const newest = takings.at(-1);
  const isAlike = (cap: CapSpending, one: Taking): boolean =>
    windowAt(cap, one.at_ms) === windowAt(cap, taking.at_ms) &&
    one.line >= cap.since_line === taking.line >= cap.since_line;
  if (newest === undefined || !caps.every((cap) => isAlike(cap, newest))) {
    return [...takings, taking];
  }
  return [...takings.slice(0, -1), { ...newest, credits: newest.credits + taking.credits }];
}

/** Splits what a job has taken: what it still has after it gave `credits` back, newest first, and what it gave back. */
export function withoutReturned(
  takings: readonly Taking[],
  credits: number,
): { readonly left: readonly Taking[]; readonly returned: readonly Taking[] } {
  const left: Taking[] = [];
  const returned: Taking[] = [];
  let wanted = credits;
  for (const taking of takings.toReversed()) {
    const given = Math.min(wanted, taking.credits);
    if (given > 0) returned.push({ ...taking, credits: given });
    if (given < taking.credits) left.unshift({ ...taking, credits: taking.credits - given });
    wanted -= given;
  }
  return { left, returned };
}
