/** `GET /api/me`: who the caller is. */
import { isOperator } from "../../../domain/operators.ts";
import { operatorRefusal } from "../../caller/operator.ts";
import { callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";

export const readMe = factory.createHandlers(async (context) => {
  const { accounts, config, identity } = context.get("services");
  const { identity_id } = context.get("caller");
  // First the account: it knows whether a personal access token still lives, and what it may see.
  const plan = await accounts(identity_id).readPlan(callerOf(context));
  if (!plan.ok) return refuse(context, plan.refusal);
  const person = await identity.readPerson(identity_id);
  const profile = {
    identity_id,
    name: person?.name ?? null,
    email: person?.email ?? null,
    email_verified: person?.email_verified ?? false,
  };
  // Of the caller, not the person: an operator's token for an app, or without scope `admin`, operates nothing.
  const vouched_by = person?.vouched_by ?? null;
  const named = isOperator(config.operators, config.signin_options, { ...profile, vouched_by });
  const operator = named && (await operatorRefusal(context)) === null;
  return context.json({ ...profile, plan: plan.value, operator });
});
