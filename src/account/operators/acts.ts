/** Operators' actions: credits, plan, suspension. The holder sees the first two as ledger entries. */
import { fitsBalance } from "../../domain/ledger.ts";
import { accepted, assertInvariant, refused } from "../../domain/result.ts";
import type {
  AdjustCreditsRequest,
  AdjustedCredits,
  Answer,
  ChangedPlan,
  ChangePlanRequest,
} from "../contract.ts";
import { ensureOpen, OF_ACCOUNT, post, readBalance } from "../ledger/posting.ts";
import type { Transaction } from "../transaction.ts";

/**
 * Gives or takes credits. A balance below zero needs `allow_negative`, else it is refused as `balance_below_zero`.
 * Refused as `balance_limit` if the balance, with or without the held credits, could not be counted exactly any more.
 */
export function adjustCredits(
  transaction: Transaction,
  { amount, note, allow_negative = false }: AdjustCreditsRequest,
): Answer<AdjustedCredits> {
  const before = readBalance(transaction);
  const credits = before.balance_after;
  if (!fitsBalance(before, { amount, held: 0 })) return refused({ code: "balance_limit" });
  if (amount < 0 && credits + amount < 0 && !allow_negative) {
    return refused({ code: "balance_below_zero", credits, required: 0 - amount });
  }
  ensureOpen(transaction);
  const entry = post(transaction, { ...OF_ACCOUNT, kind: "adjustment", amount, note });
  return accepted({ entry, credits: entry.balance_after });
}

/** Sets the plan. The entry of amount 0 makes the read model receive it. */
export function changePlan(
  transaction: Transaction,
  { plan, note }: ChangePlanRequest,
): Answer<ChangedPlan> {
  ensureOpen(transaction);
  transaction.store.updatePlan(plan);
  const entry = post(transaction, { ...OF_ACCOUNT, kind: "plan", amount: 0, note });
  const row = transaction.store.readAccount();
  assertInvariant(row !== null, "an open account has its row");
  const { id, identity_id } = row;
  return accepted({ entry, account: { id, identity_id, plan, credits: entry.balance_after } });
}

/** Keeps the holder out. The holder's jobs still settle or expire. Repeating it changes nothing. */
export function suspend(transaction: Transaction): Answer<null> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  store.saveSuspendedAt(store.readAccount()?.suspended_at_ms ?? now_ms);
  return accepted(null);
}

/** Ends a suspension. */
export function restore({ store }: Transaction): Answer<null> {
  store.saveSuspendedAt(null);
  return accepted(null);
}
