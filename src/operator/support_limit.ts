/** The daily limit of the credits that an operator with the role support gives and takes. */
import type { OnceAnswer } from "../account/contract.ts";
import { errorName, refused } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import type { Attempt } from "./audited_action.ts";

interface ChangedCredits extends Attempt {
  /** The credits that the action gives or takes; not negative. */
  readonly credits: number;
}

/**
 * Runs an action that changes credits, if it is not of the operator's own account and fits the operator's daily limit. An
 * action that was refused, or was done by an earlier attempt, does not count. If it is unknown whether the action was done
 * (`perform` throws), it counts. An admin has no limit.
 */
export async function withinSupportLimit<Value>(
  { services, actor }: Acting,
  identity_id: string,
  { audit_id, is_done, credits }: ChangedCredits,
  perform: () => Promise<OnceAnswer<Value>>,
): Promise<OnceAnswer<Value>> {
  const operator = actor.rights;
  if (operator === null || operator.role === "viewer")
    return refused({ code: "role_required", role: "support" });
  // An action counts on the day on which it was done, and its response must not depend on today's limit.
  if (operator.role === "admin" || is_done) return perform();
  if (actor.id === identity_id) {
    return refused({ code: "role_required", role: "admin", reason: "own_account" });
  }
  const { entry, credits_max_per_day: max } = operator;
  const reserved = await services.support_credits.reserve({
    operator: entry,
    audit_id,
    credits,
    max,
  });
  if (!reserved.ok) {
    return refused({ code: "role_required", role: "admin", credits_left: reserved.refusal });
  }
  const result = await perform();
  if (!result.ok || result.value.replayed) {
    await services.support_credits.release(reserved.value).catch((error: unknown) => {
      console.error({ event: "support_credits_release_failed", audit_id, name: errorName(error) });
    });
  }
  return result;
}
