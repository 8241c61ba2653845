/** Events and objects of the payment service, and what they mean for an account. */
import type { Purchase, Reversal } from "./purchases.ts";
import type { FailedCharge, SavedCard } from "./top_up.ts";

/** Why an event changes nothing. */
export type DropReason =
  /** Passbook does not use events of this type. */
  | "type_not_handled"
  /** The checkout is not paid yet. Another event follows when it is. */
  | "checkout_unpaid"
  /** The charge has no refund. */
  | "not_refunded"
  /** The refund or dispute belongs to no payment of a checkout. */
  | "no_payment"
  /** The payment was made for another service on the same Stripe account. */
  | "not_ours"
  /** The account was deleted. The buyer must get the money back. */
  | "account_deleted";

/**
 * The meaning of the payment service's object for an account. Reports may repeat and arrive in any order.
 * `is_marked`: the payment has this deployment's mark. Without the mark, only a purchase in the account proves that
 * the payment is ours. `unmatched`: our checkout was paid, but no package for sale matches it; `identity_id` is null
 * if the checkout does not name its buyer.
 */
export type PaymentEffect =
  | { readonly kind: "purchase"; readonly identity_id: string; readonly purchase: Purchase }
  | {
      readonly kind: "reversal";
      readonly identity_id: string;
      readonly reversal: Reversal;
      readonly is_marked: boolean;
    }
  | {
      readonly kind: "unmatched";
      readonly identity_id: string | null;
      readonly checkout_session_id: string;
    }
  /** The holder saved a card for automatic top-up. */
  | {
      readonly kind: "card_saved";
      readonly identity_id: string;
      readonly nonce: string;
      readonly card: SavedCard;
    }
  /** The charge of an automatic top-up failed. */
  | { readonly kind: "top_up_failed"; readonly identity_id: string; readonly failed: FailedCharge }
  | { readonly kind: "dropped"; readonly reason: DropReason };

/** An event of the payment service: its id and type at the service, and its meaning. A charge may have several refunds. */
export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  readonly news: readonly PaymentEffect[];
}

/** Whether an account has a payment's present state. */
export type PaymentRecord = "recorded" | "missing" | "account_deleted";
