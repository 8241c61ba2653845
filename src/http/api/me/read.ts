/** `GET /api/me`: the person and the rights of the caller. */
import { identifyOperator, operatorRightsOf } from "../../caller/operator.ts";
import { callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";

export const readMe = endpoint({ at: "GET /api/me", caller: "user" }, async (context) => {
  const { accounts, identity } = context.get("services");
  const { identity_id } = context.get("caller");
  // The account first: it checks whether a personal access token is live and may read personal data.
  const profile = await accounts(identity_id).readProfile(callerOf(context));
  if (!profile.ok) return refuse(context, profile.refusal);
  const { plan, sees } = profile.value;
  const person = await identity.readPerson(identity_id);
  // The right of this caller, not of the person: an operator's token without the scope `admin` has none.
  const { name = null, email = null, email_verified = false, vouched_by = null } = person ?? {};
  const named = operatorRightsOf(context, { identity_id, email, vouched_by }) !== null;
  const identified = named ? await identifyOperator(context) : null;
  const rights = identified?.ok === true ? { operator: true, role: identified.value.role } : null;
  return context.json({
    identity_id,
    name: sees.name ? name : null,
    email: sees.email ? email : null,
    email_verified: sees.email ? email_verified : null,
    plan,
    ...(rights ?? { operator: false }),
  });
});
