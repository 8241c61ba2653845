/** The Stripe adapter: hosted Checkout, the webhook with its results, and the lists of recent payments. */
import { DAY_MS } from "../domain/calendar.ts";
import { RECONCILED_DAYS, RECONCILIATION_PAGE_PAYMENTS } from "../domain/limits.ts";
import type { PaymentEffect } from "../domain/payment_event.ts";
import { positionAfter, type ListPosition, type PaymentPage } from "../domain/payment_list.ts";
import type { CreditPackage } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { CheckoutRequest, Payments } from "./payments.ts";
import { createPrices } from "./prices.ts";
import { isSignatureValid } from "./signature.ts";
import { requestObject, requestStripe, type StripeAccount } from "./stripe_api.ts";
import {
  dropped,
  IDENTITY_MARK,
  isMarked,
  readDispute,
  readPurchase,
  readRefund,
  SERVICE_MARK,
  type EffectReader,
} from "./stripe_effects.ts";
import { readEvent, type Subject } from "./stripe_events.ts";
import {
  createCardCharges,
  readCardEffect,
  readCardSetup,
  readTopUp,
  startCardSetup,
  toppedUpPackage,
} from "./stripe_top_ups.ts";
import {
  checkoutMode,
  identified,
  marked,
  newCheckoutSession,
  page,
  paidPayment,
  price,
  stripeAddress,
} from "./stripe_objects.ts";

interface StripeSettings extends StripeAccount {
  readonly webhook_secret: string;
  readonly packages: readonly CreditPackage[];
  /**
   * This deployment's marks on its checkouts, because other services may use the same Stripe account. The first
   * is written; any of them is recognised.
   */
  readonly marks: () => Promise<readonly [string, ...string[]]>;
}

/** Stripe replaces this with the checkout's id. It must not be escaped. */
const SESSION_PLACEHOLDER = "{CHECKOUT_SESSION_ID}";

export function createStripe(settings: StripeSettings): Payments {
  return {
    packages: settings.packages,
    readPrices: createPrices(settings.packages, (id) =>
      requestObject(settings, price, { method: "GET", path: `/v1/prices/${id}` }),
    ),
    async readReceipt(payment_intent_id) {
      const path = `/v1/payment_intents/${payment_intent_id}?expand[]=latest_charge`;
      const read = await requestObject(settings, paidPayment, { method: "GET", path });
      return read.ok
        ? accepted(stripeAddress(read.value.latest_charge?.receipt_url ?? null))
        : read;
    },
    paymentUrl: (payment_intent_id) => {
      // Keys of Stripe's test mode start like this; its dashboard keeps test payments apart.
      const mode = /^[sr]k_test_/.test(settings.secret_key) ? "test/" : "";
      const id = encodeURIComponent(payment_intent_id);
      return `https://dashboard.stripe.com/${mode}payments/${id}`;
    },
    async findBuyer(id) {
      const list = id.startsWith("cs_") ? "/v1/checkout/sessions" : "/v1/payment_intents";
      const read = await requestObject(settings, marked, { method: "GET", path: `${list}/${id}` });
      if (!read.ok) return read;
      const { metadata } = read.value;
      const is_ours = await isMarked(settings, metadata);
      return accepted(is_ours ? (metadata?.[IDENTITY_MARK] ?? null) : null);
    },
    startCheckout: (request) => startCheckout(settings, request),
    async readTopUpPackage(package_id) {
      const wanted = settings.packages.find(({ id }) => id === package_id);
      if (wanted === undefined) return refused({ code: "package_unknown" });
      const path = `/v1/prices/${wanted.price}`;
      const read = await requestObject(settings, price, { method: "GET", path });
      return read.ok ? toppedUpPackage(settings, package_id, read.value) : read;
    },
    startCardSetup: (setup) => startCardSetup(settings, setup),
    readCardSetup: (session_id) => readCardSetup(settings, session_id),
    card_charges: createCardCharges(settings),
    async readWebhook(body, signature, now_ms) {
      if (!(await isSignatureValid(settings.webhook_secret, body, signature, now_ms))) {
        return refused({ code: "signature_invalid" });
      }
      const { event, subject } = readEvent(body);
      if (subject === null) return accepted({ ...event, news: [dropped("type_not_handled")] });
      const news = await readSubject(settings, subject);
      return news.ok ? accepted({ ...event, news: news.value }) : news;
    },
    listRecent: (position, before_ms, now_ms) => listRecent(settings, position, before_ms, now_ms),
  };
}

