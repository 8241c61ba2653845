/** The adapter to Stripe: hosted Checkout, and the webhook that says what became of it. */
import type * as z from "zod/mini";
import type { CreditPackage } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { CheckoutRequest, PaymentNews, Payments } from "./payments.ts";
import { isSignatureValid } from "./signature.ts";
import { askStripe, type StripeAccount, type StripeCall } from "./stripe_api.ts";
import { IDENTITY_MARK, readEvent, SERVICE_MARK, type Said } from "./stripe_events.ts";
import {
  checkoutSession,
  newCheckoutSession,
  paymentIntent,
  type CheckoutSession,
} from "./stripe_objects.ts";

export interface StripeSettings extends StripeAccount {
  readonly webhook_secret: string;
  readonly packages: readonly CreditPackage[];
  /** This deployment's mark on its checkouts: others may share the Stripe account. */
  readonly service: string;
}

/** Stripe's id of a checkout goes in here on the way back; it must not be escaped. */
const SESSION_PLACE = "{CHECKOUT_SESSION_ID}";

export function createStripe(settings: StripeSettings): Payments {
  return {
    packages: settings.packages,
    startCheckout: (request) => startCheckout(settings, request),
    async readWebhook(body, signature, now_ms) {
      if (!(await isSignatureValid(settings.webhook_secret, body, signature, now_ms))) {
        return refused({ code: "signature_invalid" });
      }
      const said = readEvent(body);
      return said === null ? accepted(null) : complete(settings, said);
    },
  };
}

async function startCheckout(
  settings: StripeSettings,
  { identity_id, package_id, return_url, idempotency_key }: CheckoutRequest,
): Promise<Result<string, Refusal>> {
  const wanted = settings.packages.find(({ id }) => id === package_id);
  if (wanted === undefined) return refused({ code: "package_unknown" });
  const made = await read(settings, newCheckoutSession, {
    method: "POST",
    path: "/v1/checkout/sessions",
    form: {
      mode: "payment",
      "line_items[0][price]": wanted.price,
      "line_items[0][quantity]": "1",
      // Else a payment may be in another currency than what is refunded of it.
      "adaptive_pricing[enabled]": "false",
      success_url: comingBack(return_url, "success"),
      cancel_url: comingBack(return_url, "cancelled"),
      client_reference_id: identity_id,
      [`metadata[${SERVICE_MARK}]`]: settings.service,
      [`metadata[${IDENTITY_MARK}]`]: identity_id,
      "metadata[passbook_package]": wanted.id,
      // Refunds and disputes know the payment alone.
      [`payment_intent_data[metadata][${SERVICE_MARK}]`]: settings.service,
      [`payment_intent_data[metadata][${IDENTITY_MARK}]`]: identity_id,
    },
    idempotency_key: await stripeKey(identity_id, idempotency_key),
  });
  return made.ok ? accepted(made.value.url) : made;
}

function comingBack(return_url: string, checkout: "success" | "cancelled"): string {
  const url = new URL(return_url);
  url.searchParams.delete("checkout_session");
  url.searchParams.set("checkout", checkout);
  if (checkout === "cancelled") return url.href;
  const { hash } = url;
  url.hash = "";
  return `${url.href}&checkout_session=${SESSION_PLACE}${hash}`;
}

/** Keys are one Stripe account's, so that ours must be told apart by whose they are. */
async function stripeKey(identity_id: string, key: string | null): Promise<string> {
  if (key === null) return crypto.randomUUID();
  const text = new TextEncoder().encode(JSON.stringify(["checkout", identity_id, key]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * What an event stands for, as Stripe says it now. An event alone credits nothing: what was paid, and
 * for which price, is asked of Stripe with our own key, so that a leaked webhook secret makes no money.
 */
function complete(
  settings: StripeSettings,
  said: Said,
): Promise<Result<PaymentNews | null, Refusal>> {
  return said.kind === "checkout" ? readPurchase(settings, said) : readReversal(settings, said);
}

async function readPurchase(
  settings: StripeSettings,
  { id, service }: Extract<Said, { kind: "checkout" }>,
): Promise<Result<PaymentNews | null, Refusal>> {
  if (service !== settings.service) return accepted(null);
  const path = `/v1/checkout/sessions/${id}?expand[]=line_items`;
  const asked = await read(settings, checkoutSession, { method: "GET", path });
  if (!asked.ok) return asked;
  const session = asked.value;
  // Some ways of paying take days: another event follows.
  if (session.payment_status !== "paid") return accepted(null);
  const news = asPurchase(settings, session);
  if (news !== null) return accepted(news);
  console.error({ event: "purchase_unmatched", checkout_session_id: session.id });
  return refused({ code: "purchase_unmatched" });
}

/** Null: paid, and yet none of the packages that are for sale. */
function asPurchase({ packages }: StripeSettings, session: CheckoutSession): PaymentNews | null {
  const { client_reference_id, metadata, payment_intent, amount_total, currency } = session;
  const identity_id = metadata?.[IDENTITY_MARK];
  const [item, ...more] = session.line_items.data;
  const bought = packages.find(({ price }) => price === item?.price?.id);
  if (identity_id === undefined || identity_id !== client_reference_id) return null;
  if (session.mode !== "payment" || payment_intent === null || currency === null) return null;
  if (bought === undefined || item?.quantity !== 1 || more.length > 0) return null;
  if (amount_total === null || amount_total === 0) return null;
  return {
    kind: "purchase",
    identity_id,
    purchase: {
      checkout_session_id: session.id,
      payment_intent_id: payment_intent,
      package_id: bought.id,
      package_name: bought.name,
      credits: bought.credits,
      paid_minor: amount_total,
      currency,
    },
  };
}

/** Whose payment it is, only the payment itself says. */
async function readReversal(
  settings: StripeSettings,
  {
    payment_intent_id,
    source_id,
    amount_minor,
    currency,
    standing,
  }: Extract<Said, { kind: "reversal" }>,
): Promise<Result<PaymentNews | null, Refusal>> {
  const path = `/v1/payment_intents/${encodeURIComponent(payment_intent_id)}`;
  const asked = await read(settings, paymentIntent, { method: "GET", path });
  if (!asked.ok) return asked;
  const { metadata, amount_received, ...payment } = asked.value;
  const identity_id = metadata?.[IDENTITY_MARK];
  if (metadata?.[SERVICE_MARK] !== settings.service || identity_id === undefined) {
    return accepted(null);
  }
  // A bank may dispute in its own currency; what part that is cannot be told, so it is all of it.
  const known = currency === payment.currency ? amount_minor : amount_received;
  const reversal = { payment_intent_id, source_id, amount_minor: known, standing };
  return accepted({ kind: "reversal", identity_id, reversal });
}

/** Asks Stripe for one of its objects. @throws Error where that does not look as documented. */
async function read<Schema extends z.ZodMiniType>(
  settings: StripeSettings,
  schema: Schema,
  call: StripeCall,
): Promise<Result<z.output<Schema>, Refusal>> {
  const answer = await askStripe(settings, call);
  return answer.ok ? accepted(schema.parse(answer.value)) : answer;
}
