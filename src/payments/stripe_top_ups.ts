/** Automatic top-up at Stripe: a checkout that saves a card, and charges of it without the person. */
import type { PaymentEffect } from "../domain/payment_event.ts";
import type { CreditPackage } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type {
  CardCharges,
  Charge,
  ChargeFailure,
  ChargeResult,
  ToppedUpPackage,
} from "../domain/top_up.ts";
import type { CardSetup } from "./payments.ts";
import { requestObject, requestStripe, sendToStripe, type StripeAccount } from "./stripe_api.ts";
import {
  dropped,
  IDENTITY_MARK,
  isMarked,
  SERVICE_MARK,
  type EffectReader,
} from "./stripe_effects.ts";
import {
  cardError,
  cardSetup,
  charged,
  newCheckoutSession,
  page,
  type Charged,
  type Price,
} from "./stripe_objects.ts";

/** The metadata of a card's checkout: the account's own word for it. */
const SETUP_MARK = "passbook_top_up_setup";
/** The metadata of a charge: its number in the account, its package and its credits. */
const NUMBER_MARK = "passbook_top_up";
const PACKAGE_MARK = "passbook_package";
const CREDITS_MARK = "passbook_credits";

interface TopUpSettings extends StripeAccount {
  readonly packages: readonly CreditPackage[];
  readonly marks: () => Promise<readonly [string, ...string[]]>;
}

/** A package as it is for sale now. Refused as `package_unknown` if it has no fixed price. */
export function toppedUpPackage(
  { packages }: TopUpSettings,
  package_id: string,
  { active, type, unit_amount, currency }: Price,
): Result<ToppedUpPackage, Refusal> {
  const wanted = packages.find(({ id }) => id === package_id);
  if (wanted === undefined || !active || type !== "one_time") {
    return refused({ code: "package_unknown" });
  }
  if (unit_amount === null || unit_amount === 0) return refused({ code: "package_unknown" });
  const { name: package_name, credits, price, expires_after_days, app_slugs } = wanted;
  const terms = { expires_after_days, app_slugs };
  return accepted({
    package_id,
    package_name,
    credits,
    price,
    unit_minor: unit_amount,
    currency,
    ...terms,
  });
}

/** Opens a checkout that saves a card and charges nothing. @returns its address */
export async function startCardSetup(
  settings: TopUpSettings,
  {
    identity_id,
    nonce,
    page: page_url,
  }: { readonly identity_id: string; readonly nonce: string; readonly page: string },
): Promise<Result<string, Refusal>> {
  const [mark] = await settings.marks();
  const made = await requestObject(settings, newCheckoutSession, {
    method: "POST",
    path: "/v1/checkout/sessions",
    form: {
      mode: "setup",
      "payment_method_types[0]": "card",
      // Charges without the person need a customer that has the card.
      customer_creation: "always",
      success_url: `${page_url}/saved?checkout_session={CHECKOUT_SESSION_ID}`,
      cancel_url: page_url,
      client_reference_id: identity_id,
      [`metadata[${SERVICE_MARK}]`]: mark,
      [`metadata[${IDENTITY_MARK}]`]: identity_id,
      [`metadata[${SETUP_MARK}]`]: nonce,
    },
    idempotency_key: nonce,
  });
  return made.ok ? accepted(made.value.url) : made;
}

/** Reads a card's checkout by its id; null: it is not ours, or no card was saved yet. */
export async function readCardSetup(
  settings: TopUpSettings,
  session_id: string,
): Promise<Result<CardSetup | null, Refusal>> {
  const path = `/v1/checkout/sessions/${session_id}?expand[]=setup_intent.payment_method`;
  const read = await requestObject(settings, cardSetup, { method: "GET", path });
  if (!read.ok) return read;
  const { mode, status, customer, client_reference_id, metadata, setup_intent } = read.value;
  const identity_id = metadata?.[IDENTITY_MARK];
  const nonce = metadata?.[SETUP_MARK];
  const method = setup_intent?.payment_method ?? null;
  const is_saved =
    mode === "setup" && status === "complete" && (await isMarked(settings, metadata));
  if (!is_saved || identity_id === undefined || identity_id !== client_reference_id)
    return accepted(null);
  if (nonce === undefined || customer === null || method === null) return accepted(null);
  const { brand, last4 } = method.card ?? { brand: "card", last4: "" };
  const named = `${brand.charAt(0).toUpperCase()}${brand.slice(1)}`;
  const card = last4 === "" ? named : `${named} ending in ${last4}`;
  return accepted({
    identity_id,
    nonce,
    card: { customer_id: customer, payment_method_id: method.id, card },
  });
}

/** Reads a payment of a top-up. A payment of a checkout is dropped, because its checkout is read instead. */
export const readTopUp: EffectReader = async (settings, body) => {
  const payment = charged.parse(body);
  const { metadata } = payment;
  const number = Number(metadata?.[NUMBER_MARK]?.split(".")[0]);
  if (!Number.isSafeInteger(number)) return dropped("type_not_handled");
  if (!(await isMarked(settings, metadata))) return dropped("not_ours");
  const identity_id = metadata?.[IDENTITY_MARK];
  if (identity_id === undefined) return dropped("not_ours");
  const result = resultOf(payment);
  const { payment_intent_id = payment.id } = result as { readonly payment_intent_id?: string };
  if (result.kind === "failed") {
    const { reason } = result;
    return { kind: "top_up_failed", identity_id, failed: { number, reason, payment_intent_id } };
  }
  return result.kind === "succeeded"
    ? { kind: "purchase", identity_id, purchase: purchaseOf(settings.packages, payment, number) }
    : dropped("checkout_unpaid");
};

