/** The holder and the account that an operator's URL names. */
import { factory, type AppContext } from "../../../context.ts";
import { refuseByAccept } from "../../../refusal_page.ts";

/**
 * Requires that a person has the identity. Only the identity provider is queried: a call to the account's object
 * would create one for an identity that does not exist.
 */
export const requireHolder = factory.createMiddleware(async (context, next) => {
  const identity_id = context.req.param("identity_id") ?? "";
  const holder = await context.get("services").identity.readPerson(identity_id);
  if (holder === null) return refuseByAccept(context, { code: "account_unknown" });
  context.set("holder", holder);
  return next();
});

/** The holder's account. Only after {@link requireHolder}. */
export function holderAccount(context: AppContext) {
  return context.get("services").accounts(context.get("holder").identity_id);
}
