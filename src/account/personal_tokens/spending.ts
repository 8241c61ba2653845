/**
 * What capped tokens have spent as of now: what the newest ledger line carries of a token, else what the
 * token's own row says. The one place that knows of the two: a token is read without its spending.
 */
import {
  carryOn,
  type CarriedSpending,
  type TokenSpending,
} from "../../domain/carried_spending.ts";
import * as rules from "../../domain/personal_token.ts";
import type { JobRow } from "../store.ts";
import type { Transaction } from "../transaction.ts";
import { capOf, type PersonalTokenRow } from "./store.ts";

/** A token's cap and what is spent of it as of now; null where it has none, which reads nothing. */
export function readBudget(
  transaction: Transaction,
  { id, created_at_ms, ...row }: PersonalTokenRow,
): rules.Budget | null {
  const cap = capOf(row);
  if (cap === null) return null;
  const carried = readCarried(transaction).find((it) => it.personal_token_id === id);
  const { spent, spent_window } = carried ?? transaction.personal_tokens.readSpending(id);
  return { cap, created_at_ms, spent, spent_window };
}

/**
 * What the token that created a job has spent once the job moves `credits`, whoever moves them; positive
 * where they are spent. Null where no cap counts it: then nothing changes.
 */
export function chargeCreator(
  transaction: Transaction,
  job: Pick<JobRow, "personal_token_id" | "created_at_ms">,
  credits: number,
): TokenSpending | null {
  const { personal_tokens, now_ms } = transaction;
  const { personal_token_id, created_at_ms } = job;
  if (personal_token_id === null || credits === 0) return null;
  const personal_token = personal_tokens.read(personal_token_id);
  const budget = personal_token === null ? null : readBudget(transaction, personal_token);
  if (budget === null) return null;
  return { personal_token_id, ...rules.charge(budget, credits, created_at_ms, now_ms) };
}

/**
 * What the next line says of spending, `charged` included; null: nothing. What leaves the line is written
 * to the token's row in the same transaction; of a token that is gone there is none to write.
 */
export function carrySpending(
  transaction: Transaction,
  charged: TokenSpending | null,
): string | null {
  const { staying, leaving } = carryOn(readCarried(transaction), charged);
  for (const { personal_token_id, spent, spent_window } of leaving) {
    transaction.personal_tokens.saveSpending(personal_token_id, { spent, spent_window });
  }
  return staying.length === 0 ? null : JSON.stringify(staying.map(tupleOf));
}

/** Without names: what a line says of a token is kept with every line, some 50 bytes. */
type Tuple = readonly [
  personal_token_id: string,
  spent: number,
  spent_window: number,
  idle_lines: number,
];

function tupleOf({ personal_token_id, spent, spent_window, idle_lines }: CarriedSpending): Tuple {
  return [personal_token_id, spent, spent_window, idle_lines];
}

function readCarried({ store }: Transaction): readonly CarriedSpending[] {
  const spending_json = store.readNewestEntry()?.spending_json ?? null;
  const tuples = spending_json === null ? [] : (JSON.parse(spending_json) as readonly Tuple[]);
  return tuples.map(([personal_token_id, spent, spent_window, idle_lines]) => ({
    personal_token_id,
    spent,
    spent_window,
    idle_lines,
  }));
}
