/** `GET /api/me`: the person and the rights of the caller. */
import { isOperator } from "../../../domain/operators.ts";
import { operatorRefusal } from "../../caller/operator.ts";
import { callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";

export const readMe = factory.createHandlers(async (context) => {
  const { accounts, config, identity } = context.get("services");
  const { identity_id } = context.get("caller");
  // The account first: it checks whether a personal access token is live and may read personal data.
  const plan = await accounts(identity_id).readPlan(callerOf(context));
  if (!plan.ok) return refuse(context, plan.refusal);
  const person = await identity.readPerson(identity_id);
  const profile = {
    identity_id,
    name: person?.name ?? null,
    email: person?.email ?? null,
    email_verified: person?.email_verified ?? false,
  };
  // The right of this caller, not of the person: an operator's token without the scope `admin` has none.
  const vouched_by = person?.vouched_by ?? null;
  const named = isOperator(config.operators, config.signin_options, { ...profile, vouched_by });
  const operator = named && (await operatorRefusal(context)) === null;
  return context.json({ ...profile, plan: plan.value, operator });
});
