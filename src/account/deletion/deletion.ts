/**
 * Deleting an account, in one transaction: no credential is accepted any more, and everything that gave access is
 * gone. `erasure.ts` erases the other rows later. The account's row stays as a tombstone, so that an old credential
 * finds a deleted account and does not open a new one.
 */
import { accepted } from "../../domain/result.ts";
import { BALANCE_MAX_CREDITS } from "../../domain/limits.ts";
import type { Answer, Debt, Owed } from "../contract.ts";
import { ensureOpen, OF_ACCOUNT, post, readBalance } from "../ledger/posting.ts";
import type { Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";

/** Deletes the account, even if it was never opened, because tokens of its identity may already exist. */
export function deleteAccount(transaction: Transaction): Answer<null> {
  const { store, allowances, alarm, now_ms } = transaction;
  ensureOpen(transaction);
  store.saveDeleted(now_ms, owedCredits(store));
  allowances.endAll(now_ms);
  store.deleteAppKeys(now_ms);
  alarm.by(now_ms);
  return accepted(null);
}

/** What a deleted account owed, or what this one would owe if it were deleted now. */
export function readOwed(store: Store): Owed {
  return { credits: owedCredits(store), debt_ids: store.listDebts() };
}

/** Counts the refunds of started jobs, which expire later, in portions. */
function owedCredits(store: Store): number {
  const account = store.readAccount();
  if (account !== null && account.deleted_at_ms !== null) return account.owed_credits;
  const { balance_after = 0, reserved_after = 0 } = store.readNewestEntry() ?? {};
  if (balance_after >= 0) return 0;
  const refundable = reserved_after === 0 ? 0 : store.sumRefundable();
  return Math.max(0, 0 - balance_after - refundable);
}

/** Opens the account of a person who deleted one before. Repeating it changes nothing. */
export function openReturned(transaction: Transaction): Answer<null> {
  ensureOpen(transaction);
  transaction.store.saveReturned();
  return accepted(null);
}

/** Takes over what the holder's deleted accounts owed: one entry for each debt. Repeating it changes nothing. */
export function oweDebts(transaction: Transaction, debts: readonly Debt[]): Answer<null> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  for (const { id, credits } of debts) {
    if (!store.insertDebt(id, now_ms)) continue;
    // A balance below the limit could not be counted exactly.
    const room = readBalance(transaction).balance_after + BALANCE_MAX_CREDITS;
    const amount = 0 - Math.min(credits, room);
    post(transaction, { ...OF_ACCOUNT, kind: "debt", amount });
  }
  return accepted(null);
}
