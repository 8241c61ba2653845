/** Ledger arithmetic: what a new line of an account's passbook says. Pure; see design, section 2. */
import { BALANCE_MAX_CREDITS } from "./limits.ts";
import { assertInvariant } from "./result.ts";

/**
 * What a line is for.
 * `open` account opened · `grant` starter credits of an app · `reserve` taken off for a job ·
 * `settle` reserve turned into the real cost, or a late cost · `refund` reserve given back whole ·
 * `adjustment` an operator's, either way · `purchase` credits bought · `purchase_refund` taken back
 * with the money · `plan` another plan, amount 0 · `debt` what the
 * holder's deleted account owed. Whatever the read model shows of an account changes
 * with a line of its own: what changes without money has the amount 0.
 */
export const ENTRY_KINDS = [
  "open",
  "grant",
  "reserve",
  "settle",
  "refund",
  "adjustment",
  "purchase",
  "purchase_refund",
  "plan",
  "debt",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/**
 * A change that an operation asks for, in credits: `amount` of the balance, `held` of what started
 * jobs have reserved, both signed.
 */
export interface Posting {
  readonly kind: EntryKind;
  readonly amount: number;
  readonly held: number;
  readonly job_id: string | null;
  readonly app_slug: string | null;
  /** What the account's owner is told of it, such as an operator's reason. */
  readonly note: string | null;
}

/** The books after a line: what may be spent, and what started jobs hold beside it. In credits. */
export interface RunningBalance {
  readonly line: number;
  readonly balance_after: number;
  readonly reserved_after: number;
}

/** A posting written into the passbook: numbered without gaps from 1, with the books after it. */
export type LedgerLine = Omit<Posting, "held"> & RunningBalance;

type Books = Pick<RunningBalance, "balance_after" | "reserved_after">;

const EMPTY: RunningBalance = { line: 0, balance_after: 0, reserved_after: 0 };

/**
 * Whether the balance may change by `amount` and what is held by `held`. The balance stays within what
 * can be counted exactly, and so does the balance with everything held given back: a refund always
 * fits, whatever was granted meanwhile.
 */
export function fitsBooks(
  { balance_after, reserved_after }: Books,
  { amount, held }: Pick<Posting, "amount" | "held">,
): boolean {
  const balance = balance_after + amount;
  const reserved = reserved_after + held;
  return (
    balance >= 0 - BALANCE_MAX_CREDITS && reserved >= 0 && balance + reserved <= BALANCE_MAX_CREDITS
  );
}

/**
 * The line that follows `previous` (null before the first).
 * @throws Error when an amount is not a whole number or the books would leave their range; callers
 * ask {@link fitsBooks} first and refuse, so a throw here is a defect.
 */
export function nextLine(previous: RunningBalance | null, posting: Posting): LedgerLine {
  const before = previous ?? EMPTY;
  const { held, ...rest } = posting;
  assertInvariant(Number.isSafeInteger(posting.amount), "an amount is a whole number of credits");
  assertInvariant(Number.isSafeInteger(held), "what is held is a whole number of credits");
  assertInvariant(fitsBooks(before, posting), "a balance can be counted exactly");
  return {
    ...rest,
    line: before.line + 1,
    balance_after: before.balance_after + posting.amount,
    reserved_after: before.reserved_after + held,
  };
}
