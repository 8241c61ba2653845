/**
 * Deleting an account, in one transaction: no credential is accepted any more, and everything that gave access is
 * gone. `erasure.ts` erases the other rows later. The account's row stays as a tombstone, so that an old credential
 * finds a deleted account and does not open a new one.
 */
import { OF_ACCOUNT } from "../../domain/ledger.ts";
import { accepted } from "../../domain/result.ts";
import { BALANCE_MAX_CREDITS } from "../../domain/limits.ts";
import { baseTerms, bringIn, take } from "../../domain/lots.ts";
import type { Answer, Debt, Owed } from "../contract.ts";
import { readCredits } from "../ledger/credits.ts";
import { ensureOpen, post, readBalance } from "../ledger/posting.ts";
import type { Store } from "../sql/store.ts";
import { endAfterReturn } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";

/** Deletes the account, even if it was never opened, because tokens of its identity may already exist. */
export function deleteAccount(transaction: Transaction): Answer<null> {
  const { store, database, allowances, alarm, announce, now_ms } = transaction;
  ensureOpen(transaction);
  const left_credits = leftCredits(store);
  store.changeAccount({
    deleted_at_ms: now_ms,
    left_credits,
    erasure: "closing",
    // Nothing comes any more.
    plan_json: null,
  });
  // A renewal under way finds no row to write to.
  database.run("delete from upstream_tokens");
  allowances.endAll(now_ms);
  alarm.by(now_ms);
  announce.streamsEnded({ reason: "account_deleted" });
  return accepted(null);
}

/** The debt of a deleted account, or the debt that this one would have if it were deleted now. */
export function readOwed({ store, purchases }: Pick<Transaction, "store" | "purchases">): Owed {
  const debt_ids = store.listDebts();
  const may_change = debt_ids.length > 0 || purchases.hasPayments();
  return { credits: Math.max(0, 0 - leftCredits(store)), debt_ids, may_change };
}

/** The balance that the account would have, with the refunds of started jobs, which expire later, in portions. */
function leftCredits(store: Store): number {
  const account = store.readAccount();
  if (account !== null && account.deleted_at_ms !== null) return account.left_credits;
  const { balance_after = 0, reserved_after = 0 } = store.readNewestEntry() ?? {};
  return balance_after + (reserved_after === 0 ? 0 : store.sumRefundable());
}

/** Opens the account of a person who deleted one before. Repeating it changes nothing. */
export function openReturned(transaction: Transaction): Answer<null> {
  ensureOpen(transaction);
  transaction.store.changeAccount({ returned: true });
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
  const stored = store.readDebt(id);
  // Also one of no credits, which a refund or dispute may still raise.
  if (stored !== credits) store.saveDebt(id, credits, now_ms);
  const known = stored ?? 0;
  if (credits === known) return;
  const { balance_after, reserved_after } = readBalance(transaction);
  // A balance beyond the limits could not be counted exactly.
  const lowest = 0 - balance_after - BALANCE_MAX_CREDITS;
  const highest = BALANCE_MAX_CREDITS - balance_after - reserved_after;
  const amount = Math.min(highest, Math.max(lowest, known - credits));
  const before = readCredits(transaction);
  const after =
    amount > 0
      ? bringIn(before, NEVER_A_LOT, baseTerms(false), amount).credits
      : take(before, null, 0 - amount).credits;
  post(transaction, { ...OF_ACCOUNT, kind: "debt", amount }, { credits: after });
  // A refund or dispute of the deleted account raised it.
  if (amount < 0) endAfterReturn(transaction);
}

/** Credits without terms go to the base. */
const NEVER_A_LOT = { id: "", origin: "adjustment", note: null } as const;

/** Changes what a deleted account would have. @returns what it owes then. */
export function changeLeft({ store }: Pick<Transaction, "store">, change: number): number {
  const left_credits = leftCredits(store) + change;
  store.changeAccount({ left_credits });
  return Math.max(0, 0 - left_credits);
}
