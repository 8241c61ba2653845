/** The operator check, which `/api/admin` and the console share. */
import {
  findOperator,
  rightsOf,
  type Nameable,
  type OperatorRights,
} from "../../domain/operators.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { callerOf, factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";
import { roleRefusal } from "./operator_roles.ts";

/**
 * Requires an operator with the role of the route, who uses the session cookie from a page of our own origin or a personal
 * token with the scope `admin`. After `authenticate`. Every other caller gets the same response for every path and id.
 */
export const requireOperator = factory.createMiddleware(async (context, next) => {
  const operator = await identifyOperator(context);
  if (!operator.ok) return refuse(context, operator.refusal);
  context.set("operator", operator.value);
  const refusal = roleRefusal(context, operator.value);
  return refusal === null ? next() : refuse(context, refusal);
});

/**
 * The caller's rights as an operator. A session token does not suffice: the session must be live, and the account must
 * accept the caller. Rights are not stored in a token or a session, so a change of role takes effect at the next request.
 */
export async function identifyOperator(
  context: AppContext,
): Promise<Result<OperatorRights, Refusal>> {
  const { accounts, identity } = context.get("services");
  const { identity_id, proof } = context.get("caller");
  if (isForeignSession(context))
    return refused({ code: "not_operator", reason: "foreign_session" });
  if (proof.kind === "session" && !(await identity.isSessionLive(proof.session_id, identity_id))) {
    return refused({ code: "unauthorized", reason: "session_ended" });
  }
  const admitted = await accounts(identity_id).checkOperator(callerOf(context));
  if (!admitted.ok) return admitted;
  const rights = await readOperatorRights(context, identity_id);
  return rights === null ? refused({ code: "not_operator" }) : accepted(rights);
}

/**
 * Whether the caller uses a session from outside our own pages. Every app that an operator visits gets a session token, and
 * every allowed origin can send the cookie, so neither may operate the service.
 */
export function isForeignSession(context: AppContext): boolean {
  const { proof, via } = context.get("caller");
  if (proof.kind === "app_session") return true;
  if (proof.kind !== "session") return false;
  return via !== "cookie" || proof.azp !== context.get("base_url");
}

/** A person's rights as an operator, by the identity provider's current data; null: they are not an operator. */
export async function readOperatorRights(
  context: AppContext,
  identity_id: string,
): Promise<OperatorRights | null> {
  const { config, identity } = context.get("services");
  if (config.operators.length === 0) return null;
  const person = await identity.readPerson(identity_id);
  const { email = null, vouched_by = null } = person ?? {};
  return operatorRightsOf(context, { identity_id, email, vouched_by });
}

/** The rights as an operator of a person that was read; null: they are not an operator. */
export function operatorRightsOf(context: AppContext, person: Nameable): OperatorRights | null {
  const { config } = context.get("services");
  const entry = findOperator(config.operators, config.signin_options, person);
  return entry === null ? null : rightsOf(entry, config.support_credits_max);
}

/**
 * Sets whether pages link to the console; after `requireSignIn`. A failed query only hides the link: the console checks
 * again.
 */
export const loadOperatorRights = factory.createMiddleware(async (context, next) => {
  const { identity_id } = context.get("session");
  context.set("operator", await readOperatorRights(context, identity_id).catch(() => null));
  return next();
});
