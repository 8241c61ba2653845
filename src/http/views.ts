/** Rows in the form of the API: RFC 3339 times, metadata as an object. */
import type {
  ListedEntry,
  JobRow,
  ListedAllowance,
  ListedCap,
  OnceAnswer,
  ProgressedJob,
  SettledJob,
} from "../account/contract.ts";
import { pauseOf, type PauseColumns } from "../domain/app_policy.ts";
import { jobView, termsView, timestamp } from "../domain/wire.ts";
import type { AppContext } from "./context.ts";
import { refuse } from "./refusals.ts";

export { jobView, timestamp };

export const timeOrNull = (at_ms: number | null) => (at_ms === null ? null : timestamp(at_ms));

/** The pause of an app; null: it is not paused. */
export function pauseView(app: PauseColumns) {
  const pause = pauseOf(app);
  return pause === null ? null : { since: timestamp(pause.since_ms), message: pause.message };
}

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

export function entryView(row: ListedEntry) {
  return {
    line: row.line,
    kind: row.kind,
    amount: row.amount,
    balance_after: row.balance_after,
    job_id: row.job_id,
    app: row.app_slug,
    note: row.note,
    ...termsView(row),
    by: row.by,
    at: timestamp(row.at_ms),
  };
}

/** The fields of every allowance. */
export function allowanceView(allowance: ListedAllowance) {
  return {
    id: allowance.id,
    resource: allowance.resource,
    scopes: allowance.scopes,
    apps: allowance.limits.app_slugs,
    caps: allowance.caps.map(capView),
    ends_with_session: allowance.ends_with_session,
    created_at: timestamp(allowance.created_at_ms),
    last_used_at: timeOrNull(allowance.last_used_at_ms),
    expires_at: timestamp(allowance.expires_at_ms),
  };
}

function capView({ resets_at_ms, ...cap }: ListedCap) {
  const room = Math.max(0, cap.credits - cap.spent);
  return { ...cap, room, resets_at: timeOrNull(resets_at_ms) };
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
