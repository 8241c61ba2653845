/** What an event of the payment service means for an account. */
import type { Purchase, Reversal } from "./purchases.ts";

/** Why an event changes nothing here. */
export type DropReason =
  /** Events of its type do not concern us. */
  | "type_not_handled"
  /** The checkout is not paid yet: another event follows when it is. */
  | "checkout_unpaid"
  /** The charge or dispute belongs to no payment of a checkout. */
  | "no_payment"
  /** The payment was made for another service on the same Stripe account. */
  | "not_ours"
  /** The account was deleted. Money paid for credits is owed back. */
  | "account_deleted";

/**
 * What an event means for an account. Each may come again, and in any order. `is_marked`: the payment
 * bears this deployment's mark. Without it, the account's own purchase is the only proof that it is ours.
 */
export type PaymentNews =
  | { readonly kind: "purchase"; readonly identity_id: string; readonly purchase: Purchase }
  | {
      readonly kind: "reversal";
      readonly identity_id: string;
      readonly reversal: Reversal;
      readonly is_marked: boolean;
    }
  | { readonly kind: "dropped"; readonly reason: DropReason };

/** An event of the payment service: its own id and type, and what it means. */
export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  readonly news: PaymentNews;
}
