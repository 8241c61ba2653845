/** `POST` and `DELETE` below `/api/admin/accounts/{identity_id}`: the acts as the API takes and answers them. */
import { factory, type AppContext } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { idempotencyKey, readOptionalBody, validBody, validQuery } from "../../validation.ts";
import { answerDone, answerOnce, entryView } from "../../views.ts";
import {
  adjustCredits,
  changePlan,
  creditsBody,
  emptyBody,
  optionalReasonBody,
  planBody,
  reasonBody,
  rebuildAccount,
  restoreAccount,
  revokePersonalToken,
  revokeQuery,
  signOutAccount,
  suspendAccount,
} from "./account_acts.ts";

const KEY_REQUIRED = "Idempotency-Key is required: credits must not be given twice.";

export const postCredits = factory.createHandlers(validBody(creditsBody), async (context) => {
  const key = idempotencyKey(context);
  if (key === undefined) {
    return refuse(context, { code: "invalid_request", detail: KEY_REQUIRED });
  }
  const answer = await adjustCredits(context, { ...context.req.valid("json"), key });
  return answerOnce(context, answer, ({ entry, credits }) => ({
    entry: entryView(entry),
    credits,
  }));
});

export const postPlan = factory.createHandlers(validBody(planBody), async (context) => {
  const order = { ...context.req.valid("json"), key: idempotencyKey(context) };
  const answer = await changePlan(context, order);
  return answerOnce(context, answer, ({ account }) => ({ ok: true, account }));
});

const orderOf = (context: AppContext, asked: { readonly reason?: string | undefined }) => ({
  ...asked,
  key: idempotencyKey(context),
});

export const postSuspend = factory.createHandlers(validBody(reasonBody), async (context) =>
  answerDone(context, await suspendAccount(context, orderOf(context, context.req.valid("json")))),
);

export const postRestore = factory.createHandlers(validBody(reasonBody), async (context) =>
  answerDone(context, await restoreAccount(context, orderOf(context, context.req.valid("json")))),
);

export const postSignOut = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, optionalReasonBody);
  if (!body.ok) return refuse(context, body.refusal);
  return answerDone(context, await signOutAccount(context, orderOf(context, body.value)));
});

export const postRebuild = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, emptyBody);
  if (!body.ok) return refuse(context, body.refusal);
  return answerDone(context, await rebuildAccount(context, orderOf(context, {})));
});

export const deletePersonalToken = factory.createHandlers(
  validQuery(revokeQuery),
  async (context) => {
    const order = orderOf(context, context.req.valid("query"));
    const id = context.req.param("id") ?? "";
    return answerDone(context, await revokePersonalToken(context, id, order));
  },
);
