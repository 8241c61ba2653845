/**
 * What operators do to one account, each with its line in the audit log: the same by the API and on the
 * console's pages.
 */
import * as z from "zod/mini";
import {
  OPERATOR,
  type AdjustedCredits,
  type ChangedPlan,
  type OnceAnswer,
} from "../../../account/contract.ts";
import { COST_MAX_CREDITS } from "../../../domain/limits.ts";
import { accepted } from "../../../domain/result.ts";
import type { AppContext } from "../../context.ts";
import { appSlug } from "../../validation.ts";
import { subjectAccount } from "./account.ts";
import { act, actOnce, type Act } from "./act.ts";
import { reason } from "./reason.ts";

export const creditsBody = z.strictObject({
  amount: z.int("must be a whole number").check(
    z.gte(-COST_MAX_CREDITS, `must be at least -${COST_MAX_CREDITS}`),
    z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
    z.refine((amount) => amount !== 0, "must not be 0"),
  ),
  allow_negative: z.optional(z.boolean("must be true or false")),
  reason,
});
export const planBody = z.strictObject({ plan: appSlug, reason });
export const reasonBody = z.strictObject({ reason });
export const optionalReasonBody = z.strictObject({ reason: z.optional(reason) });
export const emptyBody = z.strictObject({});
export const revokeQuery = z.object({ reason: z.optional(reason) });

/** Why an operator acts, and under which idempotency key, where there is one. */
interface Order {
  readonly reason?: string | undefined;
  readonly key: string | undefined;
}

function on(context: AppContext, name: string, { reason: why, key }: Order, details = {}): Act {
  const { identity_id } = context.get("subject");
  return { act: `account.${name}`, subject: identity_id, reason: why ?? null, details, key };
}

/**
 * Gives credits, or takes them where negative; under a key, so that nobody is given twice. Taking leaves the
 * balance below zero only with `allow_negative`.
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
  return act(context, on(context, "credits", { reason: note, key }, change), (guard) =>
    subjectAccount(context).adjustCredits({ ...change, note }, guard),
  );
}

export function changePlan(
  context: AppContext,
  { plan, reason: note, key }: z.output<typeof planBody> & Order,
): Promise<OnceAnswer<ChangedPlan>> {
  return act(context, on(context, "plan", { reason: note, key }, { plan }), (guard) =>
    subjectAccount(context).changePlan({ plan, note }, guard),
  );
}

export function signOutAccount(context: AppContext, order: Order): Promise<OnceAnswer<null>> {
  const { identity } = context.get("services");
  const { identity_id } = context.get("subject");
  return actOnce(context, on(context, "signout", order), async () =>
    accepted(await identity.signOutEverywhere(identity_id)),
  );
}

/** Sends the account to the read model anew. */
export function rebuildAccount(context: AppContext, order: Order): Promise<OnceAnswer<null>> {
  return actOnce(context, on(context, "rebuild", order), async () =>
    accepted(await subjectAccount(context).rebuild()),
  );
}

export function suspendAccount(context: AppContext, order: Order): Promise<OnceAnswer<null>> {
  return actOnce(context, on(context, "suspend", order), async () =>
    subjectAccount(context).suspend(),
  );
}

export function restoreAccount(context: AppContext, order: Order): Promise<OnceAnswer<null>> {
  return actOnce(context, on(context, "restore", order), async () =>
    subjectAccount(context).restore(),
  );
}

export function revokePersonalToken(
  context: AppContext,
  personal_token_id: string,
  order: Order,
): Promise<OnceAnswer<null>> {
  const asked = on(context, "personal_token.revoke", order, { personal_token_id });
  return actOnce(context, asked, async () =>
    subjectAccount(context).revokePersonalToken(OPERATOR, { id: personal_token_id }),
  );
}
