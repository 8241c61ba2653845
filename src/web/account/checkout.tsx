/** `POST /account/buy` (form: `package`, `return_to`, `client`) starts a checkout, and `GET /account/paid` shows its result. */
import * as z from "zod/mini";
import { CheckoutPage } from "./checkout_page.tsx";
import { readPurchaseReturn } from "./purchase_return.ts";
import { paymentsOf } from "../../http/middleware/require_payments.ts";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validOr, validForm, validQuery } from "../../http/validation.ts";

const form = z.object({
  package: z.string("must be a string").check(z.maxLength(64, "is too long")),
  return_to: validOr("", z.string()),
  client: validOr("", z.string()),
});

export const buyCredits = factory.createHandlers(validForm(form), async (context) => {
  const { package: package_id, ...sent } = context.req.valid("form");
  const back = await readPurchaseReturn(context, sent);
  if (!back.ok) return refuseWithPage(context, back.refusal);
  const started = await paymentsOf(context).startCheckout({
    identity_id: context.get("session").identity_id,
    package_id,
    return_to: new URL(paidPath(back.value?.fields ?? {}), context.get("base_url")).href,
    idempotency_key: null,
  });
  return started.ok
    ? context.redirect(started.value, 303)
    : refuseWithPage(context, started.refusal);
});

const query = z.object({
  checkout: validOr("success", z.enum(["success", "cancelled"])),
  checkout_session: validOr("", z.string().check(z.maxLength(255))),
  return_to: validOr("", z.string()),
  client: validOr("", z.string()),
});

/** The path of the page after the checkout; empty values are left out. */
function paidPath(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return `/account/paid?${new URLSearchParams(given).toString()}`;
}

/** The query proves nothing: only the account's own purchase row shows that credits were bought. */
export const showPaid = factory.createHandlers(validQuery(query), async (context) => {
  const { checkout, checkout_session, ...sent } = context.req.valid("query");
  const account = context.get("services").accounts(context.get("session").identity_id);
  const read = await account.readPurchase(callerOf(context), checkout_session);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const returning = await readPurchaseReturn(context, sent);
  // Of a paid purchase, nothing is refused: the page only has no way back.
  const back = returning.ok ? returning.value : null;
  const reload_path = paidPath({ checkout, checkout_session, ...back?.fields });
  const is_cancelled = checkout === "cancelled";
  const state = read.value.purchase !== null ? "paid" : is_cancelled ? "cancelled" : "waiting";
  return context.html(
    <CheckoutPage {...read.value} state={state} reload_path={reload_path} back={back} />,
  );
});
