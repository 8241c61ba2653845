/** Several jobs in one transaction: one item after another, each as if it were a request of its own. */
import { accepted, assertInvariant, refused } from "../../domain/result.ts";
import type {
  Answer,
  Batch,
  CompleteJobRequest,
  CreatedJob,
  CreateJobRequest,
  SettledJob,
} from "../contract.ts";
import { readAsSettled } from "../idempotency/job_keys.ts";
import type { ResponseForm } from "../idempotency/responses.ts";
import { createJobOfBatch } from "./create.ts";
import { completeJob, unknownJob } from "./settle.ts";
import { readBalance } from "../ledger/posting.ts";
import type { Transaction } from "../transaction.ts";

/** Creates jobs. A refused item changes nothing, and the next items are still tried. */
export function createJobs(
  transaction: Transaction,
  requests: readonly CreateJobRequest[],
): Answer<Batch<CreatedJob>> {
  return inOrder(transaction, requests, createJobOfBatch);
}

/** Completes jobs. To an app without access and without a job of its own here, the whole account is unknown. */
export function completeJobs(
  transaction: Transaction,
  requests: readonly CompleteJobRequest[],
): Answer<Batch<SettledJob>> {
  const batch = inOrder(transaction, requests, completeJob);
  const is_unknown =
    unknownJob(transaction).code === "account_unknown" &&
    batch.ok &&
    batch.value.results.every((it) => !it.ok && it.refusal.code === "account_unknown");
  return is_unknown ? refused({ code: "account_unknown" }) : batch;
}

function inOrder<Request, Value>(
  transaction: Transaction,
  requests: readonly Request[],
  operation: (transaction: Transaction, request: Request) => Answer<Value>,
): Answer<Batch<Value>> {
  const results = requests.map((request) => operation(transaction, request));
  return accepted({ results, credits: readBalance(transaction).balance_after });
}

const isAnyAccepted = ({ results }: Batch<unknown>): boolean => results.some(({ ok }) => ok);

/** Stored as it is, if any item succeeded. */
export const CREATED_FORM: ResponseForm<Batch<CreatedJob>> = {
  changed: isAnyAccepted,
  store: (response) => response,
  restore: (stored) => stored as Batch<CreatedJob>,
};

/**
 * Stored without the jobs themselves, because their metadata could be larger than a row may be. They are read
 * again, without what operators refunded since: nothing else changes a completed job.
 */
export const SETTLED_FORM: ResponseForm<Batch<SettledJob>> = {
  changed: isAnyAccepted,
  store: ({ results, credits }): StoredSettlements => ({
    credits,
    results: results.map((it) =>
      it.ok ? accepted({ job_id: it.value.job.id, credits: it.value.credits }) : it,
    ),
  }),
  restore: (stored, { store }) => {
    const { results, credits } = stored as StoredSettlements;
    const ids = results.flatMap((it) => (it.ok ? [it.value.job_id] : []));
    const jobs = new Map(store.readJobs(ids).map((job) => [job.id, job]));
    return {
      credits,
      results: results.map((it) => {
        if (!it.ok) return it;
        const job = jobs.get(it.value.job_id);
        assertInvariant(job !== undefined, "a settled job has its row");
        return accepted({ job: readAsSettled(store, job), credits: it.value.credits });
      }),
    };
  },
};

type StoredSettlements = Batch<{ readonly job_id: string; readonly credits: number | null }>;
