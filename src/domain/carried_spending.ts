/**
 * What capped tokens have spent, carried on from ledger line to ledger line, so that spending writes no
 * row of its own. A line carries the few tokens that spent last; what leaves it goes to the token's row.
 * Pure.
 */
import { SPENDING_IDLE_LINES_MAX, SPENDING_TOKENS_PER_LINE_MAX } from "./limits.ts";
import type { Budget } from "./personal_token.ts";

/** What one token has spent of its cap, and in which window; see {@link Budget}. */
export interface TokenSpending extends Pick<Budget, "spent" | "spent_window"> {
  readonly personal_token_id: string;
}

/** A token's spending on a line. `idle_lines`: how many lines ago it last changed, 0 for this one. */
export interface CarriedSpending extends TokenSpending {
  readonly idle_lines: number;
}

/**
 * What the line after one with `before` carries, the token that spent last at the end, and what leaves.
 * `charged`: a token's spending as of the new line, which always stays; null: nobody spent.
 */
export function carryOn(
  before: readonly CarriedSpending[],
  charged: TokenSpending | null,
): { readonly staying: readonly CarriedSpending[]; readonly leaving: readonly TokenSpending[] } {
  const others = before
    .filter(({ personal_token_id }) => personal_token_id !== charged?.personal_token_id)
    .map((it) => ({ ...it, idle_lines: it.idle_lines + 1 }));
  const all = charged === null ? others : [...others, { ...charged, idle_lines: 0 }];
  const staying = all
    .filter(({ idle_lines }) => idle_lines <= SPENDING_IDLE_LINES_MAX)
    .slice(-SPENDING_TOKENS_PER_LINE_MAX);
  return { staying, leaving: all.filter((it) => !staying.includes(it)) };
}