async function startCheckout(
  settings: StripeSettings,
  { identity_id, package_id, return_to, idempotency_key }: CheckoutRequest,
): Promise<Result<string, Refusal>> {
  const wanted = settings.packages.find(({ id }) => id === package_id);
  if (wanted === undefined) return refused({ code: "package_unknown" });
  const [mark] = await settings.marks();
  const made = await requestObject(settings, newCheckoutSession, {
    method: "POST",
    path: "/v1/checkout/sessions",
    form: {
      mode: "payment",
      "line_items[0][price]": wanted.price,
      "line_items[0][quantity]": "1",
      // Otherwise a payment and its refund may have different currencies.
      "adaptive_pricing[enabled]": "false",
      success_url: returnAddress(return_to, "success"),
      cancel_url: returnAddress(return_to, "cancelled"),
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

function returnAddress(return_to: string, checkout: "success" | "cancelled"): string {
  const url = new URL(return_to);
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

interface StripeList {
  readonly path: string;
  /** The field that each object must have in full; null: none. */
  readonly expand: string | null;
  readonly read: EffectReader;
}

const LISTS: Readonly<Record<ListPosition["list"], StripeList>> = {
  checkouts: {
    path: "/v1/checkout/sessions",
    expand: "line_items",
    read: readPurchase,
  },
  refunds: { path: "/v1/refunds", expand: "payment_intent", read: readRefund },
  top_ups: { path: "/v1/payment_intents", expand: null, read: readTopUp },
  disputes: { path: "/v1/disputes", expand: "payment_intent", read: readDispute },
};

/**
 * Reads the present state of an event's object from Stripe. Only the object's id is taken from the event, so a
 * leaked webhook secret creates no credits.
 */
async function readSubject(
  settings: StripeSettings,
  { kind, id }: Subject,
): Promise<Result<readonly PaymentEffect[], Refusal>> {
  if (kind === "charge") return readRefundsOf(settings, id);
  const { path, expand, read } = LISTS[kind];
  const query = expand === null ? "" : `?expand[]=${expand}`;
  const body = await requestStripe(settings, { method: "GET", path: `${path}/${id}${query}` });
  if (!body.ok) return body;
  const is_card = kind === "checkouts" && checkoutMode.parse(body.value).mode === "setup";
  if (!is_card) return accepted([await read(settings, body.value)]);
  const card = await readCardEffect(settings, id);
  return card.ok ? accepted([card.value]) : card;
}

/** Refunds of one charge that are read: the newest. Stripe returns at most 100, and earlier events had the others. */
const REFUNDS_PER_CHARGE = 100;

async function readRefundsOf(
  settings: StripeSettings,
  charge: string,
): Promise<Result<readonly PaymentEffect[], Refusal>> {
  const { path, expand } = LISTS.refunds;
  const query = `charge=${charge}&limit=${REFUNDS_PER_CHARGE}&expand[]=data.${expand}`;
  const found = await requestObject(settings, page, { method: "GET", path: `${path}?${query}` });
  if (!found.ok) return found;
  const refunds = found.value.data;
  if (refunds.length === 0) return accepted([dropped("not_refunded")]);
  return accepted(await Promise.all(refunds.map((it) => readRefund(settings, it))));
}

async function listRecent(
  settings: StripeSettings,
  { list, after }: ListPosition,
  before_ms: number | null,
  now_ms: number,
): Promise<Result<PaymentPage, Refusal>> {
  const { path, expand, read } = LISTS[list];
  const query = new URLSearchParams({
    limit: String(RECONCILIATION_PAGE_PAYMENTS),
    ...(expand === null ? {} : { "expand[]": `data.${expand}` }),
    "created[gte]": inSeconds(now_ms - RECONCILED_DAYS[list] * DAY_MS),
    ...(before_ms === null ? {} : { "created[lt]": inSeconds(before_ms) }),
    ...(after === null ? {} : { starting_after: after }),
  });
  const found = await requestObject(settings, page, {
    method: "GET",
    path: `${path}?${query.toString()}`,
  });
  if (!found.ok) return found;
  const payments = found.value.data.map((body) => ({
    id: identified.parse(body).id,
    read: () => read(settings, body),
  }));
  const last = found.value.has_more ? (payments.at(-1)?.id ?? null) : null;
  return accepted({ payments, next: positionAfter(list, last) });
}

function inSeconds(time_ms: number): string {
  return String(Math.floor(time_ms / 1000));
}
