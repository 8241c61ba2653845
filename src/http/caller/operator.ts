/** The operator check, which `/api/admin` and the console share. */
import { isOperator } from "../../domain/operators.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { callerOf, factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";

/**
 * Requires an operator, who uses the session cookie from a page of our own origin or a personal token with the scope
 * `admin`. After `authenticate`. Every other caller gets the same response for every path and id.
 */
export const requireOperator = factory.createMiddleware(async (context, next) => {
  const refusal = await operatorRefusal(context);
  return refusal === null ? next() : refuse(context, refusal);
});

/**
 * The refusal of a caller without operator rights; null for an operator. A session token does not suffice: the session
 * must be live, and the account must accept the caller.
 */
export async function operatorRefusal(context: AppContext): Promise<Refusal | null> {
  const { accounts, identity } = context.get("services");
  const { identity_id, proof } = context.get("caller");
  if (isForeignSession(context)) return { code: "not_operator", reason: "foreign_session" };
  if (proof.kind === "session" && !(await identity.isSessionLive(proof.session_id, identity_id))) {
    return { code: "unauthorized", reason: "session_ended" };
  }
  const admitted = await accounts(identity_id).checkOperator(callerOf(context));
  if (!admitted.ok) return admitted.refusal;
  return (await hasOperatorRights(context, identity_id)) ? null : { code: "not_operator" };
}

/**
 * Whether the caller uses a session from outside our own pages. Every app that an operator visits gets a session token, and
 * every allowed origin can send the cookie, so neither may operate the service.
 */
export function isForeignSession(context: AppContext): boolean {
  const { proof, via } = context.get("caller");
  if (proof.kind !== "session") return false;
  return via !== "cookie" || proof.azp !== context.get("base_url");
}

/** Whether a person is an operator, by the identity provider's current data. */
export async function hasOperatorRights(
  context: AppContext,
  identity_id: string,
): Promise<boolean> {
  const { config, identity } = context.get("services");
  if (config.operators.length === 0) return false;
  const person = await identity.readPerson(identity_id);
  const { email = null, vouched_by = null } = person ?? {};
  return isOperator(config.operators, config.signin_options, { identity_id, email, vouched_by });
}

/**
 * Sets whether pages link to the console; after `requireSignIn`. A failed query only hides the link: the console checks
 * again.
 */
export const loadOperatorRights = factory.createMiddleware(async (context, next) => {
  const { identity_id } = context.get("session");
  context.set("is_operator", await hasOperatorRights(context, identity_id).catch(() => false));
  return next();
});
