/** The Stripe adapter: hosted Checkout, and the webhook with its results. */
import type * as z from "zod/mini";
import type { DropReason, PaymentEffect } from "../domain/payment_event.ts";
import type { CreditPackage, ReversalState } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { CheckoutRequest, Payments } from "./payments.ts";
import { isSignatureValid } from "./signature.ts";
import { requestStripe, type StripeAccount, type StripeCall } from "./stripe_api.ts";
import { readEvent, type Subject } from "./stripe_events.ts";
import {
  charge,
  checkoutSession,
  dispute,
  newCheckoutSession,
  paymentIntent,
  type CheckoutSession,
  type Dispute,
} from "./stripe_objects.ts";

export interface StripeSettings extends StripeAccount {
  readonly webhook_secret: string;
  readonly packages: readonly CreditPackage[];
  /**
   * This deployment's marks on its checkouts, because other services may use the same Stripe account. The first
   * is written; any of them is recognised.
   */
  readonly marks: () => Promise<readonly [string, ...string[]]>;
}

/** The metadata of a checkout and its payment: the deployment's mark, and the buyer's identity. */
const SERVICE_MARK = "passbook_service";
const IDENTITY_MARK = "passbook_identity_id";

/** Stripe replaces this with the checkout's id. It must not be escaped. */
const SESSION_PLACEHOLDER = "{CHECKOUT_SESSION_ID}";

export function createStripe(settings: StripeSettings): Payments {
  return {
    packages: settings.packages,
    startCheckout: (request) => startCheckout(settings, request),
    async readWebhook(body, signature, now_ms) {
      if (!(await isSignatureValid(settings.webhook_secret, body, signature, now_ms))) {
        return refused({ code: "signature_invalid" });
      }
      const { event, subject } = readEvent(body);
      const news = subject === null ? dropped("type_not_handled") : await ask(settings, subject);
      return news.ok ? accepted({ ...event, news: news.value }) : news;
    },
  };
}

async function startCheckout(
  settings: StripeSettings,
  { identity_id, package_id, return_url, idempotency_key }: CheckoutRequest,
): Promise<Result<string, Refusal>> {
  const wanted = settings.packages.find(({ id }) => id === package_id);
  if (wanted === undefined) return refused({ code: "package_unknown" });
  const [mark] = await settings.marks();
  const made = await read(settings, newCheckoutSession, {
    method: "POST",
    path: "/v1/checkout/sessions",
    form: {
      mode: "payment",
      "line_items[0][price]": wanted.price,
      "line_items[0][quantity]": "1",
      // Otherwise a payment and its refund may have different currencies.
      "adaptive_pricing[enabled]": "false",
      success_url: returnAddress(return_url, "success"),
      cancel_url: returnAddress(return_url, "cancelled"),
      client_reference_id: identity_id,
      [`metadata[${SERVICE_MARK}]`]: mark,
      [`metadata[${IDENTITY_MARK}]`]: identity_id,
      "metadata[passbook_package]": wanted.id,
      // Refunds and disputes name only the payment.
      [`payment_intent_data[metadata][${SERVICE_MARK}]`]: mark,
      [`payment_intent_data[metadata][${IDENTITY_MARK}]`]: identity_id,
    },
    idempotency_key: await stripeKey(identity_id, idempotency_key),
  });
  return made.ok ? accepted(made.value.url) : made;
}

function returnAddress(return_url: string, checkout: "success" | "cancelled"): string {
  const url = new URL(return_url);
  url.searchParams.delete("checkout_session");
  url.searchParams.set("checkout", checkout);
  if (checkout === "cancelled") return url.href;
  const { hash } = url;
  url.hash = "";
  return `${url.href}&checkout_session=${SESSION_PLACEHOLDER}${hash}`;
}

