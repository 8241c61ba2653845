/** `GET /api/me`: the person and the rights of the caller. */
import { identifyOperator, operatorRightsOf } from "../../caller/operator.ts";
import { callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";

export const readMe = factory.createHandlers(async (context) => {
  const { accounts, identity } = context.get("services");
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
  const named = operatorRightsOf(context, { ...profile, vouched_by }) !== null;
  const identified = named ? await identifyOperator(context) : null;
  const rights = identified?.ok === true ? { operator: true, role: identified.value.role } : null;
  return context.json({ ...profile, plan: plan.value, ...(rights ?? { operator: false }) });
});
