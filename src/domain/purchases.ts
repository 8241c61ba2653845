/**
 * Credits bought with money, and credits taken back when the money is returned. Pure; see design, section 7.
 */
import { assertInvariant } from "./result.ts";

/** A package for sale. `price`: the payment service's id of its price. */
export interface CreditPackage {
  readonly id: string;
  /** The name that people see. */
  readonly name: string;
  readonly credits: number;
  readonly price: string;
  /** The price as people see it; undefined: it is read from the payment service. */
  readonly price_text?: string | undefined;
  /** Days until its credits expire; undefined: never. */
  readonly expires_after_days?: number | undefined;
  /** The only apps that may use its credits; undefined: all apps. */
  readonly app_slugs?: readonly string[] | undefined;
}

/** What an operator wrote, or an amount of money. */
export type PackagePrice = string | { readonly amount_minor: number; readonly currency: string };

/** The prices by the package's id. Without an entry, the price is not known now. */
export type PackagePrices = ReadonlyMap<string, PackagePrice>;

/** A paid checkout or top-up. `paid_minor`: in the smallest unit of its currency, such as cents. */
export interface Purchase {
  /** A top-up has no checkout: the id of its payment. */
  readonly checkout_session_id: string;
  /** The number of the account's top-up that it is; undefined: the holder bought it. */
  readonly top_up?: number | undefined;
  /** The payment, which refunds and disputes name. One checkout has one. */
  readonly payment_intent_id: string;
  readonly package_id: string;
  readonly package_name: string;
  readonly credits: number;
  readonly paid_minor: number;
  readonly currency: string;
  /** The package's terms; undefined: the credits never expire, and all apps may use them. */
  readonly expires_after_days?: number | undefined;
  readonly app_slugs?: readonly string[] | undefined;
}

/**
 * The progress of a refund or dispute, in the only possible order. `inquiry` a bank asks, and the money stays ·
 * `withheld` refunded, or withdrawn while a dispute is open · `lost` the dispute was lost · `reinstated` the
 * dispute was won, or the refund failed.
 */
export const REVERSAL_STATES = ["inquiry", "withheld", "lost", "reinstated"] as const;
export type ReversalState = (typeof REVERSAL_STATES)[number];

/**
 * One refund or dispute. `source_id` is its id at the payment service, `amount_minor` the money that it takes back.
 */
export interface Reversal {
  readonly payment_intent_id: string;
  readonly source_id: string;
  readonly amount_minor: number;
  readonly state: ReversalState;
}

/**
 * Merges two reports of one reversal. Each field only increases, so reports may repeat and arrive in any order.
 */
export function mergeReversals(one: Reversal, other: Reversal): Reversal {
  const rank = ({ state }: Reversal): number => REVERSAL_STATES.indexOf(state);
  return {
    ...one,
    amount_minor: Math.max(one.amount_minor, other.amount_minor),
    state: rank(one) >= rank(other) ? one.state : other.state,
  };
}

/** Whether a report of a reversal says nothing that a known report of it does not say. */
export function isReversalKnown(known: Reversal, reversal: Reversal): boolean {
  const { amount_minor, state } = mergeReversals(known, reversal);
  return amount_minor === known.amount_minor && state === known.state;
}

/** Money that refunds and disputes of one payment returned, in all at most what was paid. */
export function moneyReturned(
  { paid_minor }: Pick<Purchase, "paid_minor">,
  reversals: readonly Reversal[],
): number {
  const back_minor = reversals
    .filter(({ state }) => state === "withheld" || state === "lost")
    .reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n);
  return back_minor >= BigInt(paid_minor) ? paid_minor : Number(back_minor);
}

/** Credits to take back: in proportion to the returned money, rounded up, never more than were bought. */
export function creditsTakenBack(
  purchase: Pick<Purchase, "credits" | "paid_minor">,
  reversals: readonly Reversal[],
): number {
  const { credits, paid_minor } = purchase;
  assertInvariant(Number.isSafeInteger(paid_minor) && paid_minor > 0, "a purchase was paid for");
  const back = BigInt(moneyReturned(purchase, reversals));
  const paid = BigInt(paid_minor);
  // Rounds up: adds the divisor less one before dividing.
  return Number((BigInt(credits) * back + paid - 1n) / paid);
}
