/** The port to the service that takes people's money. */
import type { PaymentEvent } from "../domain/payment_event.ts";
import type { CreditPackage } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";

export interface CheckoutRequest {
  readonly identity_id: string;
  readonly package_id: string;
  /** Where the buyer comes back to, told `checkout=success` or `checkout=cancelled` in its query. */
  readonly return_url: string;
  /** The buyer's own retry guard; null: each call is a checkout of its own. */
  readonly idempotency_key: string | null;
}

export interface Payments {
  readonly packages: readonly CreditPackage[];
  /**
   * Opens a checkout. Nothing of ours changes.
   * @returns the address to send the buyer to; `package_unknown`, `idempotency_key_reused`,
   * `payments_unavailable` or `payments_refused`.
   */
  startCheckout(request: CheckoutRequest): Promise<Result<string, Refusal>>;
  /**
   * Reads a webhook's message, checks that it is genuine and recent, and reads its object from the
   * payment service.
   * @returns `signature_invalid` where the message is not genuine; another refusal where it is to be
   * sent again.
   */
  readWebhook(
    body: string,
    signature: string | undefined,
    now_ms: number,
  ): Promise<Result<PaymentEvent, Refusal>>;
}
