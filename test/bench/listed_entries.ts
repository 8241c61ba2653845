/** The entries of a ledger as the API lists them, newest first. */

export interface ListedEntry {
  readonly line: number;
  readonly amount: number;
  readonly balance_after: number;
}

/** Why a whole ledger does not add up; null: it does. */
export function faultOf(entries: readonly ListedEntry[]): string | null {
  let balance = 0;
  for (const [at, { line, amount, balance_after }] of entries.toReversed().entries()) {
    balance += amount;
    if (line !== at + 1) return `line ${line} is number ${at + 1}`;
    if (balance !== balance_after) return `line ${line} ends with ${balance_after}, not ${balance}`;
  }
  return null;
}
