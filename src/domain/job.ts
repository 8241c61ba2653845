/** The life of a job: `started`, then `completed` or `failed`, and what each step costs. Pure. */
import { costLimit, type ExpiryOutcome } from "./app_policy.ts";
import { fitsBooks, type Posting, type RunningBalance } from "./ledger.ts";
import { accepted, refused, type Result } from "./result.ts";
import type { Refusal } from "./refusals.ts";

export const JOB_STATUSES = ["started", "completed", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Why a job failed: its client said so, or its time ran out. */
export type JobFailure = "reported" | "expired";

/** What the rules need to know of a job. Costs are in credits. */
export interface JobState {
  readonly id: string;
  readonly app_slug: string | null;
  readonly status: JobStatus;
  readonly reserved: number;
  readonly actual_cost: number;
  readonly failure: JobFailure | null;
  /** As in `JobPolicy`. */
  readonly max_overage_percent: number | null;
}

/** The outcome of a step: what the job becomes, and the one line the passbook gets for it. */
export interface JobStep {
  readonly status: JobStatus;
  readonly actual_cost: number;
  readonly failure: JobFailure | null;
  readonly posting: Posting;
}

type StepResult = Result<JobStep, Refusal>;

function step(
  job: Pick<JobState, "id" | "app_slug">,
  outcome: Pick<JobStep, "status" | "actual_cost" | "failure">,
  { kind, amount, held }: Pick<Posting, "kind" | "amount" | "held">,
): JobStep {
  const { id: job_id, app_slug } = job;
  return { ...outcome, posting: { kind, amount, held, job_id, app_slug, note: null } };
}

/** A new job takes its estimate off the balance. Refused where the balance does not cover it. */
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
  // `0 - x`, since `-0` is another value than 0 to JSON-minded comparisons.
  const amount = 0 - cost_estimate;
  return accepted(step(job, outcome, { kind: "reserve", amount, held: cost_estimate }));
}

/**
 * Completing charges the real cost in full, below zero if need be, and gives back what was taken
 * beyond it. A job that timed out may still be completed, once: what its time-out left with the holder
 * is charged now, what it kept beyond the cost comes back. Refused as `overage_limit` where the cost
 * exceeds what the job's policy allows.
 */
export function complete(
  books: Pick<RunningBalance, "balance_after" | "reserved_after">,
  job: JobState,
  actual_cost: number,
): StepResult {
  const late = job.status === "failed" && job.failure === "expired";
  if (job.status !== "started" && !late) return refused({ code: "job_not_started" });
  const limit = costLimit(job.reserved, job.max_overage_percent);
  if (limit !== null && actual_cost > limit) return refused({ code: "overage_limit", limit });
  const taken = late ? job.actual_cost : job.reserved;
  const change = { amount: taken - actual_cost, held: late ? 0 : 0 - job.reserved };
  if (!fitsBooks(books, change)) return refused({ code: "balance_limit" });
  const outcome = { status: "completed", actual_cost, failure: null } as const;
  return accepted(step(job, outcome, { kind: "settle", ...change }));
}

/** Failing gives the reserve back, or keeps it as the job's cost where `refund` is false. */
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
 * A started job whose time ran out fails by itself. Its whole reserve comes back, or stays as its cost
 * where it was created so.
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
