/** Rows as the API shows them: RFC 3339 times, metadata as an object. */
import type { EntryRow, OnceAnswer, SettledJob } from "../account/contract.ts";
import { jobView, timestamp } from "../domain/wire.ts";
import type { AppContext } from "./context.ts";
import { refuse } from "./refusals.ts";

export { jobView, timestamp };

/** The answer of complete and fail. */
export function settledView({ job, credits }: SettledJob) {
  return { job: jobView(job), credits };
}

/** A line of the passbook. */
export function entryView(row: EntryRow) {
  return {
    line: row.line,
    kind: row.kind,
    amount: row.amount,
    balance_after: row.balance_after,
    job_id: row.job_id,
    app: row.app_slug,
    note: row.note,
    at: timestamp(row.at_ms),
  };
}

/** Answers a write: 200 with `view` of its value, marked where it is a kept answer. */
export function answerOnce<Value>(
  context: AppContext,
  answer: OnceAnswer<Value>,
  view: (value: Value) => object,
): Response {
  if (!answer.ok) return refuse(context, answer.refusal);
  if (answer.value.replayed) context.header("Idempotency-Replayed", "true");
  return context.json(view(answer.value.value));
}
