/** The holder and the account that an operator's URL names. */
import { includesRole } from "../../../../domain/operators.ts";
import type { Refusal } from "../../../../domain/refusals.ts";
import type { Person } from "../../../../identity/port.ts";
import { neededRole } from "../../../caller/operator_roles.ts";
import { operatorRightsOf } from "../../../caller/operator.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuseByAccept } from "../../../refusal_page.ts";
import { resolveIdentity } from "./identity.ts";

/**
 * Requires that a person has the identity or, if nobody else does, the e-mail address. Only the identity provider is
 * queried: a call to the account's object would create one for an identity that does not exist.
 */
export const requireHolder = factory.createMiddleware(async (context, next) => {
  const named = context.req.param("identity_id") ?? "";
  const resolved = await resolveIdentity(context, named);
  if (!resolved.ok) return refuseByAccept(context, resolved.refusal);
  const holder = await context.get("services").identity.readPerson(resolved.value);
  if (holder === null) return refuseByAccept(context, { code: "account_unknown" });
  const refusal = whyNotNamed(context, named, holder) ?? whyNotChange(context, holder);
  if (refusal !== null) return refuseByAccept(context, refusal);
  context.set("holder", holder);
  return next();
});

/**
 * Refuses a change of an account that an unverified address names: anybody may have written the address of the person
 * whom the operator means. Null if the caller may change it.
 */
function whyNotNamed(context: AppContext, named: string, holder: Person): Refusal | null {
  const is_certain = named === holder.identity_id || holder.email_verified;
  if (is_certain || neededRole(context) === "viewer") return null;
  const detail = `Nobody verified that this e-mail address belongs to the person with the identity ${holder.identity_id}. Read the account; if it is the right one, name it by this identity.`;
  return { code: "invalid_request", detail };
}

/**
 * Refuses a change of the account of an operator with a higher role: otherwise someone with the role support could lock out
 * every admin. Null if the caller may change it. Also for actions on several accounts.
 */
export function whyNotChange(context: AppContext, holder: Person): Refusal | null {
  if (neededRole(context) === "viewer") return null;
  const theirs = operatorRightsOf(context, holder);
  const own = context.get("operator") ?? null;
  if (theirs === null || (own !== null && includesRole(own.role, theirs.role))) return null;
  return { code: "role_required", role: theirs.role };
}

/** The holder's account. Only after {@link requireHolder}. */
export function holderAccount(context: AppContext) {
  return context.get("services").accounts(context.get("holder").identity_id);
}

/** The job that the URL names. */
export function jobIdOf(context: AppContext): string {
  return (context.req.param("job_id") ?? "").toLowerCase();
}
