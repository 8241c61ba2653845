/** The states of a job: `started`, then `completed` or `failed`, and the cost of each step. Pure. */
import { costLimit, type ExpiryOutcome } from "./app_policy.ts";
import { fitsBalance, type Posting, type RunningBalance } from "./ledger.ts";
import { accepted, refused, type Result } from "./result.ts";
import type { Refusal } from "./refusals.ts";

export const JOB_STATUSES = ["started", "completed", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Why a job failed: its client reported it, its time ran out, or its holder cancelled it. */
export type JobFailure = "reported" | "expired" | "cancelled";

/**
 * Whether the job ended before its client said so. Its client may still complete it, so cancelling makes no work free.
 */
export function endedEarly({ failure }: { readonly failure: JobFailure | null }): boolean {
  return failure === "expired" || failure === "cancelled";
}

/** The parts of a job that the rules need. Costs are in credits. */
export interface JobState {
  readonly id: string;
  readonly app_slug: string | null;
  /** The number of the job's newest entry. */
  readonly line: number;
  readonly status: JobStatus;
  /** The job's first reserve. Its policy limits the cost by this. */
  readonly cost_estimate: number;
  readonly reserved: number;
  readonly actual_cost: number;
  /** Credits of the cost that operators gave back. */
  readonly refunded: number;
  /** The job's cost if it expires, in credits; null: its policy decides. */
  readonly spent: number | null;
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

type Books = Pick<RunningBalance, "balance_after" | "reserved_after">;
type PostedJob = Pick<JobState, "id" | "app_slug"> & { readonly line: number | null };
type Change = Pick<Posting, "kind" | "amount" | "held">;

function step(
  job: PostedJob,
  outcome: Pick<JobStep, "status" | "actual_cost" | "failure">,
  change: Change,
): JobStep {
  return { ...outcome, posting: postingOf(job, change) };
}

function postingOf(
  { id: job_id, line: previous_line, app_slug }: PostedJob,
  change: Change,
): Posting {
  return { ...change, job_id, previous_line, app_slug, note: null };
}

/** The balance, and the credits of it that the job's app can reserve; see `lots.ts`. */
type SpendableBooks = Books & { readonly spendable: number };

/** Reserves the estimate of a new job. Refused if what its app can reserve does not cover it. */
export function reserve(
  { balance_after: credits, reserved_after: held, spendable }: SpendableBooks,
  job: Pick<JobState, "id" | "app_slug">,
  cost_estimate: number,
): StepResult {
  if (spendable < cost_estimate) {
    const required = cost_estimate;
    return refused({ code: "insufficient_credits", credits, spendable, held, required });
  }
  const outcome = { status: "started", actual_cost: 0, failure: null } as const;
  // `0 - x` instead of `-x`: JavaScript's `-0` is not equal to 0 in deep comparisons.
  const amount = 0 - cost_estimate;
  const first = { ...job, line: null };
  return accepted(step(first, outcome, { kind: "reserve", amount, held: cost_estimate }));
}

/** The new terms of a started job; null: unchanged. */
interface ProgressTerms {
  readonly reserve: number | null;
  readonly spent: number | null;
}

/** The new reserve of a started job, and its entry for the difference, which may be 0. */
interface ProgressStep {
  readonly reserved: number;
  readonly spent: number | null;
  readonly posting: Posting;
}

/**
 * Raises or lowers the reserve of a started job, and states what it has spent. Refused as `insufficient_credits` if the
 * credits that the app can reserve do not cover what is added, as `spent_limit` if more is spent than is held, and as
 * `overage_limit` if more would be held than the job may cost.
 */
export function progress(
  { balance_after: credits, reserved_after: held, spendable }: SpendableBooks,
  job: JobState,
  terms: ProgressTerms,
): Result<ProgressStep, Refusal> {
  if (job.status !== "started") return refused({ code: "job_ended" });
  const reserved = terms.reserve ?? job.reserved;
  const spent = terms.spent ?? job.spent;
  if (spent !== null && spent > reserved) return refused({ code: "spent_limit", limit: reserved });
  const added = reserved - job.reserved;
  const limit = limitOf(job);
  if (added > 0 && limit !== null && reserved > limit) {
    return refused({ code: "overage_limit", limit });
  }
  if (added > 0 && spendable < added) {
    return refused({ code: "insufficient_credits", credits, spendable, held, required: added });
  }
  const kind = added < 0 ? ("refund" as const) : ("reserve" as const);
  const posting = postingOf(job, { kind, amount: 0 - added, held: added });
  return accepted({ reserved, spent, posting });
}

/**
 * Charges the actual cost in full, even if the balance becomes negative, and returns the rest of the reserve.
 * A job that expired or was cancelled may still be completed, once: a reserve that was kept counts towards the cost. After
 * a refund it may not, because the refund could then exceed the cost.
 * Refused as `overage_limit` if the cost exceeds what the job's policy allows.
 */
export function complete(books: Books, job: JobState, actual_cost: number): StepResult {
  const late = endedEarly(job) && job.refunded === 0;
  if (job.status !== "started" && !late) return refused({ code: "job_ended" });
  const limit = limitOf(job);
  if (limit !== null && actual_cost > limit) return refused({ code: "overage_limit", limit });
  const taken = late ? job.actual_cost : job.reserved;
  const change = { amount: taken - actual_cost, held: late ? 0 : 0 - job.reserved };
  if (!fitsBalance(books, change)) return refused({ code: "balance_limit" });
  const outcome = { status: "completed", actual_cost, failure: null } as const;
  return accepted(step(job, outcome, { kind: "settle", ...change }));
}

/** The most that the job may cost, whatever it holds now; null: no limit. */
function limitOf({ cost_estimate, max_overage_percent }: JobState): number | null {
  return costLimit(cost_estimate, max_overage_percent);
}

/** Fails a job at `cost` and returns the rest of its reserve. Refused as `spent_limit` if the reserve is smaller. */
export function fail(job: JobState, cost: number): StepResult {
  if (job.status !== "started") return refused({ code: "job_ended" });
  if (cost > job.reserved) return refused({ code: "spent_limit", limit: job.reserved });
  return accepted(failed(job, "reported", cost));
}

/**
 * Fails a started job that has expired or is cancelled. It costs what it has spent. If it never said, its policy decides
 * whether the reserve is returned or kept as its cost.
 */
export function endEarly(
  job: JobState & { readonly on_expiry: ExpiryOutcome },
  failure: "expired" | "cancelled",
): JobStep {
  const { spent, reserved, on_expiry } = job;
  return failed(job, failure, spent ?? (on_expiry === "charge" ? reserved : 0));
}

function failed(job: JobState, failure: JobFailure, actual_cost: number): JobStep {
  const kind = actual_cost > 0 ? ("settle" as const) : ("refund" as const);
  const change = { kind, amount: job.reserved - actual_cost, held: 0 - job.reserved };
  return step(job, { status: "failed", failure, actual_cost }, change);
}

/**
 * Gives back `amount` of an ended job's cost. Refused as `refund_limit` if less than that was not refunded yet, and for 0.
 */
export function refundCost(
  books: Books,
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
