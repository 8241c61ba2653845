/**
 * An account whose holder is kept out by operators. Its passbook stays whole: what is held still settles
 * or times out, and only its holder's own doing is refused.
 */
import type { Refusal } from "../domain/refusals.ts";
import { accepted } from "../domain/result.ts";
import { isSuspendable, type Wanted } from "./caller.ts";
import type { Answer, Caller } from "./contract.ts";
import { ensureOpen } from "./ledger.ts";
import type { AccountStanding } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** Why a caller is kept out; null where they are not. Asked in the transaction it decides about. */
export function whySuspended(
  standing: AccountStanding | null,
  caller: Caller,
  wanted: Wanted,
): Refusal | null {
  if (!isSuspendable(caller, wanted)) return null;
  return (standing?.suspended_at_ms ?? null) === null ? null : { code: "suspended" };
}

/** Keeps the holder out from now on. Again, it changes nothing: the first time stands. */
export function suspend(transaction: Transaction): Answer<null> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  store.saveSuspendedAt(store.readStanding()?.suspended_at_ms ?? now_ms);
  return accepted(null);
}

/** Lets the holder in again. */
export function restore({ store }: Transaction): Answer<null> {
  store.saveSuspendedAt(null);
  return accepted(null);
}
