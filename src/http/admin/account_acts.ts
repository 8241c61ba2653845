/** What operators do to one account, each with its line in the audit log. */
import * as z from "zod";
import { SERVICE } from "../../account/contract.ts";
import { COST_MAX_CREDITS, REASON_MAX_LENGTH } from "../../domain/limits.ts";
import { accepted } from "../../domain/result.ts";
import { factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";
import { appSlug, readOptionalBody, validBody, validQuery } from "../validation.ts";
import { answerOnce, entryView } from "../views.ts";
import { subjectAccount } from "./account.ts";
import { act, actAndConfirm, type Act } from "./act.ts";

const reason = z
  .string("must be a string")
  .trim()
  .min(1, "must say why")
  .max(REASON_MAX_LENGTH, `must be at most ${REASON_MAX_LENGTH} characters`);

export const creditsBody = z.strictObject({
  amount: z
    .int("must be a whole number")
    .min(-COST_MAX_CREDITS, `must be at least -${COST_MAX_CREDITS}`)
    .max(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`)
    .refine((amount) => amount !== 0, "must not be 0"),
  reason,
});
export const planBody = z.strictObject({ plan: appSlug, reason });
export const reasonBody = z.strictObject({ reason });
export const optionalReasonBody = z.strictObject({ reason: reason.optional() });
export const emptyBody = z.strictObject({});
export const revokeQuery = z.object({ reason: reason.optional() });

const KEY_REQUIRED = "Idempotency-Key is required: credits must not be given twice.";

function actOn(context: AppContext, name: string, why: string | undefined, details = {}): Act {
  const { identity_id } = context.get("subject");
  return { act: `account.${name}`, subject: identity_id, reason: why ?? null, details };
}

export const adjustCredits = factory.createHandlers(validBody(creditsBody), async (context) => {
  const { amount, reason: note } = context.req.valid("json");
  if (context.req.header("Idempotency-Key") === undefined) {
    return refuse(context, { code: "invalid_request", detail: KEY_REQUIRED });
  }
  const answer = await act(context, actOn(context, "credits", note, { amount }), (guard) =>
    subjectAccount(context).adjustCredits({ amount, note }, guard),
  );
  return answerOnce(context, answer, ({ entry, credits }) => ({
    entry: entryView(entry),
    credits,
  }));
});

export const changePlan = factory.createHandlers(validBody(planBody), async (context) => {
  const { plan, reason: note } = context.req.valid("json");
  const answer = await act(context, actOn(context, "plan", note, { plan }), (guard) =>
    subjectAccount(context).changePlan({ plan, note }, guard),
  );
  return answerOnce(context, answer, ({ account }) => ({ ok: true, account }));
});

export const signOutAccount = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, optionalReasonBody);
  if (!body.ok) return refuse(context, body.refusal);
  const { identity } = context.get("services");
  const { identity_id } = context.get("subject");
  return actAndConfirm(context, actOn(context, "signout", body.value.reason), async () =>
    accepted(await identity.signOutEverywhere(identity_id)),
  );
});

export const rebuildAccount = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, emptyBody);
  if (!body.ok) return refuse(context, body.refusal);
  return actAndConfirm(context, actOn(context, "rebuild", undefined), async () =>
    accepted(await subjectAccount(context).rebuild()),
  );
});

export const suspendAccount = factory.createHandlers(validBody(reasonBody), (context) =>
  actAndConfirm(context, actOn(context, "suspend", context.req.valid("json").reason), async () =>
    subjectAccount(context).suspend(),
  ),
);

export const restoreAccount = factory.createHandlers(validBody(reasonBody), (context) =>
  actAndConfirm(context, actOn(context, "restore", context.req.valid("json").reason), async () =>
    subjectAccount(context).restore(),
  ),
);

export const revokePersonalToken = factory.createHandlers(validQuery(revokeQuery), (context) => {
  const personal_token_id = context.req.param("id") ?? "";
  const { reason: why } = context.req.valid("query");
  const asked = actOn(context, "personal_token.revoke", why, { personal_token_id });
  return actAndConfirm(context, asked, async () =>
    subjectAccount(context).revokePersonalToken(SERVICE, { id: personal_token_id }),
  );
});
