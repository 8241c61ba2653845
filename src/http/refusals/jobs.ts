/** The error messages of refusals about jobs and their credits. */
import { LOTS_MAX } from "../../domain/lots.ts";
import type { ErrorTable } from "./table.ts";

/** Creating a job grants nothing: a grant may have a daily budget, and no request about money waits for another object. */
const STARTERS =
  " An app's starter credits come with GET /api/wallet?app= and its slug, with the holder's own token.";

export const JOBS = {
  insufficient_credits: ({ credits, spendable, required, held, topup }) => ({
    error:
      (spendable === null || spendable === credits
        ? `The balance${credits === null ? "" : ` of ${credits} credits`} does not cover ${required}.`
        : `The ${spendable} credits that this app can use do not cover ${required}.`) +
      (topup === "pending"
        ? " An automatic top-up is on its way; try again in a few seconds."
        : credits === 0 && held === 0
          ? STARTERS
          : ""),
    more: { credits, spendable, held, required, ...(topup !== undefined && { topup }) },
  }),
  job_not_found: "You have no job with this id.",
  job_unknown: "You have no job with this job_id.",
  job_ended: "This job has already ended.",
  account_full:
    "The storage of this account is full. Its jobs can still be completed; new jobs require a new account.",
  token_storage_full: ({ limit_bytes }) => ({
    error: `This token's jobs have stored ${limit_bytes} bytes, the most that one token may store. Its jobs can still be completed; sign in again for a new token.`,
  }),
  too_many_lots: `The account has ${LOTS_MAX} lots of credits with terms, the most that are possible. Give credits without terms, or wait until a lot is used up or has expired.`,
  balance_limit:
    "This amount would take the balance out of its allowed range. Use a smaller amount.",
  balance_below_zero: ({ required, credits }) => ({
    error: `Taking ${required} of ${credits} credits would leave the balance below zero. To allow that, send allow_negative: true.`,
    more: { credits, required },
  }),
  overage_limit: ({ limit }) => ({
    error: `This job may cost at most ${limit} credits, because its app limits how far a cost may exceed the estimate. Nothing changed.`,
    more: { limit },
  }),
  refund_limit: ({ limit }) => ({
    error:
      limit === 0
        ? "This job has no cost left to refund: it is not settled, cost nothing, or was refunded already. Nothing changed."
        : `At most ${limit} credits of this job's cost can still be refunded. Send a smaller amount, or none to refund all of them.`,
    more: { limit },
  }),
  metadata_too_large: ({ limit_bytes }) => ({
    error: `The job's metadata is larger than ${limit_bytes} bytes. Store less.`,
  }),
  spent_limit: ({ limit }) => ({
    error: `This job holds ${limit} credits, so it can have spent at most that much. A progress report can raise its reserve.`,
    more: { limit },
  }),
  step_too_old: ({ step }) => ({
    error: `This job is at step ${step} already. If another process took the job over, stop working on it; else send a higher step.`,
    more: { step },
  }),
} satisfies Partial<ErrorTable>;
