/** Ledger arithmetic: what a new line of an account's passbook says. Pure; see design, section 2. */
import { BALANCE_MAX_CREDITS } from "./limits.ts";
import { assertInvariant } from "./result.ts";

/**
 * What a line is for.
 * `open` account opened · `grant` starter credits of an app · `reserve` taken off for a job ·
 * `settle` reserve turned into the real cost, or a late cost · `refund` reserve given back whole.
 */
export const ENTRY_KINDS = ["open", "grant", "reserve", "settle", "refund"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** A change of the balance that an operation asks for. `amount` is in credits, signed. */
export interface Posting {
  readonly kind: EntryKind;
  readonly amount: number;
  readonly job_id: string | null;
  readonly app_slug: string | null;
}

/** A posting written into the passbook: numbered without gaps from 1, with the balance after it. */
export interface LedgerLine extends Posting {
  readonly line: number;
  readonly balance_after: number;
}

/**
 * Whether posting `amount` on `balance` stays within what can be counted exactly.
 */
export function fitsBalance(balance: number, amount: number): boolean {
  return Math.abs(balance + amount) <= BALANCE_MAX_CREDITS;
}

/**
 * The line that follows `previous` (null before the first).
 * @throws Error when the amount is not a whole number or the balance would leave its range; callers
 * ask {@link fitsBalance} first and refuse, so a throw here is a defect.
 */
export function nextLine(
  previous: { readonly line: number; readonly balance_after: number } | null,
  posting: Posting,
): LedgerLine {
  const balance = previous?.balance_after ?? 0;
  assertInvariant(Number.isSafeInteger(posting.amount), "an amount is a whole number of credits");
  assertInvariant(fitsBalance(balance, posting.amount), "a balance can be counted exactly");
  return {
    ...posting,
    line: (previous?.line ?? 0) + 1,
    balance_after: balance + posting.amount,
  };
}
