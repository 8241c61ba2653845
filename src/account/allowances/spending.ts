/**
 * What a personal token has used and may still use: credits of its cap, and storage. Both are columns of the token's
 * own row, written in the transaction of the job that uses them.
 */
import { TOKEN_STORAGE_MAX_BYTES } from "../../domain/limits.ts";
import { whyCapExceeded } from "../../domain/personal_token.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { assertInvariant } from "../../domain/result.ts";
import { charge, type CapSpending } from "../../domain/spending_cap.ts";
import { actingToken, whyNotForApp } from "../caller.ts";
import { capOf, type PersonalTokenRow } from "../sql/personal_token_store.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** A token's cap and what it has spent until now; null if it has no cap, which reads nothing. */
export function readBudget(
  { personal_tokens }: Transaction,
  { id, created_at_ms, ...row }: PersonalTokenRow,
): CapSpending | null {
  const cap = capOf(row);
  return cap === null ? null : { cap, created_at_ms, ...personal_tokens.readUse(id) };
}

/** Why the caller may not reserve so many credits for an app; null if it may. */
export function whyNotReserve(
  transaction: Transaction,
  app_slug: string,
  credits: number,
): Refusal | null {
  return whyNotForApp(transaction, app_slug) ?? whyOverBudget(transaction, credits);
}

function whyOverBudget(transaction: Transaction, credits: number): Refusal | null {
  const personal_token = actingToken(transaction);
  const budget = personal_token === null ? null : readBudget(transaction, personal_token);
  return budget === null ? null : whyCapExceeded(budget, credits, transaction.now_ms);
}

/** Why the acting token may not store so many bytes more; null if it may, or if no token acts. */
export function whyNoStorage(transaction: Transaction, bytes: number): Refusal | null {
  const personal_token = actingToken(transaction);
  if (personal_token === null) return null;
  const { stored_bytes } = transaction.personal_tokens.readUse(personal_token.id);
  if (stored_bytes + bytes <= TOKEN_STORAGE_MAX_BYTES) return null;
  return { code: "token_storage_full", limit_bytes: TOKEN_STORAGE_MAX_BYTES };
}

/**
 * Why a job may not be settled at `actual_cost`, which takes `credits` more off the balance; null if it may. The cap
 * of the token that created a job also binds an app's key that settles it, even after the token has ended. Then the
 * job may not cost more than its reserve either.
 */
export function whyOverCap(
  transaction: Transaction,
  job: JobRow,
  actual_cost: number,
  credits: number,
): Refusal | null {
  const { caller, personal_tokens, now_ms } = transaction;
  if (caller.kind !== "app") return whyOverBudget(transaction, credits);
  if (job.token_cap_credits === null || job.personal_token_id === null) return null;
  const creator = personal_tokens.readCreator(job.personal_token_id);
  const budget = creator === null ? null : readBudget(transaction, creator);
  assertInvariant(creator !== null && budget !== null, "a capped token's row stays");
  const has_ended = creator.ended_at_ms !== null || creator.expires_at_ms <= now_ms;
  if (has_ended && actual_cost > job.reserved) return { code: "scope", reason: "cap_ended" };
  return whyCapExceeded(budget, credits, countedAt(creator, now_ms));
}

/** The moment at which a token's spending counts: an ended or expired token begins no new period. */
function countedAt({ ended_at_ms, expires_at_ms }: PersonalTokenRow, now_ms: number): number {
  return Math.min(ended_at_ms ?? now_ms, expires_at_ms, now_ms);
}

/**
 * Adds to what the creator of a job has used: `credits` of its cap, negative if they are given back, and `bytes`
 * stored. Writes nothing if a browser session or an app created the job, or if nothing changes.
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
    ? charge(
        { cap, ...personal_token, ...use },
        credits,
        job.created_at_ms,
        countedAt(personal_token, now_ms),
      )
    : use;
  const stored_bytes = use.stored_bytes + bytes;
  personal_tokens.saveUse(personal_token.id, { ...use, ...spending, stored_bytes });
}
