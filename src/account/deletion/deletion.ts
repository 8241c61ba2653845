/**
 * Deleting an account, in one transaction: no credential is accepted any more, and everything that gave access is
 * gone. `erasure.ts` erases the other rows later. The account's row stays as a tombstone, so that an old credential
 * finds a deleted account and does not open a new one.
 */
import { accepted } from "../../domain/result.ts";
import { BALANCE_MAX_CREDITS } from "../../domain/limits.ts";
import type { Answer, Debt, Owed } from "../contract.ts";
import type { PurchaseStore } from "../purchases/store.ts";
import { ensureOpen, OF_ACCOUNT, post, readBalance } from "../ledger/posting.ts";
import type { Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";

/** Deletes the account, even if it was never opened, because tokens of its identity may already exist. */
export function deleteAccount(transaction: Transaction): Answer<null> {
  const { store, allowances, alarm, now_ms } = transaction;
  ensureOpen(transaction);
  store.saveDeleted(now_ms, leftCredits(store));
  allowances.endAll(now_ms);
  store.deleteAppKeys(now_ms);
  alarm.by(now_ms);
  return accepted(null);
}

/** What a deleted account owes, or what this one would owe if it were deleted now. */
export function readOwed(store: Store, purchases: PurchaseStore): Owed {
  const debt_ids = store.listDebts();
  const may_change = debt_ids.length > 0 || purchases.hasPayments();
  return { credits: Math.max(0, 0 - leftCredits(store)), debt_ids, may_change };
}

/** What the account would have, with the refunds of started jobs, which expire later, in portions. */
function leftCredits(store: Store): number {
  const account = store.readAccount();
  if (account !== null && account.deleted_at_ms !== null) return account.left_credits;
  const { balance_after = 0, reserved_after = 0 } = store.readNewestEntry() ?? {};
  return balance_after + (reserved_after === 0 ? 0 : store.sumRefundable());
}

/** Opens the account of a person who deleted one before. Repeating it changes nothing. */
export function openReturned(transaction: Transaction): Answer<null> {
  ensureOpen(transaction);
  transaction.store.saveReturned();
  return accepted(null);
}

/** Takes over what the holder's deleted accounts owe: one entry for each debt. Repeating it changes nothing. */
export function oweDebts(transaction: Transaction, debts: readonly Debt[]): Answer<null> {
  ensureOpen(transaction);
  for (const debt of debts) oweDebt(transaction, debt);
  return accepted(null);
}

/** An entry for what a debt changed, by which the balance may also rise: a dispute of the deleted account was won. */
export function oweDebt(transaction: Transaction, { id, credits }: Debt): void {
  const { store, now_ms } = transaction;
  const known = store.readDebt(id) ?? 0;
  if (credits === known) return;
  store.saveDebt(id, credits, now_ms);
  const { balance_after, reserved_after } = readBalance(transaction);
  // A balance beyond the limits could not be counted exactly.
  const lowest = 0 - balance_after - BALANCE_MAX_CREDITS;
  const highest = BALANCE_MAX_CREDITS - balance_after - reserved_after;
  const amount = Math.min(highest, Math.max(lowest, known - credits));
  post(transaction, { ...OF_ACCOUNT, kind: "debt", amount });
}

/** Changes what a deleted account would have. @returns what it owes then. */
export function changeLeft({ store }: Pick<Transaction, "store">, change: number): number {
  const left_credits = leftCredits(store) + change;
  store.saveLeftCredits(left_credits);
  return Math.max(0, 0 - left_credits);
}
