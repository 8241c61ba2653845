/** `POST /account/buy` (form: `package`) starts a checkout, and `GET /account/paid` shows its result. */
import * as z from "zod/mini";
import { CheckoutPage } from "./checkout_page.tsx";
import { paymentsOf } from "../../http/api/payments/require_payments.ts";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validOr, validForm, validQuery } from "../../http/validation.ts";

const form = z.object({
  package: z.string("must be a string").check(z.maxLength(64, "is too long")),
});

export const buyCredits = factory.createHandlers(validForm(form), async (context) => {
  const started = await paymentsOf(context).startCheckout({
    identity_id: context.get("session").identity_id,
    package_id: context.req.valid("form").package,
    return_url: new URL("/account/paid", context.get("base_url")).href,
    idempotency_key: null,
  });
  return started.ok
    ? context.redirect(started.value, 303)
    : refuseWithPage(context, started.refusal);
});

const query = z.object({
  checkout: validOr("success", z.enum(["success", "cancelled"])),
  checkout_session: validOr("", z.string().check(z.maxLength(255))),
});

/** The query proves nothing: only the account's own purchase row shows that credits were bought. */
export const showPaid = factory.createHandlers(validQuery(query), async (context) => {
  const { checkout, checkout_session } = context.req.valid("query");
  const account = context.get("services").accounts(context.get("session").identity_id);
  const read = await account.readPurchase(callerOf(context), checkout_session);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const reload_path = `/account/paid?${new URLSearchParams({ checkout, checkout_session }).toString()}`;
  const is_cancelled = checkout === "cancelled";
  const state = read.value.purchase !== null ? "paid" : is_cancelled ? "cancelled" : "waiting";
  return context.html(<CheckoutPage {...read.value} state={state} reload_path={reload_path} />);
});
