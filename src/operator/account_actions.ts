/** Operators' actions on one account, each with its audit record. */
import * as z from "zod/mini";
import {
  OPERATOR,
  type AdjustedCredits,
  type ChangedPlan,
  type IdempotencyGuard,
  type OnceAnswer,
  type RefundedJob,
} from "../account/contract.ts";
import { isCurrency } from "../domain/currency.ts";
import { COST_MAX_CREDITS } from "../domain/limits.ts";
import { accepted } from "../domain/result.ts";
import { appSlug, dateTime, lotApps } from "../fields.ts";
import { timestamp } from "../domain/wire.ts";
import type { Acting } from "./acting.ts";
import {
  performAction,
  performActionOnce,
  reason,
  textForPeople,
  type ActionRequest,
  type Attempt,
  type OperatorAction,
} from "./audited_action.ts";
import { withinSupportLimit } from "./support_limit.ts";

const positive = z
  .int("must be a whole number")
  .check(
    z.gte(1, "must be at least 1"),
    z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
  );

/** The terms of given credits, and what was paid for them. */
const terms_fields = {
  // The account refuses the past, because a request that is repeated with its key gets its first response.
  expires_at: z.optional(dateTime),
  app_slugs: z.optional(lotApps),
  bought: z.optional(z.boolean("must be true or false")),
  paid_minor: z.optional(positive),
  currency: z.optional(
    z
      .string()
      .check(z.refine(isCurrency, "must be the code of a currency in lower case, such as eur")),
  ),
};

export const creditsBody = z
  .strictObject({
    amount: z.int("must be a whole number").check(
      z.gte(-COST_MAX_CREDITS, `must be at least -${COST_MAX_CREDITS}`),
      z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
      z.refine((amount) => amount !== 0, "must not be 0"),
    ),
    allow_negative: z.optional(z.boolean("must be true or false")),
    ...terms_fields,
    reason,
  })
  .check(
    z.refine(
      ({ amount, expires_at, app_slugs, bought }) =>
        amount > 0 || (expires_at ?? app_slugs ?? bought) === undefined,
      {
        path: ["amount"],
        message:
          "must be above 0 with expires_at, app_slugs or bought: only given credits have terms",
      },
    ),
    z.refine(
      ({ paid_minor, currency, bought }) =>
        paid_minor === undefined
          ? currency === undefined
          : currency !== undefined && bought === true,
      {
        path: ["paid_minor"],
        message: "must be sent together with currency and bought: true",
      },
    ),
  );
export const refundBody = z.strictObject({ amount: z.optional(positive), reason });
export const planBody = z.strictObject({
  plan: appSlug,
  anchor: z.optional(
    dateTime.check(z.refine((at_ms) => at_ms <= Date.now(), "must not be in the future")),
  ),
  reason,
});
export const suspendBody = z.strictObject({ reason, public_reason: z.optional(textForPeople) });
export const emptyBody = z.strictObject({});

/** The credits change once only if the request has a key. */
interface Keyed {
  readonly key: string;
}

function accountAction(
  { actor }: Acting,
  identity_id: string,
  name: string,
  request: ActionRequest,
  details = {},
): OperatorAction {
  const own = actor.id === identity_id ? { own_account: true } : {};
  const all = { ...details, ...own };
  return { act: `account.${name}`, subject: identity_id, details: all, ...request };
}

/**
 * Adds `amount` to the balance; a negative amount takes credits. Requires a key, so that a retry cannot add twice.
 * The balance falls below zero only with `allow_negative`. Operators with the role support have a daily limit.
 */
export function adjustCredits(
  acting: Acting,
  identity_id: string,
  { reason: note, key, ...body }: z.output<typeof creditsBody> & Keyed,
): Promise<OnceAnswer<AdjustedCredits>> {
  const { amount, allow_negative, expires_at: expires_at_ms = null } = body;
  const { app_slugs = null, bought = false, paid_minor, currency } = body;
  const terms = { expires_at_ms, app_slugs, bought };
  const price =
    paid_minor === undefined || currency === undefined ? undefined : { paid_minor, currency };
  const change = { amount, allow_negative, ...(amount > 0 ? { terms, price } : {}) };
  const given = {
    ...(expires_at_ms === null ? {} : { expires_at: timestamp(expires_at_ms) }),
    ...(app_slugs === null ? {} : { app_slugs }),
    ...(bought ? { bought } : {}),
    ...price,
  };
  const details = { amount, allow_negative, ...given };
  const action = accountAction(acting, identity_id, "credits", { reason: note, key }, details);
  return performAction(
    acting,
    action,
    (guard, attempt) =>
      withinSupportLimit(acting, identity_id, { ...attempt, credits: Math.abs(amount) }, () =>
        acting.services.accounts(identity_id).adjustCredits({ ...change, note }, guard),
      ),
    ({ credits }) => ({ credits: { from: credits - amount, to: credits } }),
  );
}

