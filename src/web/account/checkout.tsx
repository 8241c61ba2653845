/** `POST /account/buy` (form: `package`, `return_url`) starts a checkout, and `GET /account/paid` shows its result. */
import * as z from "zod/mini";
import { CheckoutPage } from "./checkout_page.tsx";
import { readReturnUrl } from "./back_to_app.tsx";
import { paymentsOf } from "../../http/api/payments/require_payments.ts";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validOr, validForm, validQuery } from "../../http/validation.ts";

const form = z.object({
  package: z.string("must be a string").check(z.maxLength(64, "is too long")),
  return_url: validOr("", z.string()),
});

export const buyCredits = factory.createHandlers(validForm(form), async (context) => {
  const { package: package_id, return_url } = context.req.valid("form");
  const back_url = await readReturnUrl(context, return_url);
  const started = await paymentsOf(context).startCheckout({
    identity_id: context.get("session").identity_id,
    package_id,
    return_url: new URL(paidPath({ return_url: back_url?.href ?? "" }), context.get("base_url"))
      .href,
    idempotency_key: null,
  });
  return started.ok
    ? context.redirect(started.value, 303)
    : refuseWithPage(context, started.refusal);
});

const query = z.object({
  checkout: validOr("success", z.enum(["success", "cancelled"])),
  checkout_session: validOr("", z.string().check(z.maxLength(255))),
  return_url: validOr("", z.string()),
});

/** The path of the page after the checkout; empty values are left out. */
function paidPath(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return `/account/paid?${new URLSearchParams(given).toString()}`;
}

/** The query proves nothing: only the account's own purchase row shows that credits were bought. */
export const showPaid = factory.createHandlers(validQuery(query), async (context) => {
  const { checkout, checkout_session, return_url } = context.req.valid("query");
  const account = context.get("services").accounts(context.get("session").identity_id);
  const read = await account.readPurchase(callerOf(context), checkout_session);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const back_url = await readReturnUrl(context, return_url);
  const reload_path = paidPath({ checkout, checkout_session, return_url: back_url?.href ?? "" });
  const is_cancelled = checkout === "cancelled";
  const state = read.value.purchase !== null ? "paid" : is_cancelled ? "cancelled" : "waiting";
  return context.html(
    <CheckoutPage {...read.value} state={state} reload_path={reload_path} return_url={back_url} />,
  );
});
