/**
 * `POST /webhooks/stripe`: what became of people's payments. 200 to what is done, was done before, or is
 * nothing to us; 400 to what Stripe did not sign just now; 5xx to what is to be sent again.
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

/** A stranger's message costs one HMAC, and reaches no store and no other server. */
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
  // Nobody who could mend it reads the response.
  const request_id = context.get("request_id");
  console.error({ event: "payment_not_booked", request_id, code: booked.refusal.code });
  return refuse(context, { code: "internal", request_id });
});

/** Tells the account. @returns why there was nothing to tell, or null. */
async function book(
  context: AppContext,
  news: PaymentEffect,
): Promise<Result<DropReason | null, Refusal>> {
  if (news.kind === "dropped") return accepted(news.reason);
  const { accounts, identity } = context.get("services");
  const account = accounts(news.identity_id);
  if (news.kind === "reversal" && !news.is_marked) {
    // Another service's people have no account here, and asking for one would make it.
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

/** The service that sent it does not send it again, so the log is the only trace. */
function logDropped({ id, type, news }: PaymentEvent, reason: DropReason): void {
  const { payment_intent_id = null } =
    news.kind === "purchase" ? news.purchase : news.kind === "reversal" ? news.reversal : {};
  const about = { stripe_event_id: id, type, payment_intent_id };
  const event = { event: "payment_event_dropped", reason, ...about };
  // Only a person can give back what was paid to a deleted account.
  if (reason === "account_deleted" && news.kind === "purchase") console.error(event);
  else console.warn(event);
}
