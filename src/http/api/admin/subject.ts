/** The account that an operator's address names. */
import { factory } from "../../context.ts";
import { refuseByAccept } from "../../refusal_page.ts";

/**
 * Requires that somebody has the identity. Asked of the identity provider alone: a question about an
 * identity nobody has must leave no trace, and an account's object would be made by it.
 */
export const requireSubject = factory.createMiddleware(async (context, next) => {
  const identity_id = context.req.param("identity_id") ?? "";
  const person = await context.get("services").identity.readPerson(identity_id);
  if (person === null) return refuseByAccept(context, { code: "account_unknown" });
  context.set("subject", person);
  return next();
});
