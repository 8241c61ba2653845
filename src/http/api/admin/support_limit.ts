/** The daily limit of the credits that an operator with the role support gives and takes. */
import type { OnceAnswer } from "../../../account/contract.ts";
import { errorName, refused } from "../../../domain/result.ts";
import type { AppContext } from "../../context.ts";
import type { Attempt } from "../../../operator/audited_action.ts";

interface ChangedCredits extends Attempt {
  /** The credits that the action gives or takes; not negative. */
  readonly credits: number;
}

/** Whether an operator acts on their own account. The audit log notes it. */
export const isOwnAccount = (context: AppContext): boolean =>
  context.get("holder").identity_id === context.get("caller").identity_id;

/**
 * Runs an action that changes credits, if it is not of the operator's own account and fits the operator's daily limit. An action that was refused, or was done by an
 * earlier attempt, does not count. If nobody knows whether it was done (`perform` throws), it counts.
 * An admin may do all of it.
 */
export async function withinSupportLimit<Value>(
  context: AppContext,
  { audit_id, is_done, credits }: ChangedCredits,
  perform: () => Promise<OnceAnswer<Value>>,
): Promise<OnceAnswer<Value>> {
  const operator = context.get("operator") ?? { role: "viewer" };
  if (operator.role === "viewer") return refused({ code: "role_required", role: "support" });
  // What was done counts on the day on which it was done, and its response must not depend on today's limit.
  if (operator.role === "admin" || is_done) return perform();
  if (isOwnAccount(context)) {
    return refused({ code: "role_required", role: "admin", reason: "own_account" });
  }
  const { support_credits } = context.get("services");
  const { entry, credits_max_per_day: max } = operator;
  const reserved = await support_credits.reserve({ operator: entry, audit_id, credits, max });
  if (!reserved.ok) {
    return refused({ code: "role_required", role: "admin", credits_left: reserved.refusal });
  }
  const result = await perform();
  if (!result.ok || result.value.replayed) {
    await support_credits.release(reserved.value).catch((error: unknown) => {
      console.error({ event: "support_credits_release_failed", audit_id, name: errorName(error) });
    });
  }
  return result;
}
