/** Operators' actions on one account, each with its audit record. The API and the console share them. */
import * as z from "zod/mini";
import {
  OPERATOR,
  type AdjustedCredits,
  type ChangedPlan,
  type IdempotencyGuard,
  type OnceAnswer,
  type RefundedJob,
} from "../../../../account/contract.ts";
import { COST_MAX_CREDITS } from "../../../../domain/limits.ts";
import { accepted } from "../../../../domain/result.ts";
import type { AppContext } from "../../../context.ts";
import { appSlug } from "../../../validation.ts";
import { performAction, performActionOnce, reason } from "../audited_action.ts";
import { isOwnAccount, withinSupportLimit } from "../support_limit.ts";
import type { Attempt, OperatorAction } from "../../../../operator/audited_action.ts";
import { holderAccount } from "./holder.ts";

export const creditsBody = z.strictObject({
  amount: z.int("must be a whole number").check(
    z.gte(-COST_MAX_CREDITS, `must be at least -${COST_MAX_CREDITS}`),
    z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
    z.refine((amount) => amount !== 0, "must not be 0"),
  ),
  allow_negative: z.optional(z.boolean("must be true or false")),
  reason,
});
export const refundBody = z.strictObject({
  amount: z.optional(
    z
      .int("must be a whole number")
      .check(
        z.gte(1, "must be at least 1"),
        z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
      ),
  ),
  reason,
});
export const planBody = z.strictObject({ plan: appSlug, reason });
export const reasonBody = z.strictObject({ reason });
export const optionalReasonBody = z.strictObject({ reason: z.optional(reason) });
export const emptyBody = z.strictObject({});
export const revokeQuery = z.object({ reason: z.optional(reason) });

interface ActionOptions {
  readonly reason?: string | undefined;
  /** The idempotency key. */
  readonly key: string | undefined;
}

function accountAction(
  context: AppContext,
  name: string,
  options: ActionOptions,
  details = {},
): OperatorAction {
  const { identity_id } = context.get("holder");
  const { reason: given = null, key } = options;
  const own = isOwnAccount(context) ? { own_account: true } : {};
  const all = { ...details, ...own };
  return { act: `account.${name}`, subject: identity_id, reason: given, details: all, key };
}

/**
 * Adds `amount` to the balance; a negative amount takes credits. Requires a key, so that a retry cannot add twice.
 * The balance falls below zero only with `allow_negative`. Operators with the role support have a daily limit.
 */
export function adjustCredits(
  context: AppContext,
  {
    amount,
    allow_negative,
    reason: note,
    key,
  }: z.output<typeof creditsBody> & { readonly key: string },
): Promise<OnceAnswer<AdjustedCredits>> {
  const change = { amount, allow_negative };
  const action = accountAction(context, "credits", { reason: note, key }, change);
  return performAction(
    context,
    action,
    (guard, attempt) =>
      withinSupportLimit(context, { ...attempt, credits: Math.abs(amount) }, () =>
        holderAccount(context).adjustCredits({ ...change, note }, guard),
      ),
    ({ credits }) => ({ credits: { from: credits - amount, to: credits } }),
  );
}

/**
 * Gives back cost of an ended job: `amount`, or all that is left. Requires a key, and has a daily limit, as {@link
 * adjustCredits}.
 */
export async function refundJob(
  context: AppContext,
  job_id: string,
  { amount, reason: note, key }: z.output<typeof refundBody> & { readonly key: string },
): Promise<OnceAnswer<RefundedJob>> {
  const account = holderAccount(context);
  const refund = { job_id, amount: amount ?? "all that is left" };
  const action = accountAction(context, "job.refund", { reason: note, key }, refund);
  const perform = async (guard: IdempotencyGuard | null, attempt: Attempt) => {
    const job = amount === undefined ? await account.readJob(OPERATOR, job_id) : null;
    // The limit counts credits before the account decides, so the amount must be known by now. If nothing is left, the
    // account refuses 0; otherwise it would refund a job that ends in the meantime, uncounted.
    const left = job?.ok ? job.value.actual_cost - job.value.refunded : 0;
    const credits = amount ?? left;
    return withinSupportLimit(context, { ...attempt, credits }, () =>
      account.refundJob({ job_id, amount: credits, note }, guard),
    );
  };
  // Only the account knows how much was left.
  return performAction(context, action, perform, ({ job, entry, credits }) => ({
    refunded: { from: job.refunded - entry.amount, to: job.refunded },
    credits: { from: credits - entry.amount, to: credits },
  }));
}

export function changePlan(
  context: AppContext,
  { plan, reason: note, key }: z.output<typeof planBody> & ActionOptions,
): Promise<OnceAnswer<ChangedPlan>> {
  const action = accountAction(context, "plan", { reason: note, key }, { plan });
  return performAction(
    context,
    action,
    (guard) => holderAccount(context).changePlan({ plan, note }, guard),
    ({ previous_plan }) =>
      previous_plan === undefined ? null : { plan: { from: previous_plan, to: plan } },
  );
}

export function signOutAccount(
  context: AppContext,
  options: ActionOptions,
): Promise<OnceAnswer<null>> {
  const { identity } = context.get("services");
  const { identity_id } = context.get("holder");
  return performActionOnce(context, accountAction(context, "signout", options), async () =>
    accepted(await identity.signOutEverywhere(identity_id)),
  );
}

/** Sends the account to the read model again. */
export function rebuildAccount(
  context: AppContext,
  options: ActionOptions,
): Promise<OnceAnswer<null>> {
  return performActionOnce(context, accountAction(context, "rebuild", options), async () =>
    accepted(await holderAccount(context).rebuild()),
  );
}

export function suspendAccount(
  context: AppContext,
  options: ActionOptions,
): Promise<OnceAnswer<null>> {
  return performActionOnce(context, accountAction(context, "suspend", options), async () =>
    holderAccount(context).suspend(),
  );
}

export function restoreAccount(
  context: AppContext,
  options: ActionOptions,
): Promise<OnceAnswer<null>> {
  return performActionOnce(context, accountAction(context, "restore", options), async () =>
    holderAccount(context).restore(),
  );
}

export function revokePersonalToken(
  context: AppContext,
  personal_token_id: string,
  options: ActionOptions,
): Promise<OnceAnswer<null>> {
  const action = accountAction(context, "personal_token.revoke", options, { personal_token_id });
  return performActionOnce(context, action, async () =>
    holderAccount(context).revokeAllowance(OPERATOR, { id: personal_token_id }),
  );
}