/** All our callers share one Stripe account, so a key includes the identity. */
async function stripeKey(identity_id: string, key: string | null): Promise<string> {
  if (key === null) return crypto.randomUUID();
  const text = new TextEncoder().encode(JSON.stringify(["checkout", identity_id, key]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type News = Promise<Result<PaymentEffect, Refusal>>;

function dropped(reason: DropReason): Result<PaymentEffect, never> {
  return accepted({ kind: "dropped", reason });
}

/**
 * Reads the present state of an event's object from Stripe. Only the object's id is taken from the event, so a
 * leaked webhook secret creates no credits.
 */
function ask(settings: StripeSettings, { kind, id }: Subject): News {
  switch (kind) {
    case "checkout":
      return readPurchase(settings, id);
    case "charge":
      return readRefund(settings, id);
    case "dispute":
      return readDispute(settings, id);
  }
}

async function isMarked(
  { marks }: StripeSettings,
  metadata: CheckoutSession["metadata"],
): Promise<boolean> {
  const mark = metadata?.[SERVICE_MARK];
  return mark !== undefined && (await marks()).includes(mark);
}

async function readPurchase(settings: StripeSettings, id: string): News {
  const path = `/v1/checkout/sessions/${id}?expand[]=line_items`;
  const asked = await read(settings, checkoutSession, { method: "GET", path });
  if (!asked.ok) return asked;
  const session = asked.value;
  if (!(await isMarked(settings, session.metadata))) return dropped("not_ours");
  // Some payment methods take days.
  if (session.payment_status !== "paid") return dropped("checkout_unpaid");
  const news = asPurchase(settings, session);
  if (news !== null) return accepted(news);
  console.error({ event: "purchase_unmatched", checkout_session_id: session.id });
  return refused({ code: "purchase_unmatched" });
}

/** Null: it was paid, but does not match a package for sale. */
function asPurchase({ packages }: StripeSettings, session: CheckoutSession): PaymentEffect | null {
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

async function readRefund(settings: StripeSettings, id: string): News {
  const asked = await read(settings, charge, { method: "GET", path: `/v1/charges/${id}` });
  if (!asked.ok) return asked;
  const { amount_refunded: amount_minor, ...rest } = asked.value;
  return readReversal(settings, { ...rest, amount_minor, state: "withheld" });
}

async function readDispute(settings: StripeSettings, id: string): News {
  const asked = await read(settings, dispute, { method: "GET", path: `/v1/disputes/${id}` });
  if (!asked.ok) return asked;
  const { amount: amount_minor, ...rest } = asked.value;
  return readReversal(settings, { ...rest, amount_minor, state: stateOf(asked.value) });
}

/**
 * An inquiry (`warning_…`) and a prevented dispute do not move money. If money was moved, that counts, whatever
 * the status says.
 */
function stateOf({ status, balance_transactions }: Dispute): ReversalState {
  if (status === "won") return "reinstated";
  if (status === "lost") return "lost";
  const moves = balance_transactions ?? [];
  if (moves.length > 0) {
    return moves.reduce((sum, { amount }) => sum + amount, 0) < 0 ? "withheld" : "reinstated";
  }
  return status.startsWith("warning_") || status === "prevented" ? "inquiry" : "withheld";
}

/** Only the payment names the account. */
async function readReversal(
  settings: StripeSettings,
  taken: {
    readonly id: string;
    readonly payment_intent: string | null;
    readonly amount_minor: number;
    readonly currency: string;
    readonly state: ReversalState;
  },
): News {
  const { id: source_id, payment_intent: payment_intent_id, state } = taken;
  if (payment_intent_id === null) return dropped("no_payment");
  const path = `/v1/payment_intents/${encodeURIComponent(payment_intent_id)}`;
  const asked = await read(settings, paymentIntent, { method: "GET", path });
  if (!asked.ok) return asked;
  const { metadata, amount_received, currency } = asked.value;
  const identity_id = metadata?.[IDENTITY_MARK];
  if (identity_id === undefined) return dropped("not_ours");
  // A bank may dispute in another currency. The part is then unknown, so the whole payment counts.
  const amount_minor = taken.currency === currency ? taken.amount_minor : amount_received;
  const reversal = { payment_intent_id, source_id, amount_minor, state };
  const is_marked = await isMarked(settings, metadata);
  return accepted({ kind: "reversal", identity_id, reversal, is_marked });
}

/**
 * Requests an object from Stripe.
 * @throws Error if it does not have the documented form.
 */
async function read<Schema extends z.ZodMiniType>(
  settings: StripeSettings,
  schema: Schema,
  call: StripeCall,
): Promise<Result<z.output<Schema>, Refusal>> {
  const answer = await requestStripe(settings, call);
  return answer.ok ? accepted(schema.parse(answer.value)) : answer;
}
