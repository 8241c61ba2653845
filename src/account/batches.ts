/** Several jobs in one transaction: item by item, in order, each as if it came alone. */
import { accepted, assertInvariant } from "../domain/result.ts";
import type {
  Answer,
  Batch,
  CompleteJobRequest,
  CreatedJob,
  CreateJobRequest,
  SettledJob,
} from "./contract.ts";
import type { KeptForm } from "./idempotency/kept_answers.ts";
import { completeJob, createJob } from "./jobs.ts";
import { readBooks } from "./ledger.ts";
import type { Transaction } from "./transaction.ts";

/** Creates jobs. An item that is refused changes nothing, and stops no other. */
export function createJobs(
  transaction: Transaction,
  requests: readonly CreateJobRequest[],
): Answer<Batch<CreatedJob>> {
  return inOrder(transaction, requests, createJob);
}

/** Settles jobs, likewise. */
export function completeJobs(
  transaction: Transaction,
  requests: readonly CompleteJobRequest[],
): Answer<Batch<SettledJob>> {
  return inOrder(transaction, requests, completeJob);
}

function inOrder<Request, Value>(
  transaction: Transaction,
  requests: readonly Request[],
  operation: (transaction: Transaction, request: Request) => Answer<Value>,
): Answer<Batch<Value>> {
  const results = requests.map((request) => operation(transaction, request));
  return accepted({ results, credits: readBooks(transaction).balance_after });
}

const isAnyDone = ({ results }: Batch<unknown>): boolean => results.some(({ ok }) => ok);

/** Kept as it is, where any item was done. */
export const CREATED_FORM: KeptForm<Batch<CreatedJob>> = {
  isKept: isAnyDone,
  keep: (answer) => answer,
  recall: (kept) => kept as Batch<CreatedJob>,
};

/**
 * Kept without the jobs themselves, whose metadata could be more than a row holds. They are read again:
 * a completed job never changes.
 */
export const SETTLED_FORM: KeptForm<Batch<SettledJob>> = {
  isKept: isAnyDone,
  keep: ({ results, credits }): KeptSettlements => ({
    credits,
    results: results.map((it) =>
      it.ok ? accepted({ job_id: it.value.job.id, credits: it.value.credits }) : it,
    ),
  }),
  recall: (kept, { store }) => {
    const { results, credits } = kept as KeptSettlements;
    const ids = results.flatMap((it) => (it.ok ? [it.value.job_id] : []));
    const jobs = new Map(store.readJobs(ids).map((job) => [job.id, job]));
    return {
      credits,
      results: results.map((it) => {
        if (!it.ok) return it;
        const job = jobs.get(it.value.job_id);
        assertInvariant(job !== undefined, "a settled job is there");
        return accepted({ job, credits: it.value.credits });
      }),
    };
  },
};

type KeptSettlements = Batch<{ readonly job_id: string; readonly credits: number }>;
