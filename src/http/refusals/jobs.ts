/** The error messages of refusals about jobs and their credits. */
import type { Refusal } from "../../domain/refusals.ts";

/** What a refusal adds to its response. */
export interface ErrorParts {
  /** A message for people: what is wrong and what to do next. */
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the body in addition to `error` and `code`. */
  readonly more?: Readonly<Record<string, number | string | object | null>>;
}

const JOB_LIMIT_SUBJECTS = {
  account: "An account has",
  app: "An app has in one account",
  token: "A token has",
} as const;

type JobRefusalCode =
  | "insufficient_credits"
  | "job_not_found"
  | "job_unknown"
  | "job_not_started"
  | "too_many_open_jobs"
  | "account_full"
  | "token_storage_full"
  | "balance_limit"
  | "balance_below_zero"
  | "overage_limit"
  | "refund_limit"
  | "metadata_too_large"
  | "spent_limit"
  | "step_too_old"
  | "too_many_steps";

type JobRefusal = Extract<Refusal, { readonly code: JobRefusalCode }>;

export function jobParts(refusal: JobRefusal): ErrorParts {
  switch (refusal.code) {
    case "insufficient_credits":
      return {
        error: `The balance of ${refusal.credits} credits does not cover ${refusal.required}.`,
        more: { credits: refusal.credits, held: refusal.held, required: refusal.required },
      };
    case "job_not_found":
      return { error: "You have no job with this id." };
    case "job_unknown":
      return { error: "You have no job with this job_id." };
    case "job_not_started":
      return { error: "This job has already ended." };
    case "too_many_open_jobs":
      return {
        error: `${JOB_LIMIT_SUBJECTS[refusal.of]} at most ${refusal.limit} started jobs at once. Complete, fail or cancel some of them first.`,
      };
    case "account_full":
      return {
        error:
          "The storage of this account is full. Its jobs can still be completed; new jobs require a new account.",
      };
    case "token_storage_full":
      return {
        error: `This token's jobs have stored ${refusal.limit_bytes} bytes, the most that one token may store. Its jobs can still be completed; sign in again for a new token.`,
      };
    case "balance_limit":
      return {
        error: "This amount would take the balance out of its allowed range. Use a smaller amount.",
      };
    case "balance_below_zero":
      return {
        error: `Taking ${refusal.required} of ${refusal.credits} credits would leave the balance below zero. To allow that, send allow_negative: true.`,
        more: { credits: refusal.credits, required: refusal.required },
      };
    case "overage_limit":
      return {
        error: `This job may cost at most ${refusal.limit} credits, because its app limits how far a cost may exceed the estimate. Nothing changed.`,
        more: { limit: refusal.limit },
      };
    case "refund_limit":
      return {
        error:
          refusal.limit === 0
            ? "This job has no cost left to refund: it is not settled, cost nothing, or was refunded already. Nothing changed."
            : `At most ${refusal.limit} credits of this job's cost can still be refunded. Send a smaller amount, or none to refund all of them.`,
        more: { limit: refusal.limit },
      };
    case "metadata_too_large":
      return {
        error: `The job's metadata is larger than ${refusal.limit_bytes} bytes. Store less.`,
      };
    case "spent_limit":
      return {
        error: `spent can be at most ${refusal.limit}, the credits that this job holds. Raise reserve in the same step.`,
        more: { limit: refusal.limit },
      };
    case "step_too_old":
      return {
        error: `This job is at step ${refusal.step} already. If another process took the job over, stop working on it; else report a higher step.`,
        more: { step: refusal.step },
      };
    case "too_many_steps":
      return {
        error: `A job takes at most ${refusal.limit} steps. It can still be completed or failed.`,
      };
  }
}
