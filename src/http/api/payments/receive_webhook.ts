/**
 * `POST /webhooks/stripe`: records payments and refunds. 200 if the event is recorded, was recorded before, or does not
 * concern this service; 400 if Stripe did not sign it recently; 5xx if Stripe must send it again.
 */
import { bodyLimit } from "hono/body-limit";
import type { DropReason, PaymentEvent, PaymentEffect } from "../../../domain/payment_event.ts";
import type { Refusal } from "../../../domain/refusals.ts";
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
  for (const effect of read.value.news) {
    const booked = await context.get("services").payment_booking.book(effect);
    if (!booked.ok) return refuseUnbooked(context, booked.refusal);
    if (booked.value !== null) logDropped(read.value, effect, booked.value);
  }
  return context.json({ ok: true });
});

/** The operator reads the log, not this response to Stripe. */
function refuseUnbooked(context: AppContext, refusal: Refusal): Response {
  if (refusal.code === "purchase_unmatched") return refuse(context, refusal);
  const request_id = context.get("request_id");
  console.error({ event: "payment_not_booked", request_id, code: refusal.code });
  return refuse(context, { code: "internal", request_id });
}

/** Stripe does not send a dropped event again, so the log is the only trace. */
function logDropped({ id, type }: PaymentEvent, effect: PaymentEffect, reason: DropReason): void {
  const { payment_intent_id = null } =
    effect.kind === "purchase"
      ? effect.purchase
      : effect.kind === "reversal"
        ? effect.reversal
        : {};
  const about = { stripe_event_id: id, type, payment_intent_id };
  const event = { event: "payment_event_dropped", reason, ...about };
  // An operator must refund a payment to a deleted account by hand.
  if (reason === "account_deleted" && effect.kind === "purchase") console.error(event);
  else console.warn(event);
}