/**
 * Gives back cost of an ended job: `amount`, or all that is left. Requires a key, and has a daily limit, as {@link
 * adjustCredits}.
 */
export async function refundJob(
  acting: Acting,
  identity_id: string,
  job_id: string,
  { amount, reason: note, key }: z.output<typeof refundBody> & Keyed,
): Promise<OnceAnswer<RefundedJob>> {
  const account = acting.services.accounts(identity_id);
  const refund = { job_id, amount: amount ?? "all that is left" };
  const action = accountAction(acting, identity_id, "job.refund", { reason: note, key }, refund);
  const perform = async (guard: IdempotencyGuard | null, attempt: Attempt) => {
    const job = amount === undefined ? await account.readJob(OPERATOR, job_id) : null;
    // The limit counts credits before the account decides, so the amount must be known by now. If nothing is left, the
    // account refuses 0; otherwise it would refund a job that ends in the meantime, uncounted.
    const left = job?.ok ? job.value.actual_cost - job.value.refunded : 0;
    const credits = amount ?? left;
    return withinSupportLimit(acting, identity_id, { ...attempt, credits }, () =>
      account.refundJob({ job_id, amount: credits, note }, guard),
    );
  };
  // Only the account knows how much was left.
  return performAction(acting, action, perform, ({ job, entry, credits }) => ({
    refunded: { from: job.refunded - entry.amount, to: job.refunded },
    credits: { from: credits - entry.amount, to: credits },
  }));
}

/** Sets the plan, and brings its credits. `anchor`: where its periods are counted from. */
export function setPlan(
  acting: Acting,
  identity_id: string,
  { plan, anchor: anchor_ms, reason: note, key }: z.output<typeof planBody> & ActionRequest,
): Promise<OnceAnswer<ChangedPlan>> {
  const anchor = anchor_ms === undefined ? {} : { anchor: timestamp(anchor_ms) };
  const details = { plan, ...anchor };
  const action = accountAction(acting, identity_id, "plan", { reason: note, key }, details);
  return performAction(
    acting,
    action,
    async (guard) => {
      const record = await acting.services.plan_records.find(plan);
      const { version = 0, name = "", recurring = [] } = record ?? {};
      const rules = record === null ? undefined : { version, name, recurring };
      const change = { plan, note, rules, anchor_ms };
      return acting.services.accounts(identity_id).changePlan(change, guard);
    },
    ({ previous_plan }) =>
      previous_plan === undefined ? null : { plan: { from: previous_plan, to: plan } },
  );
}

/** An action on an account whose only field is a reason. */
export type AccountAction = (
  acting: Acting,
  identity_id: string,
  request: ActionRequest,
) => Promise<OnceAnswer<null>>;

/** Ends all sessions. */
export const signOut: AccountAction = (acting, identity_id, request) =>
  performActionOnce(acting, accountAction(acting, identity_id, "signout", request), async () =>
    accepted(await acting.services.identity.signOutEverywhere(identity_id)),
  );

/** Sends the account to the read model again. */
export const rebuild: AccountAction = (acting, identity_id, request) =>
  performActionOnce(acting, accountAction(acting, identity_id, "rebuild", request), async () =>
    accepted(await acting.services.accounts(identity_id).rebuild()),
  );

/** Keeps the holder out. `public_reason`: why, as the holder reads it. */
export function suspend(
  acting: Acting,
  identity_id: string,
  { public_reason, ...request }: z.output<typeof suspendBody> & ActionRequest,
): Promise<OnceAnswer<null>> {
  const action = accountAction(acting, identity_id, "suspend", request, { public_reason });
  return performActionOnce(acting, action, () =>
    acting.services.accounts(identity_id).suspend({ public_reason }),
  );
}

export const restore: AccountAction = (acting, identity_id, request) =>
  performActionOnce(acting, accountAction(acting, identity_id, "restore", request), () =>
    acting.services.accounts(identity_id).restore(),
  );

export function revokeToken(
  acting: Acting,
  identity_id: string,
  personal_token_id: string,
  request: ActionRequest,
): Promise<OnceAnswer<null>> {
  const details = { personal_token_id };
  const action = accountAction(acting, identity_id, "personal_token.revoke", request, details);
  return performActionOnce(acting, action, () =>
    acting.services.accounts(identity_id).revokeAllowance(OPERATOR, { id: personal_token_id }),
  );
}
