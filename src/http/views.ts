/** Rows as the API shows them: RFC 3339 times, metadata as an object. */
import type { EntryRow, JobRow, OnceAnswer, SettledJob } from "../account/contract.ts";
import { jobView, timestamp } from "../domain/wire.ts";
import type { AppContext } from "./context.ts";
import { refuse } from "./refusals.ts";

export { jobView, timestamp };

/**
 * Jobs as JSON, the same bytes as of their views. Their metadata was serialised by us when it was
 * stored, and goes through as it is: parsing it only to serialise it again is the larger part of a list.
 */
export function jobsJson(rows: readonly JobRow[]): string {
  return `[${rows.map(jobJson).join(",")}]`;
}

function jobJson(row: JobRow): string {
  const view = JSON.stringify(jobView({ ...row, metadata_json: null }));
  return row.metadata_json === null
    ? view
    : `${view.slice(0, -"null}".length)}${row.metadata_json}}`;
}

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

/** {@link answerOnce} of a write that has nothing more to say. */
export function answerDone(context: AppContext, answer: OnceAnswer<null>): Response {
  return answerOnce(context, answer, () => ({ ok: true }));
}
