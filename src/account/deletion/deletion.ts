/**
 * An account that its holder deletes. In one transaction it lets nobody in any more, and what gave access
 * is gone; the rest of its rows follows, see `erasure.ts`. Its row stays, as the tombstone: an older
 * credential must find that the account is over, not an empty one to begin anew in.
 */
import { accepted } from "../../domain/result.ts";
import type { Answer } from "../contract.ts";
import { ensureOpen } from "../ledger/posting.ts";
import type { Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";

/** Deletes the account, also one that was never opened: its identity's tokens may be out already. */
export function deleteAccount(transaction: Transaction): Answer<null> {
  const { store, personal_tokens, alarm, now_ms } = transaction;
  ensureOpen(transaction);
  store.saveDeleted(now_ms, owedCredits(store));
  personal_tokens.endAll(now_ms);
  alarm.by(now_ms);
  return accepted(null);
}

/**
 * What a deleted account owed, or a living one would if it were deleted now, in credits: as its started
 * jobs leave it, which end later, in portions.
 */
export function owedCredits(store: Store): number {
  const account = store.readAccount();
  if (account !== null && account.deleted_at_ms !== null) return account.owed_credits;
  const { balance_after = 0, reserved_after = 0 } = store.readNewestEntry() ?? {};
  if (balance_after >= 0) return 0;
  const refundable = reserved_after === 0 ? 0 : store.sumRefundable();
  return Math.max(0, 0 - balance_after - refundable);
}

/** Opens the account of someone who deleted one before. Again, it changes nothing. */
export function openReturned(transaction: Transaction): Answer<null> {
  ensureOpen(transaction);
  transaction.store.saveReturned();
  return accepted(null);
}
