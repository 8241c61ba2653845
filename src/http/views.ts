/** Rows in the form of the API: RFC 3339 times, metadata as an object. */
import type {
  EntryRow,
  JobRow,
  OnceAnswer,
  ProgressedJob,
  SettledJob,
} from "../account/contract.ts";
import { jobView, timestamp } from "../domain/wire.ts";
import type { AppContext } from "./context.ts";
import { refuse } from "./refusals.ts";

export { jobView, timestamp };

/**
 * Jobs as JSON, the same bytes as of their views. The stored metadata is JSON that we serialised, so it is inserted as
 * it is: parsing and serialising it again took most of the time of a list.
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

/** The response of complete, fail, cancel and progress. */
export function settledView({ job, credits }: SettledJob | ProgressedJob) {
  return { job: jobView(job), credits };
}

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

/** Responds to a write with `view` of its value. A stored response of an earlier request gets a header. */
export function respondOnce<Value>(
  context: AppContext,
  result: OnceAnswer<Value>,
  view: (value: Value) => object,
): Response {
  if (!result.ok) return refuse(context, result.refusal);
  if (result.value.replayed) context.header("Idempotency-Replayed", "true");
  return context.json(view(result.value.value));
}

/** {@link respondOnce} for a write without a value. */
export function respondDone(context: AppContext, result: OnceAnswer<null>): Response {
  return respondOnce(context, result, () => ({ ok: true }));
}
