/** `POST /api/checkout`: opens a checkout of a package, and returns its URL. */
import * as z from "zod/mini";
import { REDIRECT_MAX_LENGTH } from "../../../domain/limits.ts";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { readReturnTo } from "../../allowances/return_to.ts";
import { refuse } from "../../refusals.ts";
import { guardOf } from "../../../domain/idempotency_guard.ts";
import { paymentsOf } from "../../middleware/require_payments.ts";

const checkoutBody = z.object({
  package: z
    .string("must be a string")
    .check(z.minLength(1, "must not be empty"), z.maxLength(64, "must have at most 64 characters")),
  return_to: z
    .string("must be a string")
    .check(z.maxLength(REDIRECT_MAX_LENGTH, `must have at most ${REDIRECT_MAX_LENGTH} characters`)),
});

/** Writes nothing to our stores: an unpaid checkout leaves no trace here. */
export const startCheckout = endpoint(
  {
    at: "POST /api/checkout",
    caller: "user",
    payments: true,
    rate: "checkouts",
    key: "accepted",
    body: checkoutBody,
    refusals: [
      "package_unknown",
      "return_to_not_allowed",
      "payments_unavailable",
      "payments_refused",
    ],
  },
  async (context, { body, key }) => {
    const guard = await guardOf(key, body);
    if (!guard.ok) return refuse(context, guard.refusal);
    const anywhere = { app_slug: null, client_id: null };
    const return_to = await readReturnTo(context, body.return_to, anywhere);
    if (!return_to.ok) return refuse(context, return_to.refusal);
    const buyer = await accountOf(context).checkBuyer(callerOf(context));
    if (!buyer.ok) return refuse(context, buyer.refusal);
    const started = await paymentsOf(context).startCheckout({
      identity_id: context.get("caller").identity_id,
      package_id: body.package,
      return_to: return_to.value.href,
      idempotency_key: guard.value?.key ?? null,
    });
    if (!started.ok) return refuse(context, started.refusal);
    return context.json({ url: started.value });
  },
);
