/** The arithmetic of the ledger: balance and held credits after a new entry. Pure; see design, section 2. */
import { BALANCE_MAX_CREDITS } from "./limits.ts";
import { assertInvariant } from "./result.ts";

/**
 * The reasons of entries. Whatever the read model shows of an account changes with an entry: a change without money has
 * amount 0.
 *
 * - `open`: the account was opened, amount 0
 * - `grant`: starter credits of an app
 * - `reserve`: taken for a job
 * - `settle`: a reserve replaced by the actual cost, or a late cost
 * - `refund`: a reserve returned in full
 * - `job_refund`: the cost of an ended job that an operator gave back
 * - `adjustment`: by an operator, up or down
 * - `purchase`: credits bought
 * - `purchase_refund`: money returned, and its credits taken back
 * - `plan`: another plan, amount 0
 * - `suspend`, `restore`: an operator suspended the account, or ended that, amount 0
 * - `debt`: what the holder's deleted account owed
 * - `expire`: the rest of a lot whose time is over
 * - `recurring`: credits of the plan for a new period
 * - `rollover`: credits of the period before that stay usable, amount 0
 * - `recovery`: an operator restored the account. The balance is that of an earlier entry again, or what stays of later
 *   ones comes back
 */
export const ENTRY_KINDS = [
  "open",
  "grant",
  "reserve",
  "settle",
  "refund",
  "job_refund",
  "adjustment",
  "purchase",
  "purchase_refund",
  "plan",
  "suspend",
  "restore",
  "debt",
  "expire",
  "recurring",
  "rollover",
  "recovery",
] as const;
/** Entries that time makes and nobody's action. */
export const TIMED_KINDS = [
  "expire",
  "recurring",
  "rollover",
] as const satisfies readonly EntryKind[];
export type EntryKind = (typeof ENTRY_KINDS)[number];

/**
 * A change that an operation requests, in credits: `amount` of the balance, `held` of the credits that started
 * jobs reserve. Both have a sign.
 */
export interface Posting {
  readonly kind: EntryKind;
  readonly amount: number;
  readonly held: number;
  readonly job_id: string | null;
  /** The number of the job's entry before this one; null for its first entry, and without a job. */
  readonly previous_line: number | null;
  readonly app_slug: string | null;
  /** A text for the account's holder, such as an operator's reason. */
  readonly note: string | null;
}

/** For a posting about the account itself, not about a job or an app. */
export const OF_ACCOUNT = {
  held: 0,
  job_id: null,
  previous_line: null,
  app_slug: null,
  note: null,
} as const;

/**
 * The balance after entry number `line`, and the credits that started jobs then hold, which are not part of the
 * balance.
 */
export interface RunningBalance {
  readonly line: number;
  readonly balance_after: number;
  readonly reserved_after: number;
}

/** A posting with its entry number (from 1, without gaps) and the balance after it. */
export type LedgerEntry = Omit<Posting, "held"> & RunningBalance;

/**
 * Whether lists of entries, statements and files show an entry. A report of progress that changes neither the balance nor
 * the held credits has an entry only so that streams and the read model follow its job: a long job makes a thousand.
 */
export function isListed({
  kind,
  amount,
  previous_line,
}: Pick<Posting, "kind" | "amount" | "previous_line">): boolean {
  return kind !== "reserve" || amount !== 0 || previous_line === null;
}

type Books = Pick<RunningBalance, "balance_after" | "reserved_after">;

const EMPTY: RunningBalance = { line: 0, balance_after: 0, reserved_after: 0 };

/**
 * Whether the balance and the held credits may change by these amounts. The balance stays in the range of exact
 * integers, and so does the balance with all held credits returned. A refund is therefore always possible.
 */
export function fitsBalance(
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
 * The entry that follows `previous` (null: it is the first).
 * @throws Error if an amount is not a whole number or the result leaves the range. Callers check {@link
 * fitsBalance} first and refuse, so a throw here is a defect.
 */
export function nextEntry(previous: RunningBalance | null, posting: Posting): LedgerEntry {
  const before = previous ?? EMPTY;
  const { held, ...rest } = posting;
  assertInvariant(Number.isSafeInteger(posting.amount), "an amount is a whole number of credits");
  assertInvariant(Number.isSafeInteger(held), "what is held is a whole number of credits");
  assertInvariant(fitsBalance(before, posting), "a balance can be counted exactly");
  return {
    ...rest,
    line: before.line + 1,
    balance_after: before.balance_after + posting.amount,
    reserved_after: before.reserved_after + held,
  };
}
