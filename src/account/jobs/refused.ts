/** Requests of jobs that got 402, for webhooks and streams. */
import { consentedClient } from "../../domain/allowance.ts";
import { limitReachedBy } from "../../domain/access_event.ts";
import { REFUSAL_STATUS } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { refused } from "../../domain/result.ts";
import { afterRefusal, roomNow, type CapSpending } from "../../domain/spending_cap.ts";
import { isCharging } from "../caller.ts";
import type { Answer, JobRow } from "../contract.ts";
import { capsOf } from "../sql/allowance_store.ts";
import { isTopUpDue } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";

type OverBudget = Extract<Refusal, { readonly code: "token_budget_exceeded" }>;

/** Whose request it was: the app and the allowances of a job. */
type Refused = Pick<JobRow, "app_slug" | "allowance_path">;

/**
 * Announces a refusal with status 402, in the request's own transaction. @returns the answer, without the balance for an app
 * that charges for a connection.
 */
export function announcing402<Value>(
  transaction: Transaction,
  { app_slug, allowance_path }: Refused,
  answer: Answer<Value>,
): Answer<Value> {
  if (answer.ok || REFUSAL_STATUS[answer.refusal.code] !== 402) return answer;
  const { announce, now_ms } = transaction;
  const { refusal } = answer;
  if (app_slug !== null) announce.requestRefused(app_slug, now_ms);
  if (refusal.code === "token_budget_exceeded") announceLimit(transaction, allowance_path, refusal);
  const is_hidden = refusal.code === "insufficient_credits" && isCharging(transaction);
  if (is_hidden) return refused({ ...refusal, credits: null, spendable: null, held: null });
  const is_short = refusal.code === "insufficient_credits" && isTopUpDue(transaction);
  return is_short ? refused({ ...refusal, topup: "pending" }) : answer;
}

/** Announces the connection whose cap refused a request for the first time in its period, and notes the period. */
function announceLimit(
  { allowances, announce, now_ms }: Transaction,
  allowance_path: string | null,
  { cap, room, resets_at_ms }: OverBudget,
): void {
  const isRefusing = (one: CapSpending): boolean =>
    one.period === cap.period && one.credits === cap.credits && roomNow(one, now_ms) === room;
  const row = allowances.readPath(allowance_path).find((it) => capsOf(it).some(isRefusing));
  if (row === undefined || consentedClient(row) === null) return;
  const before = capsOf(row);
  const after = before.map((one) => (isRefusing(one) ? (afterRefusal(one, now_ms) ?? one) : one));
  if (after.every((one, at) => one === before[at])) return;
  allowances.change(row.id, { caps_json: JSON.stringify(after) });
  announce.accessChanged(limitReachedBy(row, cap, resets_at_ms), now_ms);
}
