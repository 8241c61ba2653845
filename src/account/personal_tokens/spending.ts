/**
 * What a token has used: credits of its cap, and storage. Both are columns of its own row, written in the transaction
 * of the job.
 */
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
  return cap === null ? null : { cap, created_at_ms, ...personal_tokens.readUse(id) };
}

/** When something that a token's job spends now counts: no new window begins once the token ended or ran out. */
export function countedAt(
  { ended_at_ms, expires_at_ms }: PersonalTokenRow,
  now_ms: number,
): number {
  return Math.min(ended_at_ms ?? now_ms, expires_at_ms, now_ms);
}

/**
 * Counts what a job moves as used by the token that created the job: `credits`, negative if they
 * are given back, of its cap, and `bytes` stored. Writes nothing if there is nothing to count.
 */
export function chargeCreator(
  { personal_tokens, now_ms }: Transaction,
  job: Pick<JobRow, "personal_token_id" | "created_at_ms">,
  { credits, bytes }: { readonly credits: number; readonly bytes: number },
): void {
  const id = job.personal_token_id;
  const personal_token = id === null ? null : personal_tokens.readCreator(id);
  if (personal_token === null) return;
  const cap = capOf(personal_token);
  const is_spending = cap !== null && credits !== 0;
  if (!is_spending && bytes === 0) return;
  const use = personal_tokens.readUse(personal_token.id);
  const spending = is_spending
    ? rules.charge(
        { cap, ...personal_token, ...use },
        credits,
        job.created_at_ms,
        countedAt(personal_token, now_ms),
      )
    : use;
  const stored_bytes = use.stored_bytes + bytes;
  personal_tokens.saveUse(personal_token.id, { ...use, ...spending, stored_bytes });
}
