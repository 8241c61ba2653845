/** `GET /api/admin/accounts/{identity_id}/purchases`: an account's purchases, newest first. */
import * as z from "zod/mini";
import { OPERATOR, type PurchaseRecord } from "../../../../account/contract.ts";
import { holderAccount } from "../../../caller/holder.ts";
import { endpoint } from "../../endpoint.ts";
import { refuse } from "../../../refusals.ts";
import { pageLimit, queryText } from "../../../validation.ts";
import { timestamp } from "../../../views.ts";

const listPurchasesQuery = z.object({
  limit: pageLimit,
  cursor: z.optional(
    z.pipe(
      queryText.check(z.regex(/^\d{1,15}_\w{1,255}$/, "must be a next_cursor of this list")),
      z.transform((text) => {
        const [time = ""] = text.split("_", 1);
        const checkout_session_id = text.slice(time.length + 1);
        return { created_at_ms: Number(time), checkout_session_id };
      }),
    ),
  ),
});

function purchaseView(it: PurchaseRecord, payment_url: string | null) {
  return {
    checkout_session_id: it.checkout_session_id,
    payment_intent_id: it.payment_intent_id,
    payment_url,
    package: it.package_id,
    package_name: it.package_name,
    credits: it.credits,
    taken_back: it.taken_back,
    currency: it.currency,
    amount_minor: it.paid_minor,
    refunded_minor: it.refunded_minor,
    at: timestamp(it.created_at_ms),
  };
}

export const listAccountPurchases = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/purchases",
    role: "viewer",
    query: listPurchasesQuery,
  },
  async (context, { query: { limit, cursor: before } }) => {
    const listed = await holderAccount(context).listPurchases(OPERATOR, { before, limit });
    if (!listed.ok) return refuse(context, listed.refusal);
    const { payments } = context.get("services");
    const { rows, next } = listed.value;
    return context.json({
      purchases: rows.map((it) =>
        purchaseView(it, payments?.paymentUrl(it.payment_intent_id) ?? null),
      ),
      ...(next === null
        ? {}
        : { next_cursor: `${next.created_at_ms}_${next.checkout_session_id}` }),
    });
  },
);
