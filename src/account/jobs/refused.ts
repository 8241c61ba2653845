/** Requests of jobs that got 402, for the webhooks of the job's app. */
import { REFUSAL_STATUS } from "../../domain/refusal_codes.ts";
import type { Answer } from "../contract.ts";
import type { Transaction } from "../transaction.ts";

/** Notes a refusal with status 402, in the request's own transaction. @returns the answer. */
export function noting402<Value>(
  { noteRefusal, now_ms }: Transaction,
  app_slug: string | null,
  answer: Answer<Value>,
): Answer<Value> {
  if (app_slug !== null && !answer.ok && REFUSAL_STATUS[answer.refusal.code] === 402) {
    noteRefusal(app_slug, now_ms);
  }
  return answer;
}
