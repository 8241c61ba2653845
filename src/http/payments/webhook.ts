/**
 * `POST /webhooks/stripe`: what became of people's payments. 200 to what is done, was done before, or is
 * nothing to us; 400 to what Stripe did not sign just now; 5xx to what is to be sent again.
 */
import { bodyLimit } from "hono/body-limit";
import { WEBHOOK_BODY_MAX_BYTES } from "../../domain/limits.ts";
import { factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";
import { paymentsOf } from "./sold.ts";

export const limitedWebhook = bodyLimit({
  maxSize: WEBHOOK_BODY_MAX_BYTES,
  onError: (context) =>
    refuse(context as AppContext, { code: "body_too_large", limit_bytes: WEBHOOK_BODY_MAX_BYTES }),
});

/** A stranger's message costs one HMAC, and reaches no store and no other server. */
export const receiveWebhook = factory.createHandlers(async (context) => {
  const body = await context.req.text();
  const signature = context.req.header("Stripe-Signature");
  const news = await paymentsOf(context).readWebhook(body, signature, Date.now());
  if (!news.ok) return refuse(context, news.refusal);
  if (news.value === null) return context.json({ ok: true });
  const { identity_id } = news.value;
  const account = context.get("services").accounts(identity_id);
  const done =
    news.value.kind === "purchase"
      ? await account.recordPurchase(news.value.purchase)
      : await account.recordReversal(news.value.reversal);
  if (done.ok) return context.json({ ok: true });
  if (done.refusal.code === "account_unknown") {
    // Deleted since: there is nobody to credit, and sending it again would change nothing. Whoever paid for
    // nothing is owed their money by the operator.
    const { kind } = news.value;
    const { payment_intent_id } = kind === "purchase" ? news.value.purchase : news.value.reversal;
    console.error({ event: "payment_of_deleted_account", kind, payment_intent_id });
    return context.json({ ok: true });
  }
  // Nobody who could mend it reads the answer.
  const request_id = context.get("request_id");
  console.error({ event: "payment_not_booked", request_id, code: done.refusal.code });
  return refuse(context, { code: "internal", request_id });
});
