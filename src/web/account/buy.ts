/** `POST /account/buy` (form: `package`): leaves for the checkout, to come back to `/account/paid`. */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { paymentsOf } from "../../http/api/payments/require_payments.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";

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
