/**
 * The last progress report of a job, in the job's own row: a repeated step gets its first response. Until a later step
 * only the job's end changes the row, so the response is the row with what the end changed put back.
 */
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused } from "../../domain/result.ts";
import type { Answer, OnceAnswer, ProgressedJob, ProgressRequest } from "../contract.ts";
import type { JobRow } from "../sql/schema.ts";

/** `progress_json` of a job's row. */
interface LastReport {
  /** Steps that the job has taken. */
  readonly count: number;
  /** The run that took the step; absent: its caller named none. */
  readonly run?: string | undefined;
  readonly fingerprint: string;
  readonly credits: number;
  readonly updated_at_ms: number;
  /** The step's entry, after which the balance was `credits`. */
  readonly line: number;
  /** The columns before the job's end; undefined: the end did not change them. */
  readonly metadata_json?: string | null;
  readonly from_json?: string | null;
}

/** Columns that a job's end may change, and that the response to a step shows. */
const SHOWN = ["metadata_json", "from_json"] as const;
type ShownColumns = Pick<JobRow, (typeof SHOWN)[number]>;

const lastReport = ({ progress_json }: Pick<JobRow, "progress_json">): LastReport | null =>
  progress_json === null ? null : (JSON.parse(progress_json) as LastReport);

/** How many steps the job has taken. */
export function stepsTaken(job: JobRow): number {
  return lastReport(job)?.count ?? 0;
}

/** The columns of a new step. */
export function stepColumns(
  job: JobRow,
  { step, run, fingerprint }: ProgressRequest,
  response: Pick<LastReport, "credits" | "updated_at_ms" | "line">,
): Pick<JobRow, "step" | "progress_json"> {
  const report: LastReport = { count: stepsTaken(job) + 1, run, fingerprint, ...response };
  return { step, progress_json: JSON.stringify(report) };
}

/** The column when a job ends: the end may change what the last response showed. */
export function reportAfterEnd(job: JobRow, ended: ShownColumns): Pick<JobRow, "progress_json"> {
  const { progress_json } = job;
  const report = lastReport(job);
  const changed = SHOWN.filter((column) => ended[column] !== job[column]);
  if (report === null || changed.length === 0) return { progress_json };
  const before = Object.fromEntries(changed.map((column) => [column, job[column]]));
  // A job that ended early may end once more: what it was before its first end stays.
  return { progress_json: JSON.stringify({ ...before, ...report }) };
}

/** Refuses a step before the job's last one: another run took the job over. Null: not refused. */
export function whyTooOld(job: JobRow, step: number | undefined): Refusal | null {
  return step !== undefined && step < job.step ? { code: "step_too_old", step: job.step } : null;
}

/** Takes a step once. A step that another run took is too old. */
export function onceInStep(
  job: JobRow,
  { step, run, fingerprint }: ProgressRequest,
  operation: () => Answer<ProgressedJob>,
): OnceAnswer<ProgressedJob> {
  const too_old = whyTooOld(job, step);
  if (too_old !== null) return refused(too_old);
  const report = step === job.step ? lastReport(job) : null;
  if (report === null) {
    const answer = operation();
    return answer.ok ? accepted({ value: answer.value, replayed: false }) : answer;
  }
  if (report.run !== run) return refused({ code: "step_too_old", step });
  if (report.fingerprint !== fingerprint) return refused({ code: "idempotency_key_reused", step });
  return accepted({ value: firstResponse(job, report), replayed: true });
}

function firstResponse(job: JobRow, report: LastReport): ProgressedJob {
  const { credits, updated_at_ms, line } = report;
  const { metadata_json = job.metadata_json, from_json = job.from_json } = report;
  const started = { status: "started", actual_cost: 0, refunded: 0 } as const;
  const not_failed = { failure: null, failure_reason: null };
  return {
    job: { ...job, ...started, ...not_failed, updated_at_ms, line, metadata_json, from_json },
    credits,
  };
}
