/** What the holder's deleted accounts owed, owed again by this one: an entry for each debt, once. */
import { BALANCE_MAX_CREDITS } from "../../domain/limits.ts";
import { accepted } from "../../domain/result.ts";
import type { Answer, Debt } from "../contract.ts";
import { ensureOpen, OF_ACCOUNT, post, readBooks } from "../ledger/posting.ts";
import type { Transaction } from "../transaction.ts";

/** Takes debts over. Again, it changes nothing. */
export function oweDebts(transaction: Transaction, debts: readonly Debt[]): Answer<null> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  for (const { id, credits } of debts) {
    if (!store.insertDebt(id, now_ms)) continue;
    // No balance goes below what can be counted exactly.
    const room = readBooks(transaction).balance_after + BALANCE_MAX_CREDITS;
    const amount = 0 - Math.min(credits, room);
    post(transaction, { ...OF_ACCOUNT, kind: "debt", amount });
  }
  return accepted(null);
}
