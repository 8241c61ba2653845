/** The effect of an object of Stripe on an account, after an event and in a list. */
import type { DropReason, PaymentEffect } from "../domain/payment_event.ts";
import type { CreditPackage, ReversalState } from "../domain/purchases.ts";
import {
  checkoutSession,
  dispute,
  refund,
  type CheckoutSession,
  type Dispute,
  type Refund,
} from "./stripe_objects.ts";

/** The metadata of a checkout and its payment: the deployment's mark, and the buyer's identity. */
export const SERVICE_MARK = "passbook_service";
export const IDENTITY_MARK = "passbook_identity_id";

interface EffectSettings {
  readonly packages: readonly CreditPackage[];
  readonly marks: () => Promise<readonly string[]>;
}

/** @throws Error if the object does not have the documented form. */
export type EffectReader = (settings: EffectSettings, body: unknown) => Promise<PaymentEffect>;

export function dropped(reason: DropReason): PaymentEffect {
  return { kind: "dropped", reason };
}

/** Whether the metadata has the mark of this deployment. */
export async function isMarked(
  { marks }: EffectSettings,
  metadata: CheckoutSession["metadata"],
): Promise<boolean> {
  const mark = metadata?.[SERVICE_MARK];
  return mark !== undefined && (await marks()).includes(mark);
}

/** Reads a checkout, with its line items. */
export const readPurchase: EffectReader = async (settings, body) => {
  const session = checkoutSession.parse(body);
  if (!(await isMarked(settings, session.metadata))) return dropped("not_ours");
  // It saves a card; see `stripe_top_ups.ts`.
  if (session.mode === "setup") return dropped("type_not_handled");
  // Some payment methods take days.
  if (session.payment_status !== "paid") return dropped("checkout_unpaid");
  const { id: checkout_session_id, client_reference_id, metadata } = session;
  const identity_id = metadata?.[IDENTITY_MARK] ?? null;
  const unmatched = { kind: "unmatched", checkout_session_id } as const;
  if (identity_id === null || identity_id !== client_reference_id) {
    return { ...unmatched, identity_id: null };
  }
  const purchase = asPurchase(settings, session);
  return purchase === null
    ? { ...unmatched, identity_id }
    : { kind: "purchase", identity_id, purchase };
};

/** Null: it was paid, but does not match a package for sale. */
function asPurchase({ packages }: EffectSettings, session: CheckoutSession) {
  const { payment_intent, amount_total, currency } = session;
  const [item, ...more] = session.line_items?.data ?? [];
  const bought = packages.find(({ price }) => price === item?.price?.id);
  if (session.mode !== "payment" || payment_intent === null || currency === null) return null;
  if (bought === undefined || item?.quantity !== 1 || more.length > 0) return null;
  if (amount_total === null || amount_total === 0) return null;
  return {
    checkout_session_id: session.id,
    payment_intent_id: payment_intent,
    package_id: bought.id,
    package_name: bought.name,
    credits: bought.credits,
    paid_minor: amount_total,
    currency,
    expires_after_days: bought.expires_after_days,
    app_slugs: bought.app_slugs,
  };
}

/** Reads a refund, with its payment. Each refund counts by itself, because each may fail. */
export const readRefund: EffectReader = async (settings, body) => {
  const read = refund.parse(body);
  const has_failed = read.status === "failed" || read.status === "canceled";
  return readReversal(settings, read, has_failed ? "reinstated" : "withheld");
};

/** Reads a dispute, with its payment. */
export const readDispute: EffectReader = async (settings, body) => {
  const read = dispute.parse(body);
  return readReversal(settings, read, stateOf(read));
};

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
  settings: EffectSettings,
  { id: source_id, amount, currency, payment_intent: payment }: Refund | Dispute,
  state: ReversalState,
): Promise<PaymentEffect> {
  if (payment === null) return dropped("no_payment");
  const identity_id = payment.metadata?.[IDENTITY_MARK];
  if (identity_id === undefined) return dropped("not_ours");
  // A bank may dispute in another currency. The part is then unknown, so the whole payment counts.
  const amount_minor = currency === payment.currency ? amount : payment.amount_received;
  const reversal = { payment_intent_id: payment.id, source_id, amount_minor, state };
  const is_marked = await isMarked(settings, payment.metadata);
  return { kind: "reversal", identity_id, reversal, is_marked };
}
