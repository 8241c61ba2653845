/** The holder and the account that an operator's URL names. */
import type { Refusal } from "../../domain/refusals.ts";
import type { Result } from "../../domain/result.ts";
import type { Person } from "../../identity/port.ts";
import { findPerson, findToChange } from "../../operator/find_person.ts";
import { factory, type AppContext } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";
import { actingOf } from "./acting.ts";
import { neededRole } from "./operator_roles.ts";

/**
 * The person who has the identity or, if nobody else does, the e-mail address. Only the identity provider is queried: a
 * call to the account's object would create one for an identity that does not exist.
 */
export async function findHolder(context: AppContext): Promise<Result<Person, Refusal>> {
  const named = context.req.param("identity_id") ?? "";
  return neededRole(context) === "viewer"
    ? findPerson(context.get("services").identity, named)
    : findToChange(await actingOf(context), named);
}

/** Requires that {@link findHolder} finds a person. */
export const requireHolder = factory.createMiddleware(async (context, next) => {
  const holder = await findHolder(context);
  if (!holder.ok) return refuseByAccept(context, holder.refusal);
  context.set("holder", holder.value);
  return next();
});

/** The holder's account. Only after {@link requireHolder}. */
export function holderAccount(context: AppContext) {
  return context.get("services").accounts(context.get("holder").identity_id);
}

/** The holder's identity. Only after {@link requireHolder}. */
export const holderId = (context: AppContext): string => context.get("holder").identity_id;

/** The job that the URL names. */
export function jobIdOf(context: AppContext): string {
  return (context.req.param("job_id") ?? "").toLowerCase();
}
