/** `POST /api/checkout`: opens a checkout of a package, and returns its URL. */
import * as z from "zod/mini";
import { REDIRECT_MAX_LENGTH } from "../../../domain/limits.ts";
import { shownAddress } from "../../../domain/origins.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { allowedRedirect } from "../../middleware/origins.ts";
import { refuse } from "../../refusals.ts";
import { idempotencyGuard, validBody } from "../../validation.ts";
import { paymentsOf } from "./require_payments.ts";

export const checkoutBody = z.object({
  package: z
    .string("must be a string")
    .check(z.minLength(1, "must not be empty"), z.maxLength(64, "must have at most 64 characters")),
  return_url: z
    .string("must be a string")
    .check(z.maxLength(REDIRECT_MAX_LENGTH, `must have at most ${REDIRECT_MAX_LENGTH} characters`)),
});

/** Writes nothing to our stores: an unpaid checkout leaves no trace here. */
export const startCheckout = factory.createHandlers(validBody(checkoutBody), async (context) => {
  const body = context.req.valid("json");
  const guard = await idempotencyGuard(context, body);
  if (!guard.ok) return refuse(context, guard.refusal);
  const return_url = await allowedRedirect(context, body.return_url);
  if (return_url === null) {
    const address = shownAddress(body.return_url);
    return refuse(context, { code: "return_url_not_allowed", address });
  }
  const buyer = await accountOf(context).checkBuyer(callerOf(context));
  if (!buyer.ok) return refuse(context, buyer.refusal);
  const started = await paymentsOf(context).startCheckout({
    identity_id: context.get("caller").identity_id,
    package_id: body.package,
    return_url: return_url.href,
    idempotency_key: guard.value?.key ?? null,
  });
  if (!started.ok) return refuse(context, started.refusal);
  return context.json({ url: started.value });
});
