/** Credits bought with money, and what goes back with the money. Pure; see design, section 7. */
import { assertInvariant } from "./result.ts";

/** What may be bought. `price`: the payment service's id of what it costs, which stays there. */
export interface CreditPackage {
  readonly id: string;
  /** What people know it by. */
  readonly name: string;
  readonly credits: number;
  readonly price: string;
}

/** A checkout that was paid. `paid_minor`: in the smallest unit of its currency, such as cents. */
export interface Purchase {
  readonly checkout_session_id: string;
  /** The payment that refunds and disputes name; one checkout has one. */
  readonly payment_intent_id: string;
  readonly package_id: string;
  readonly package_name: string;
  readonly credits: number;
  readonly paid_minor: number;
  readonly currency: string;
}

/**
 * How far a taking back has come, in the only order in which it goes on. `inquiry` a bank asks, and the
 * money stays · `withheld` refunded, or withdrawn while a dispute is open · `lost` a dispute ended so ·
 * `reinstated` a dispute was won.
 */
export const REVERSAL_STATES = ["inquiry", "withheld", "lost", "reinstated"] as const;
export type ReversalState = (typeof REVERSAL_STATES)[number];

/**
 * What is known of one charge's refunds, or of one dispute: `source_id` is the charge's or the
 * dispute's id, `amount_minor` all that has gone back by it so far.
 */
export interface Reversal {
  readonly payment_intent_id: string;
  readonly source_id: string;
  readonly amount_minor: number;
  readonly state: ReversalState;
}

/**
 * Two tellings of one reversal as one. Each part only ever goes on, so that tellings may be repeated and
 * come in any order.
 */
export function mergeReversals(one: Reversal, other: Reversal): Reversal {
  const rank = ({ state }: Reversal): number => REVERSAL_STATES.indexOf(state);
  return {
    ...one,
    amount_minor: Math.max(one.amount_minor, other.amount_minor),
    state: rank(one) >= rank(other) ? one.state : other.state,
  };
}

/**
 * Credits that go back with the money: in proportion to it, rounded up, never more than were bought.
 * A refund and a dispute of one payment add up.
 */
export function creditsTakenBack(
  { credits, paid_minor }: Pick<Purchase, "credits" | "paid_minor">,
  reversals: readonly Reversal[],
): number {
  assertInvariant(Number.isSafeInteger(paid_minor) && paid_minor > 0, "a purchase was paid for");
  const back_minor = reversals
    .filter(({ state }) => state === "withheld" || state === "lost")
    .reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n);
  const paid = BigInt(paid_minor);
  if (back_minor >= paid) return credits;
  // Rounded up: adding all but one of the divisor before dividing.
  return Number((BigInt(credits) * back_minor + paid - 1n) / paid);
}
