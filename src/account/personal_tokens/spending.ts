/** What capped tokens have spent: columns of the token's own row, written in the transaction of the money. */
import * as rules from "../../domain/personal_token.ts";
import type { JobRow } from "../store.ts";
import type { Transaction } from "../transaction.ts";
import { capOf, type PersonalTokenRow } from "./store.ts";

/** A token's cap and what it has spent as of now; null without a cap, which reads nothing. */
export function readBudget(
  { personal_tokens }: Transaction,
  { id, created_at_ms, ...row }: PersonalTokenRow,
): rules.Budget | null {
  const cap = capOf(row);
  return cap === null ? null : { cap, created_at_ms, ...personal_tokens.readSpending(id) };
}

/**
 * Counts `credits` that a job moves, whoever moves them, as spent by the token that created the job; a negative
 * number is given back. Writes nothing if no cap counts it.
 */
export function chargeCreator(
  transaction: Transaction,
  job: Pick<JobRow, "personal_token_id" | "created_at_ms">,
  credits: number,
): void {
  const { personal_tokens, now_ms } = transaction;
  if (job.personal_token_id === null || credits === 0) return;
  const personal_token = personal_tokens.read(job.personal_token_id);
  const budget = personal_token === null ? null : readBudget(transaction, personal_token);
  if (budget === null) return;
  const spending = rules.charge(budget, credits, job.created_at_ms, now_ms);
  personal_tokens.saveSpending(job.personal_token_id, spending);
}
