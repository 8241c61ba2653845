/**
 * What was paid for the bought credits that are left: what a service owes in money. Pure; docs/operators.md explains it.
 *
 * Bought credits are in places: the base and lots. Each place has what came in there, oldest first. What is used of a place is
 * its oldest credits, so what is left and held is its newest. A refund or lost dispute makes what its purchase brought smaller.
 */

/** Bought credits that came to a place together, of a payment of `paid_minor` for `paid_credits`. */
export interface PaidCredits {
  /** The checkout or top-up; of other credits, any id. */
  readonly id: string;
  /** Below zero, it counts as none: a refund took more than came to this place, because some paid a debt. */
  readonly credits: number;
  /** Null: the price is unknown. */
  readonly currency: string | null;
  readonly paid_minor: number;
  readonly paid_credits: number;
  /**
   * Credits of the base that a refund or dispute of it took, because they were not left in lots: noted in the lot that its
   * credits came to. Left out: none.
   */
  readonly from_base?: FromBase;
}

/** Bought credits include those by which the base fell below zero. */
export interface FromBase {
  readonly given: number;
  readonly bought: number;
}

/** A payment for credits. `paid_minor`: in the smallest unit of the currency. */
export interface Price {
  readonly paid_minor: number;
  readonly currency: string;
}

/**
 * Bought credits with a known price, by currency: credits, and what was paid for them in whole smallest units and in
 * thousand-millionths of one, which may be more than a whole. Sums of worths are sums of these numbers, in any order.
 */
export type Worth = Readonly<Record<string, readonly [number, number, number]>>;

/** A whole smallest unit. */
const NANOS = 1_000_000_000n;

/** Bought credits without a known price. */
export function unpriced(id: string, credits: number): PaidCredits {
  return { id, credits, currency: null, paid_minor: 0, paid_credits: 1 };
}

/** How many of these credits are there. */
export function countOf({ credits }: Pick<PaidCredits, "credits">): number {
  return Math.max(0, credits);
}

/** The newest `credits` of what came to a place, oldest first: fewer, if fewer came. */
export function newestOf(paid: readonly PaidCredits[], credits: number): readonly PaidCredits[] {
  let left = credits;
  return paid
    .toReversed()
    .map(({ id, currency, paid_minor, paid_credits, ...one }) => {
      const taken = Math.min(left, countOf(one));
      left -= taken;
      return { id, credits: taken, currency, paid_minor, paid_credits };
    })
    .filter((one) => one.credits > 0)
    .toReversed();
}

/** What these credits are worth: each payment's part to the nearest thousand-millionth of the smallest unit. */
export function worthOf(paid: readonly PaidCredits[]): Worth {
  return paid.reduce<Worth>((sum, { currency, paid_minor, paid_credits, ...one }) => {
    const credits = countOf(one);
    if (currency === null || credits === 0) return sum;
    const divisor = BigInt(paid_credits);
    const product = BigInt(credits) * BigInt(paid_minor);
    const nanos = ((product % divisor) * NANOS + divisor / 2n) / divisor;
    return plus(sum, { [currency]: [credits, Number(product / divisor), Number(nanos)] });
  }, {});
}

/** In the order of the currencies, without those that have nothing. */
export function plus(one: Worth, other: Worth, sign: 1 | -1 = 1): Worth {
  const sums = Object.keys({ ...one, ...other })
    .toSorted()
    .map((currency) => {
      const [known = [0, 0, 0], added = [0, 0, 0]] = [one[currency], other[currency]];
      const sum = (at: 0 | 1 | 2): number => known[at] + sign * added[at];
      return [currency, [sum(0), sum(1), sum(2)]] as const;
    });
  return Object.fromEntries(sums.filter(([, sum]) => sum.some((number) => number !== 0)));
}

/** The same text for the same worth; null: nothing. */
export function worthJson(worth: Worth): string | null {
  return Object.keys(worth).length === 0 ? null : JSON.stringify(worth);
}

export function readWorth(json: string | null): Worth {
  return JSON.parse(json ?? "{}") as Worth;
}
