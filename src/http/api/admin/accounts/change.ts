/** `POST` and `DELETE` below `/api/admin/accounts/{identity_id}`: operators' actions on one account. */
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, readOptionalBody, validBody, validQuery } from "../../../validation.ts";
import { entryView, jobView, respondDone, respondOnce } from "../../../views.ts";
import {
  adjustCredits,
  changePlan,
  creditsBody,
  emptyBody,
  optionalReasonBody,
  planBody,
  reasonBody,
  rebuildAccount,
  refundBody,
  refundJob,
  restoreAccount,
  revokePersonalToken,
  revokeQuery,
  signOutAccount,
  suspendAccount,
} from "./actions.ts";
import { jobIdOf } from "./holder.ts";

const KEY_REQUIRED =
  "The header Idempotency-Key is required, so that a retry does not change the credits twice.";

const refuseWithoutKey = (context: AppContext): Response =>
  refuse(context, { code: "invalid_request", detail: KEY_REQUIRED });

export const postCredits = factory.createHandlers(validBody(creditsBody), async (context) => {
  const key = idempotencyKey(context);
  if (key === undefined) return refuseWithoutKey(context);
  const adjusted = await adjustCredits(context, { ...context.req.valid("json"), key });
  return respondOnce(context, adjusted, ({ entry, credits }) => ({
    entry: entryView(entry),
    credits,
  }));
});

export const postJobRefund = factory.createHandlers(validBody(refundBody), async (context) => {
  const key = idempotencyKey(context);
  if (key === undefined) return refuseWithoutKey(context);
  const request = { ...context.req.valid("json"), key };
  const refunded = await refundJob(context, jobIdOf(context), request);
  return respondOnce(context, refunded, ({ job, entry, credits }) => ({
    job: jobView(job),
    entry: entryView(entry),
    credits,
  }));
});

export const postPlan = factory.createHandlers(validBody(planBody), async (context) => {
  const options = { ...context.req.valid("json"), key: idempotencyKey(context) };
  const changed = await changePlan(context, options);
  return respondOnce(context, changed, ({ account }) => ({ ok: true, account }));
});

const withKey = (context: AppContext, body: { readonly reason?: string | undefined }) => ({
  ...body,
  key: idempotencyKey(context),
});

export const postSuspend = factory.createHandlers(validBody(reasonBody), async (context) =>
  respondDone(context, await suspendAccount(context, withKey(context, context.req.valid("json")))),
);

export const postRestore = factory.createHandlers(validBody(reasonBody), async (context) =>
  respondDone(context, await restoreAccount(context, withKey(context, context.req.valid("json")))),
);

export const postSignOut = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, optionalReasonBody);
  if (!body.ok) return refuse(context, body.refusal);
  return respondDone(context, await signOutAccount(context, withKey(context, body.value)));
});

export const postRebuild = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, emptyBody);
  if (!body.ok) return refuse(context, body.refusal);
  return respondDone(context, await rebuildAccount(context, withKey(context, {})));
});

export const deletePersonalToken = factory.createHandlers(
  validQuery(revokeQuery),
  async (context) => {
    const options = withKey(context, context.req.valid("query"));
    const id = context.req.param("id") ?? "";
    return respondDone(context, await revokePersonalToken(context, id, options));
  },
);
