/**
 * The idempotency key of the request that completed or failed a job. It is in the job's own row, which is written
 * anyway. Such a job never changes again, so its row and the balance of its last entry are the response.
 */
import { IDEMPOTENCY_KEEP_MS } from "../../domain/limits.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { Answer, IdempotencyGuard, OnceAnswer, SettledJob } from "../contract.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";
import { keyedRequest, once, type FirstRequest, type KeyedRequest } from "./once.ts";

type KeyColumns = Pick<
  JobRow,
  "idempotency_caller" | "idempotency_key" | "idempotency_fingerprint"
>;

/** The key columns of a job's row. `keyed`: null if the request had no key. */
export function keyColumns(keyed: KeyedRequest | null): KeyColumns {
  return {
    idempotency_caller: keyed?.caller ?? null,
    idempotency_key: keyed?.key ?? null,
    idempotency_fingerprint: keyed?.fingerprint ?? null,
  };
}

/** Completes or fails a job once per key. `status` identifies the endpoint, because each endpoint has its own keys. */
export function onceInJob(
  transaction: Transaction,
  guard: IdempotencyGuard | null,
  { job_id, status }: { readonly job_id: string; readonly status: "completed" | "failed" },
  operation: (keyed: KeyedRequest | null) => Answer<SettledJob>,
): OnceAnswer<SettledJob> {
  const keyed = keyedRequest(transaction, guard);
  const job = keyed === null ? null : transaction.store.readJob(job_id);
  const is_first =
    job?.status === status &&
    job.idempotency_caller === keyed?.caller &&
    job.idempotency_key === keyed?.key &&
    job.updated_at_ms > transaction.now_ms - IDEMPOTENCY_KEEP_MS;
  const first = is_first ? firstRequest(transaction, job) : null;
  return once(keyed, first, () => operation(keyed));
}

function firstRequest({ store }: Transaction, job: JobRow): FirstRequest<SettledJob> {
  return {
    fingerprint: job.idempotency_fingerprint ?? "",
    response: () => {
      const entry = store.readEntry(job.line);
      assertInvariant(entry?.job_id === job.id, "a job names its last entry");
      return { job, credits: entry.balance_after };
    },
  };
}
