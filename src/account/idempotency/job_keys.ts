/**
 * The idempotency key of the request that completed or failed a job. It is in the job's own row, which is written
 * anyway. Only an operator's refund changes such a job again, so its row without the refund, and the balance of the
 * entry that settled it, are the response.
 */
import { IDEMPOTENCY_KEEP_MS } from "../../domain/limits.ts";
import type { Answer, IdempotencyGuard, OnceAnswer, SettledJob } from "../contract.ts";
import { newestButRefunds, type Store } from "../sql/store.ts";
import type { EntryRow, JobRow } from "../sql/schema.ts";
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
  const has_key =
    job?.status === status &&
    job.idempotency_caller === keyed?.caller &&
    job.idempotency_key === keyed?.key;
  const settled = has_key ? newestButRefunds(transaction.store, job) : null;
  const is_kept = settled !== null && settled.at_ms > transaction.now_ms - IDEMPOTENCY_KEEP_MS;
  const first = is_kept && has_key ? firstRequest(job, settled) : null;
  return once(keyed, first, () => operation(keyed));
}

function firstRequest(job: JobRow, settled: EntryRow): FirstRequest<SettledJob> {
  const { balance_after: credits } = settled;
  return {
    fingerprint: job.idempotency_fingerprint ?? "",
    response: () => ({ job: asSettled(job, settled), credits }),
  };
}

/** The row of an ended job as it was when it ended: only an operator's refund changes it after that. */
function asSettled(job: JobRow, { line, at_ms: updated_at_ms }: EntryRow): JobRow {
  return { ...job, refunded: 0, updated_at_ms, line };
}

/** {@link asSettled} of a completed or failed job. Reads one entry, and one for each refund. */
export function readAsSettled(store: Store, job: JobRow): JobRow {
  return asSettled(job, newestButRefunds(store, job));
}
