/** Privacy requests: exports what is stored about a person, and deletes their account. Also for suspended accounts. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import { DELETION_ACT } from "../domain/audit.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, type Result } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { performAction, performActionOnce, reason, type ActionRequest } from "./audited_action.ts";

export const deletionBody = z.strictObject({ confirm: z.string("must be a string"), reason });

/** Records that an operator exports the person's data, which `collect` collects. The holder sees the record in it. */
export function exportAccount<Data>(
  acting: Acting,
  identity_id: string,
  request: ActionRequest,
  collect: () => Promise<Result<Data, Refusal>>,
): Promise<OnceAnswer<Data>> {
  const action = { ...request, act: "account.export", subject: identity_id, details: {} };
  return performAction(acting, action, async () => {
    const collected = await collect();
    return collected.ok ? accepted({ value: collected.value, replayed: false }) : collected;
  });
}

/** Deletes the account as its holder would. The caller has checked `confirm`. */
export function deleteAccount(
  acting: Acting,
  identity_id: string,
  request: ActionRequest,
): Promise<OnceAnswer<null>> {
  const { account_deletion } = acting.services;
  const action = { ...request, act: DELETION_ACT, subject: identity_id, details: {} };
  return performActionOnce(acting, action, async () => {
    const deleted = await account_deletion.deleteAccount(identity_id, "operator");
    if (deleted.ok || deleted.refusal.code !== "account_unknown") return deleted;
    // The account was deleted before, but its person is still there: the deletion was interrupted.
    await account_deletion.finish(identity_id);
    return accepted(null);
  });
}
