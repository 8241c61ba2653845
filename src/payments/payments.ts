/** The port to the payment service. */
import type { PaymentEvent } from "../domain/payment_event.ts";
import type { ListPosition, PaymentPage } from "../domain/payment_list.ts";
import type { CreditPackage, PackagePrices } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";
import type { CardCharges, SavedCard, ToppedUpPackage } from "../domain/top_up.ts";

/** A card that was saved for an account. `nonce`: what the account knows its checkout by. */
export interface CardSetup {
  readonly identity_id: string;
  readonly nonce: string;
  readonly card: SavedCard;
}

export interface CheckoutRequest {
  readonly identity_id: string;
  readonly package_id: string;
  /** The address that the buyer returns to, with `checkout=success` or `checkout=cancelled` in its query. */
  readonly return_to: string;
  /** The caller's idempotency key; null: each call is a new checkout. */
  readonly idempotency_key: string | null;
}

export interface Payments {
  readonly packages: readonly CreditPackage[];
  /** The page of a payment at the payment service, for operators. */
  readonly paymentUrl: (payment_intent_id: string) => string;
  /**
   * The prices by the package's id, as far as they are known. Usually without a request; never rejects, and
   * never waits long. `keepAlive`: keeps a read running after the response.
   */
  readPrices(keepAlive: (work: Promise<unknown>) => void): Promise<PackagePrices>;
  /**
   * The address of a payment's receipt at the payment service; null if the payment has no receipt.
   * @returns `payments_unavailable` or `payments_refused`.
   */
  readReceipt(payment_intent_id: string): Promise<Result<string | null, Refusal>>;
  /**
   * The identity of the buyer of a payment or checkout, by its id; null: it belongs to another service.
   * @returns `payments_unavailable`, or `payments_refused` if the payment service does not know the id.
   */
  findBuyer(id: string): Promise<Result<string | null, Refusal>>;
  /**
   * Opens a checkout. Changes nothing in Passbook.
   * @returns the address that the buyer must go to; `package_unknown`, `idempotency_key_reused`,
   * `payments_unavailable` or `payments_refused`.
   */
  startCheckout(request: CheckoutRequest): Promise<Result<string, Refusal>>;
  /**
   * A package with its price now, for automatic top-up.
   * @returns `package_unknown` (also if it has no fixed price), `payments_unavailable` or `payments_refused`.
   */
  readTopUpPackage(package_id: string): Promise<Result<ToppedUpPackage, Refusal>>;
  /**
   * Opens a checkout that saves a card. `nonce`: what the account knows it by. `page`: the address to return to, or
   * `/saved` below it.
   * @returns the address that the person must go to; `payments_unavailable` or `payments_refused`.
   */
  startCardSetup(setup: {
    readonly identity_id: string;
    readonly nonce: string;
    readonly page: string;
  }): Promise<Result<string, Refusal>>;
  /**
   * The card that a checkout saved; null: the checkout is not ours, or is not finished.
   * @returns `payments_unavailable`, or `payments_refused` if the payment service does not know the id.
   */
  readCardSetup(session_id: string): Promise<Result<CardSetup | null, Refusal>>;
  /** For accounts. */
  readonly card_charges: CardCharges;
  /**
   * Checks that a webhook message is genuine and recent, and reads its object from the payment service.
   * @returns `signature_invalid` if the message is not genuine; another refusal if it must be sent again.
   */
  readWebhook(
    body: string,
    signature: string | undefined,
    now_ms: number,
  ): Promise<Result<PaymentEvent, Refusal>>;
  /**
   * Reads one page of the recent checkouts, refunds or disputes, newest first, of all services on the payment
   * service's account. `before_ms`: only those created before; null: all.
   * @returns `payments_unavailable` or `payments_refused`.
   */
  listRecent(
    position: ListPosition,
    before_ms: number | null,
    now_ms: number,
  ): Promise<Result<PaymentPage, Refusal>>;
}
