/**
 * Compares recent payments with the accounts and books those that are missing. A client repeats the call with each
 * `next_cursor`, so an interrupted run can continue.
 */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import { FIRST_POSITION, readCursor } from "../domain/payment_list.ts";
import { accepted, refused } from "../domain/result.ts";
import type { ReconciledPayments } from "../operations/payment_reconciliation.ts";
import type { Acting } from "./acting.ts";
import { performAction } from "./audited_action.ts";

export const reconcileBody = z.strictObject({
  cursor: z.optional(
    z.string("must be a string").check(
      z.maxLength(300, "must have at most 300 characters"),
      z.refine((text) => readCursor(text) !== null, "must be a next_cursor of this endpoint"),
    ),
  ),
});

export function reconcilePayments(
  acting: Acting,
  body: z.output<typeof reconcileBody>,
  key: string | undefined,
): Promise<OnceAnswer<ReconciledPayments>> {
  const action = { act: "payments.reconcile", subject: "all", details: body, key };
  // A repeated key compares the same payments again, which is safe: the response then describes the current state.
  return performAction(acting, action, async () => {
    const { payment_reconciliation } = acting.services;
    if (payment_reconciliation === null) return refused({ code: "not_found", missing: "payments" });
    const start = (body.cursor === undefined ? null : readCursor(body.cursor)) ?? FIRST_POSITION;
    const done = await payment_reconciliation.run(start, null);
    // Payments that are already booked must be reported. The next call is then refused instead.
    if (done.refusal !== null && done.checked === 0) return refused(done.refusal);
    return accepted({ value: done, replayed: false });
  });
}
