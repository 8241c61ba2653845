/**
 * `POST /api/admin/payments/reconcile`: compares recent payments with the accounts and books what is missing. A client
 * repeats the call with each `next_cursor`, so an interrupted run can continue.
 */
import * as z from "zod/mini";
import { FIRST_POSITION, readCursor, writeCursor } from "../../../domain/payment_list.ts";
import { accepted, refused } from "../../../domain/result.ts";
import { factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { idempotencyKey, readOptionalBody } from "../../validation.ts";
import { respondOnce } from "../../views.ts";
import { performAction } from "./audited_action.ts";

export const reconcileBody = z.strictObject({
  cursor: z.optional(
    z.string("must be a string").check(
      z.maxLength(300, "must have at most 300 characters"),
      z.refine((text) => readCursor(text) !== null, "must be a next_cursor of this endpoint"),
    ),
  ),
});

export const postReconcilePayments = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, reconcileBody);
  if (!body.ok) return refuse(context, body.refusal);
  const { cursor } = body.value;
  const action = {
    act: "payments.reconcile",
    subject: "all",
    reason: null,
    details: body.value,
    key: idempotencyKey(context),
  };
  // A repeated key compares the same payments again, which is safe: the response then describes the current state.
  const reconciled = await performAction(context, action, async () => {
    const { payment_reconciliation } = context.get("services");
    if (payment_reconciliation === null) return refused({ code: "not_found", missing: "payments" });
    const start = (cursor === undefined ? null : readCursor(cursor)) ?? FIRST_POSITION;
    const done = await payment_reconciliation.run(start, null);
    // What was already booked must be reported. The next call is then refused instead.
    if (done.refusal !== null && done.checked === 0) return refused(done.refusal);
    return accepted({ value: done, replayed: false });
  });
  return respondOnce(context, reconciled, ({ checked, booked, not_booked, next }) => ({
    checked,
    booked,
    not_booked,
    ...(next === null ? {} : { next_cursor: writeCursor(next) }),
  }));
});
