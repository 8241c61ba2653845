/** The end of a job: its entry, its row, and what its creator has used, all in the caller's transaction. */
import * as rules from "../../domain/job.ts";
import { settle } from "../../domain/lots.ts";
import { metadataBytes } from "../../domain/metadata.ts";
import { partsOf } from "../../domain/wire.ts";
import { chargePath } from "../allowances/spending.ts";
import type { SettledJob } from "../contract.ts";
import { claimAfter, claimOf, saveClaim } from "./claims.ts";
import { keyColumns } from "../idempotency/job_keys.ts";
import { reportAfterEnd } from "../idempotency/job_steps.ts";
import type { KeyedRequest } from "../idempotency/once.ts";
import { clockOf, fromJson, readCredits } from "../ledger/credits.ts";
import { post } from "../ledger/posting.ts";
import { startedJobsOf, withoutEnded } from "../ledger/started_jobs.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** The details that a client states about a job's end. */
type EndDetails = Pick<JobRow, "metadata_json" | "failure_reason">;

/** Writes the end of a job. `keyed`: the request with an idempotency key that ends it; null: no key. */
export function endJob(
  transaction: Transaction,
  job: JobRow,
  step: rules.JobStep,
  details: EndDetails,
  keyed: KeyedRequest | null,
): SettledJob {
  const { store, now_ms } = transaction;
  const { status, actual_cost, failure } = step;
  const started = withoutEnded(store, startedJobsOf(store.readNewestEntry()), job, now_ms);
  const bytes = metadataBytes(details.metadata_json) - metadataBytes(job.metadata_json);
  const claim = claimAfter(job, step);
  const credits = claim - claimOf(job) - step.posting.amount;
  const takings = chargePath(transaction, job, { credits, bytes: Math.max(0, bytes) });
  const from = partsOf(job);
  const held = { app_slug: job.app_slug, from, is_held: job.status === "started" };
  const before = readCredits(transaction, from);
  const settled = settle(before, held, actual_cost, clockOf(transaction));
  const entry = post(transaction, step.posting, { started, credits: settled.credits });
  const from_json = fromJson(settled.from);
  const ended = {
    ...job,
    ...takings,
    ...saveClaim(transaction, job, claim),
    status,
    actual_cost,
    from_json,
    failure,
    ...details,
    ...reportAfterEnd(job, { ...details, from_json }),
    updated_at_ms: entry.at_ms,
    line: entry.line,
    ...keyColumns(keyed),
  };
  store.updateJob(ended);
  return { job: ended, credits: entry.balance_after };
}

/** Fails a job whose time ran out. What it has spent, or else its policy, says what it costs. */
export function expireJob(transaction: Transaction, job: JobRow): void {
  const details = { metadata_json: job.metadata_json, failure_reason: null };
  endJob(transaction, job, rules.endEarly(job, "expired"), details, null);
}
