/**
 * `POST /webhooks/stripe`: records payments and refunds. 200 if the event is recorded, was recorded before, or does not
 * concern this service; 400 if Stripe did not sign it recently; 5xx if Stripe must send it again.
 */
import { bodyLimit } from "hono/body-limit";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../../domain/limits.ts";
import type { DropReason, PaymentEvent, PaymentEffect } from "../../../domain/payment_event.ts";
import type { FailureKind } from "../../../domain/health.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { errorName } from "../../../domain/result.ts";
import { factory, type AppContext } from "../../context.ts";
import { describeRefusal, refuse } from "../../refusals.ts";
import { paymentsOf } from "../../middleware/require_payments.ts";

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
  try {
    const read = await paymentsOf(context).readWebhook(body, signature, Date.now());
    if (!read.ok) {
      const { code } = read.refusal;
      if (code !== "signature_invalid") count(context, "failed_payment_event", code);
      return refuse(context, read.refusal);
    }
    for (const effect of read.value.news) {
      const booked = await context.get("services").payment_booking.book(effect);
      if (!booked.ok) return refuseUnbooked(context, booked.refusal);
      if (booked.value !== null) noteDropped(context, read.value, effect, booked.value);
    }
    return context.json({ ok: true });
  } catch (error) {
    count(context, "failed_payment_event", errorName(error));
    throw error;
  }
});

/** Counts a failure for the operators, after the response. */
function count(context: AppContext, kind: FailureKind, reason: string): void {
  const { failures } = context.get("services");
  context.executionCtx.waitUntil(failures.count(kind, { reason }));
}

/** The operator reads the log and the count, not this response to Stripe. */
function refuseUnbooked(context: AppContext, refusal: Refusal): Response {
  count(context, "failed_payment_event", refusal.code);
  count(context, "payment_not_booked", refusal.code);
  if (refusal.code === "purchase_unmatched") return refuse(context, refusal);
  const request_id = context.get("request_id");
  console.error({ event: "payment_not_booked", request_id, code: refusal.code });
  if (describeRefusal(refusal).code === refusal.code) {
    return refuse(context, { code: "internal", request_id });
  }
  // Only a newer object refuses with what this build does not have.
  const retry_after_seconds = UNAVAILABLE_RETRY_AFTER_SECONDS;
  return refuse(context, { code: "unavailable", retry_after_seconds });
}

/** Stripe does not send a dropped event again, so the log and the count are the only traces. */
function noteDropped(
  context: AppContext,
  { id, type }: PaymentEvent,
  effect: PaymentEffect,
  reason: DropReason,
): void {
  const { payment_intent_id = null } =
    effect.kind === "purchase"
      ? effect.purchase
      : effect.kind === "reversal"
        ? effect.reversal
        : {};
  const about = { stripe_event_id: id, type, payment_intent_id };
  const event = { event: "payment_event_dropped", reason, ...about };
  // An operator must refund a payment to a deleted account by hand.
  const is_lost = reason === "account_deleted" && effect.kind === "purchase";
  if (is_lost) console.error(event);
  else console.warn(event);
  if (is_lost) count(context, "payment_not_booked", reason);
  // Stripe sends every type of event to an endpoint that subscribes to all of them.
  if (reason !== "type_not_handled") count(context, "dropped_payment_event", reason);
}
