/** The port to the service that takes people's money. */
import type { CreditPackage, Purchase, Reversal } from "../domain/purchases.ts";
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

/** What an account is to be told. Each may be told again, and in any order. */
export type PaymentNews =
  | { readonly kind: "purchase"; readonly identity_id: string; readonly purchase: Purchase }
  | { readonly kind: "reversal"; readonly identity_id: string; readonly reversal: Reversal };

export interface Payments {
  readonly packages: readonly CreditPackage[];
  /**
   * Opens a checkout. Nothing of ours changes.
   * @returns the address to send the buyer to; `package_unknown`, `idempotency_key_reused`,
   * `payments_unavailable` or `payments_refused`.
   */
  startCheckout(request: CheckoutRequest): Promise<Result<string, Refusal>>;
  /**
   * Reads a webhook's message, checks that it is genuine and of now, and asks what it stands for.
   * @returns null where it is nothing to us; `signature_invalid` where it is to be dropped; another
   * refusal where it is to be sent again.
   */
  readWebhook(
    body: string,
    signature: string | undefined,
    now_ms: number,
  ): Promise<Result<PaymentNews | null, Refusal>>;
}
