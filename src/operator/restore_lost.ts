/** Restores an account whose storage the platform lost, from the archive. */
import type { LostAccount, OnceAnswer, RestoredAccount } from "../account/contract.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { performAction, type ActionRequest } from "./audited_action.ts";

interface LostPlan extends LostAccount {
  /** Why it cannot be restored; null: it can. */
  readonly refusal: string | null;
}

/** The account as the read model knows it, and whether it can be restored. */
export async function planLostRestore(
  { accounts, read_model }: OperatorServices,
  identity_id: string,
): Promise<Result<LostPlan, Refusal>> {
  const lost = await read_model.findArchived(identity_id);
  if (lost === null) return refused({ code: "account_unknown" });
  return accepted({ ...lost, refusal: await accounts(identity_id).whyNotRestored(lost) });
}

/** Restores the account, portion by portion. A request that broke off is repeated, and continues. */
export function restoreLost(
  acting: Acting,
  identity_id: string,
  request: ActionRequest,
): Promise<OnceAnswer<RestoredAccount>> {
  const { accounts, read_model } = acting.services;
  const action = { act: "account.restore_lost", subject: identity_id, details: {}, ...request };
  return performAction(acting, action, async (_, { is_done }) => {
    const lost = await read_model.findArchived(identity_id);
    if (lost === null) return refused({ code: "account_unknown" });
    let restored: RestoredAccount | null = null;
    while (restored === null) {
      const portion: Result<RestoredAccount | null, Refusal> = await accounts(
        identity_id,
      ).restoreFromArchive(lost, is_done);
      if (!portion.ok) return portion;
      restored = portion.value;
    }
    return accepted({ value: restored, replayed: is_done });
  });
}
