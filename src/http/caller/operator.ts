/** Who may operate the service: the one door before `/api/admin` and the console. */
import { isOperator } from "../../domain/operators.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { callerOf, factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";

/**
 * Lets operators through: by the session cookie from a page of our own origin, or by a personal token of scope
 * `admin`. After `authenticate`. Every other caller gets the same response, whatever the path or id.
 */
export const requireOperator = factory.createMiddleware(async (context, next) => {
  const refusal = await operatorRefusal(context);
  return refusal === null ? next() : refuse(context, refusal);
});

/**
 * Why the principal may not operate; null where they may. What a session token says is not believed for
 * its quarter of an hour here, and the account says whether its holder is let in at all.
 */
export async function operatorRefusal(context: AppContext): Promise<Refusal | null> {
  const { accounts, identity } = context.get("services");
  const { identity_id, proof } = context.get("caller");
  if (isForeignSession(context)) return { code: "not_operator", reason: "foreign_session" };
  if (proof.kind === "session" && !(await identity.sessionIsAlive(proof.session_id, identity_id))) {
    return { code: "unauthorized", reason: "session_ended" };
  }
  const admitted = await accounts(identity_id).checkOperator(callerOf(context));
  if (!admitted.ok) return admitted.refusal;
  return (await hasOperatorRights(context, identity_id)) ? null : { code: "not_operator" };
}

/**
 * Whether the caller acts by a session in any way but our own pages' cookie. An operator's session token reaches
 * every app that the operator visits, and their cookie every allowed origin, so neither operates the service.
 */
export function isForeignSession(context: AppContext): boolean {
  const { proof, via } = context.get("caller");
  if (proof.kind !== "session") return false;
  return via !== "cookie" || proof.azp !== context.get("base_url");
}

/** Whether a person operates the service, by what the identity provider says of them now. */
export async function hasOperatorRights(
  context: AppContext,
  identity_id: string,
): Promise<boolean> {
  const { config, identity } = context.get("services");
  // Nobody to be found among, nobody to ask.
  if (config.operators.length === 0) return false;
  const person = await identity.readPerson(identity_id);
  const { email = null, vouched_by = null } = person ?? {};
  return isOperator(config.operators, config.signin_options, { identity_id, email, vouched_by });
}

/**
 * Notes whether to show an operator the way to the console; after `requireSignIn`. Not to know is no: it
 * costs a link, and the console asks for itself.
 */
export const loadOperatorRights = factory.createMiddleware(async (context, next) => {
  const { identity_id } = context.get("session");
  context.set("is_operator", await hasOperatorRights(context, identity_id).catch(() => false));
  return next();
});