/** The package's present terms. The account replaces them by those that it charged for. */
function purchaseOf(packages: readonly CreditPackage[], payment: Charged, number: number) {
  const package_id = payment.metadata?.[PACKAGE_MARK] ?? "";
  const sold = packages.find(({ id }) => id === package_id);
  return {
    checkout_session_id: payment.id,
    payment_intent_id: payment.id,
    package_id,
    package_name: sold?.name ?? package_id,
    credits: Number(payment.metadata?.[CREDITS_MARK]),
    paid_minor: payment.amount_received,
    currency: payment.currency,
    expires_after_days: sold?.expires_after_days,
    app_slugs: sold?.app_slugs,
    top_up: number,
  };
}

/** The card's charges, for accounts. */
export function createCardCharges(settings: TopUpSettings): CardCharges {
  const safely = async (work: Promise<ChargeResult>): Promise<ChargeResult> => {
    try {
      return await work;
    } catch (error) {
      // An undocumented response: the charge may have been made.
      console.error({ event: "top_up_unreadable", reason: (error as Error).name });
      return { kind: "unknown" };
    }
  };
  return {
    isForSale: ({ package_id, price, credits }) =>
      settings.packages.some(
        (it) => it.id === package_id && it.price === price && it.credits === credits,
      ),
    charge: (charge) => safely(chargeCard(settings, charge)),
    find: (charge) => safely(findCharge(settings, charge)),
  };
}

async function chargeCard(settings: TopUpSettings, charge: Charge): Promise<ChargeResult> {
  const [mark] = await settings.marks();
  const sent = await sendToStripe(settings, {
    method: "POST",
    path: "/v1/payment_intents",
    form: {
      amount: String(charge.amount_minor),
      currency: charge.currency,
      customer: charge.customer_id,
      payment_method: charge.payment_method_id,
      "payment_method_types[0]": "card",
      confirm: "true",
      off_session: "true",
      [`metadata[${SERVICE_MARK}]`]: mark,
      [`metadata[${IDENTITY_MARK}]`]: charge.identity_id,
      [`metadata[${NUMBER_MARK}]`]: nameOf(charge),
      [`metadata[${PACKAGE_MARK}]`]: charge.package_id,
      [`metadata[${CREDITS_MARK}]`]: String(charge.credits),
    },
    idempotency_key: `passbook-top-up-${nameOf(charge)}`,
  });
  if (!sent.ok) return { kind: "unknown" };
  const { status, content } = sent.value;
  if (status >= 200 && status <= 299) return resultOf(charged.parse(content));
  const { error } = cardError.parse(content);
  const payment_intent_id = error.payment_intent?.id ?? null;
  if (status === 402) return { kind: "failed", reason: reasonOf(error), payment_intent_id };
  console.error({ event: "payments_refused", status, type: error.type, code: error.code ?? null });
  // A wrong key of ours, or another request with the same key that is under way: it says nothing about the card.
  const is_refused = error.type === "invalid_request_error" && (status === 400 || status === 404);
  return is_refused
    ? { kind: "failed", reason: "refused", payment_intent_id }
    : { kind: "unknown" };
}

/** The charges of one customer since the charge was decided are few. */
async function findCharge(settings: TopUpSettings, charge: Charge): Promise<ChargeResult> {
  const since = Math.floor(charge.created_at_ms / 1000) - CLOCK_MARGIN_SECONDS;
  const query = new URLSearchParams({
    customer: charge.customer_id,
    "created[gte]": String(since),
    limit: "100",
  });
  const path = `/v1/payment_intents?${query.toString()}`;
  const listed = await requestStripe(settings, { method: "GET", path });
  if (!listed.ok) return { kind: "unknown" };
  const { data, has_more } = page.parse(listed.value);
  const found = data
    .map((it) => charged.parse(it))
    .find(({ metadata }) => metadata?.[NUMBER_MARK] === nameOf(charge));
  if (found !== undefined) return resultOf(found);
  return has_more ? { kind: "unknown" } : { kind: "missing" };
}

/** Stripe's clock may differ from ours. */
const CLOCK_MARGIN_SECONDS = 10 * 60;

/** The charge's number, attempt and account: no other charge has the same. */
function nameOf({ number, attempt, account_id }: Charge): string {
  return `${number}.${attempt}.${account_id}`;
}

function resultOf(payment: Charged): ChargeResult {
  const { id: payment_intent_id, status, amount_received: paid_minor, currency } = payment;
  switch (status) {
    case "succeeded":
      return { kind: "succeeded", payment_intent_id, paid_minor, currency };
    case "requires_action":
      return { kind: "failed", reason: "authentication_required", payment_intent_id };
    case "requires_payment_method":
    case "canceled":
      return { kind: "failed", reason: reasonOf(payment.last_payment_error), payment_intent_id };
    default:
      return { kind: "unknown" };
  }
}

function reasonOf(
  error: { readonly code?: string | null | undefined } | null | undefined,
): ChargeFailure {
  return error?.code === "authentication_required" ? "authentication_required" : "declined";
}

/** The effect of a card's checkout. */
export async function readCardEffect(
  settings: TopUpSettings,
  session_id: string,
): Promise<Result<PaymentEffect, Refusal>> {
  const read = await readCardSetup(settings, session_id);
  if (!read.ok) return read;
  return accepted(
    read.value === null ? dropped("not_ours") : { kind: "card_saved", ...read.value },
  );
}
