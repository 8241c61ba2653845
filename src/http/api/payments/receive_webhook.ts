/**
 * `POST /webhooks/stripe`: records payments and refunds. 200 if the event is recorded, was recorded before, or does not
 * concern this service; 400 if Stripe did not sign it recently; 5xx if Stripe must send it again.
 */
import { bodyLimit } from "hono/body-limit";
import type { DropReason, PaymentEvent, PaymentEffect } from "../../../domain/payment_event.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, type Result } from "../../../domain/result.ts";
import { factory, type AppContext } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { paymentsOf } from "./require_payments.ts";

/** The largest webhook message read, in bytes: one Stripe object with all its metadata. */
const WEBHOOK_BODY_MAX_BYTES = 256 * 1024;

export const limitWebhookSize = bodyLimit({
  maxSize: WEBHOOK_BODY_MAX_BYTES,
  onError: (context) =>
    refuse(context as AppContext, { code: "body_too_large", limit_bytes: WEBHOOK_BODY_MAX_BYTES }),
});

/** A message without a valid signature costs one HMAC, and reaches no store and no other server. */
export const receiveWebhook = factory.createHandlers(async (context) => {
  const body = await context.req.text();
  const signature = context.req.header("Stripe-Signature");
  const read = await paymentsOf(context).readWebhook(body, signature, Date.now());
  if (!read.ok) return refuse(context, read.refusal);
  const booked = await book(context, read.value.news);
  if (booked.ok) {
    if (booked.value !== null) logDropped(read.value, booked.value);
    return context.json({ ok: true });
  }
  // The operator reads the log, not this response to Stripe.
  const request_id = context.get("request_id");
  console.error({ event: "payment_not_booked", request_id, code: booked.refusal.code });
  return refuse(context, { code: "internal", request_id });
});

/** Records the event in the account. Returns the reason if it was dropped, else null. */
async function book(
  context: AppContext,
  news: PaymentEffect,
): Promise<Result<DropReason | null, Refusal>> {
  if (news.kind === "dropped") return accepted(news.reason);
  const { accounts, identity } = context.get("services");
  const account = accounts(news.identity_id);
  if (news.kind === "reversal" && !news.is_marked) {
    // Checked first, since a call to the account of an unknown identity would create its object.
    const person = await identity.readPerson(news.identity_id);
    const { payment_intent_id } = news.reversal;
    if (person === null || !(await account.hasBought(payment_intent_id))) {
      return accepted("not_ours");
    }
  }
  const done =
    news.kind === "purchase"
      ? await account.recordPurchase(news.purchase)
      : await account.recordReversal(news.reversal);
  if (done.ok) return accepted(null);
  return done.refusal.code === "account_unknown" ? accepted("account_deleted") : done;
}

/** Stripe does not send a dropped event again, so the log is the only trace. */
function logDropped({ id, type, news }: PaymentEvent, reason: DropReason): void {
  const { payment_intent_id = null } =
    news.kind === "purchase" ? news.purchase : news.kind === "reversal" ? news.reversal : {};
  const about = { stripe_event_id: id, type, payment_intent_id };
  const event = { event: "payment_event_dropped", reason, ...about };
  // An operator must refund a payment to a deleted account by hand.
  if (reason === "account_deleted" && news.kind === "purchase") console.error(event);
  else console.warn(event);
}
