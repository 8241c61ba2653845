/** Restores an account to an earlier time. The first request shows the difference; the second one makes it. */
import * as z from "zod/mini";
import {
  RECOVERY_RESTART,
  type OnceAnswer,
  type Recovered,
  type RecoveryPlan,
} from "../account/contract.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import { dateTime } from "../fields.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { performAction, reason, type ActionRequest } from "./audited_action.ts";

export const recoveryQuery = z.object({ to: dateTime });
export const recoveryBody = z.strictObject({ to: dateTime, reason });

/** Requests may arrive while the object restarts; each attempt restores it again. */
const ATTEMPTS_MAX = 5;

/** What the restore would undo. */
export function planRecovery(
  { accounts }: OperatorServices,
  identity_id: string,
  { to }: z.output<typeof recoveryQuery>,
): Promise<Result<RecoveryPlan, Refusal>> {
  return accounts(identity_id).planRecovery(to);
}

interface RecoveredAccount extends RecoveryPlan {
  readonly lost: Recovered["lost"];
}

/** Restores the account. @returns what it has undone. */
export function recoverAccount(
  acting: Acting,
  identity_id: string,
  { to, ...request }: z.output<typeof recoveryBody> & ActionRequest,
): Promise<OnceAnswer<RecoveredAccount>> {
  const details = { to: timestamp(to) };
  const action = { act: "account.recover", subject: identity_id, details, ...request };
  return performAction(acting, action, async (_, { is_done }) => {
    const account = () => acting.services.accounts(identity_id);
    const plan: Result<RecoveryPlan, Refusal> = await account().planRecovery(to);
    if (!plan.ok) return plan;
    // A retry must not undo what came after the restore.
    if (is_done) return accepted({ value: { ...plan.value, lost: [] }, replayed: true });
    const begun = await untilRestart(async (): Promise<Result<unknown, Refusal>> =>
      account().beginRecovery(to),
    );
    if (begun !== null && !begun.ok) return begun;
    for (let left = ATTEMPTS_MAX; left > 0; left -= 1) {
      const done = await untilRestart(async (): Promise<Result<Recovered, Refusal>> =>
        account().finishRecovery(),
      );
      if (done === null) continue;
      if (!done.ok) return done;
      return accepted({ value: { ...plan.value, ...done.value }, replayed: false });
    }
    const detail = "Requests keep arriving while the account restarts. Repeat the command.";
    return refused({ code: "recovery_refused", detail });
  });
}

/** Null: the object has restarted. */
async function untilRestart<Value>(call: () => Promise<Value>): Promise<Value | null> {
  try {
    return await call();
  } catch (error) {
    if (String(error).includes(RECOVERY_RESTART)) return null;
    throw error;
  }
}
