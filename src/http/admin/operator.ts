/** Who may operate the service: the one door before `/api/admin` and the console. */
import { isOperator } from "../../domain/operators.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { callerOf, factory, type AppContext } from "../context.ts";
import { refuse } from "../refusals.ts";

/**
 * Lets operators through, by a living session or a personal token that may operate; after
 * `authenticate`. Everybody else gets the same answer whatever the path or id.
 */
export const requireOperator = factory.createMiddleware(async (context, next) => {
  const refusal = await whyNotOperator(context);
  return refusal === null ? next() : refuse(context, refusal);
});

/**
 * Why the principal may not operate; null where they may. What a session token says is not believed for
 * its quarter of an hour here, and the account says whether its holder is let in at all.
 */
export async function whyNotOperator(context: AppContext): Promise<Refusal | null> {
  const { accounts, identity } = context.get("services");
  const { identity_id, proof } = context.get("principal");
  if (proof.kind === "session" && !(await identity.sessionIsAlive(proof.session_id, identity_id))) {
    return { code: "unauthorized", reason: "session_ended" };
  }
  const admitted = await accounts(identity_id).checkOperator(callerOf(context));
  if (!admitted.ok) return admitted.refusal;
  return (await operates(context, identity_id)) ? null : { code: "not_operator" };
}

/** Whether a person operates the service, by what the identity provider says of them now. */
export async function operates(context: AppContext, identity_id: string): Promise<boolean> {
  const { config, identity } = context.get("services");
  // Nobody to be found among, nobody to ask.
  if (config.operators.length === 0) return false;
  const person = await identity.readPerson(identity_id);
  const nameable = {
    identity_id,
    email: person?.email ?? null,
    email_verified: person?.email_verified ?? false,
  };
  return isOperator(config.operators, nameable);
}

/**
 * Notes whether to show an operator the way to the console; after `signInFirst`. Not to know is no: it
 * costs a link, and the console asks for itself.
 */
export const noteOperator = factory.createMiddleware(async (context, next) => {
  const { identity_id } = context.get("session");
  context.set("operates", await operates(context, identity_id).catch(() => false));
  return next();
});
