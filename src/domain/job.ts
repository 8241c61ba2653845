/** The states of a job: `started`, then `completed` or `failed`, and the cost of each step. Pure. */
import { costLimit, type ExpiryOutcome } from "./app_policy.ts";
import { fitsBalance, type Posting, type RunningBalance } from "./ledger.ts";
import { accepted, refused, type Result } from "./result.ts";
import type { Refusal } from "./refusals.ts";

export const JOB_STATUSES = ["started", "completed", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Why a job failed: its client reported it, or it expired. */
export type JobFailure = "reported" | "expired";

/** The parts of a job that the rules need. Costs are in credits. */
export interface JobState {
  readonly id: string;
  readonly app_slug: string | null;
  /** The number of the job's newest entry. */
  readonly line: number;
  readonly status: JobStatus;
  readonly reserved: number;
  readonly actual_cost: number;
  /** Credits of the cost that operators gave back. */
  readonly refunded: number;
  readonly failure: JobFailure | null;
  /** As in `JobPolicy`. */
  readonly max_overage_percent: number | null;
}

/** The result of a step: the job's new state, and its one ledger entry. */
export interface JobStep {
  readonly status: JobStatus;
  readonly actual_cost: number;
  readonly failure: JobFailure | null;
  readonly posting: Posting;
}

type StepResult = Result<JobStep, Refusal>;

function step(
  job: Pick<JobState, "id" | "app_slug"> & { readonly line: number | null },
  outcome: Pick<JobStep, "status" | "actual_cost" | "failure">,
  { kind, amount, held }: Pick<Posting, "kind" | "amount" | "held">,
): JobStep {
  const { id: job_id, line: previous_line, app_slug } = job;
  const posting = { kind, amount, held, job_id, previous_line, app_slug, note: null };
  return { ...outcome, posting };
}

/** Reserves the estimate of a new job. Refused if the balance does not cover it. */
export function reserve(
  {
    balance_after: credits,
    reserved_after: held,
  }: Pick<RunningBalance, "balance_after" | "reserved_after">,
  job: Pick<JobState, "id" | "app_slug">,
  cost_estimate: number,
): StepResult {
  if (credits < cost_estimate) {
    return refused({ code: "insufficient_credits", credits, held, required: cost_estimate });
  }
  const outcome = { status: "started", actual_cost: 0, failure: null } as const;
  // `0 - x` instead of `-x`: JavaScript's `-0` is not equal to 0 in deep comparisons.
  const amount = 0 - cost_estimate;
  const first = { ...job, line: null };
  return accepted(step(first, outcome, { kind: "reserve", amount, held: cost_estimate }));
}

/**
 * Charges the actual cost in full, even if the balance becomes negative, and returns the rest of the reserve.
 * An expired job may still be completed, once: a reserve that was kept at its expiry counts towards the cost. After
 * a refund it may not, because the refund could then exceed the cost.
 * Refused as `overage_limit` if the cost exceeds what the job's policy allows.
 */
export function complete(
  books: Pick<RunningBalance, "balance_after" | "reserved_after">,
  job: JobState,
  actual_cost: number,
): StepResult {
  const late = job.status === "failed" && job.failure === "expired" && job.refunded === 0;
  if (job.status !== "started" && !late) return refused({ code: "job_not_started" });
  const limit = costLimit(job.reserved, job.max_overage_percent);
  if (limit !== null && actual_cost > limit) return refused({ code: "overage_limit", limit });
  const taken = late ? job.actual_cost : job.reserved;
  const change = { amount: taken - actual_cost, held: late ? 0 : 0 - job.reserved };
  if (!fitsBalance(books, change)) return refused({ code: "balance_limit" });
  const outcome = { status: "completed", actual_cost, failure: null } as const;
  return accepted(step(job, outcome, { kind: "settle", ...change }));
}

/** Returns the reserve, or keeps it as the job's cost if `refund` is false. */
export function fail(job: JobState, refund: boolean): StepResult {
  if (job.status !== "started") return refused({ code: "job_not_started" });
  const outcome = { status: "failed", failure: "reported" } as const;
  const held = 0 - job.reserved;
  if (!refund) {
    const kept = { kind: "settle", amount: 0, held } as const;
    return accepted(step(job, { ...outcome, actual_cost: job.reserved }, kept));
  }
  const given_back = { kind: "refund", amount: job.reserved, held } as const;
  return accepted(step(job, { ...outcome, actual_cost: 0 }, given_back));
}

/**
 * Fails a started job that has expired. Its policy decides whether the reserve is returned or kept as its cost.
 */
export function expire(job: JobState & { readonly on_expiry: ExpiryOutcome }): JobStep {
  const outcome = { status: "failed", failure: "expired" } as const;
  const held = 0 - job.reserved;
  switch (job.on_expiry) {
    case "refund":
      return step(
        job,
        { ...outcome, actual_cost: 0 },
        { kind: "refund", amount: job.reserved, held },
      );
    case "charge":
      return step(
        job,
        { ...outcome, actual_cost: job.reserved },
        { kind: "settle", amount: 0, held },
      );
  }
}

/**
 * Gives back `amount` of an ended job's cost. Refused as `refund_limit` if less than that was not refunded yet, and for 0.
 */
export function refundCost(
  books: Pick<RunningBalance, "balance_after" | "reserved_after">,
  { id: job_id, line: previous_line, app_slug, actual_cost, refunded }: JobState,
  { amount, note }: { readonly amount: number; readonly note: string },
): Result<Posting, Refusal> {
  // A started job has cost nothing yet.
  const limit = actual_cost - refunded;
  if (amount > limit || amount === 0) return refused({ code: "refund_limit", limit });
  if (!fitsBalance(books, { amount, held: 0 })) {
    return refused({ code: "balance_limit" });
  }
  const of_job = { job_id, previous_line, app_slug, note };
  return accepted({ kind: "job_refund", amount, held: 0, ...of_job });
}
