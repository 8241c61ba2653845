/** Jobs inside a transaction: each step reads, asks the rules, and writes the job and its one line. */
import { v7 as uuidv7 } from "uuid";
import * as rules from "../domain/job.ts";
import { ACCOUNT_FULL_BYTES, JOB_ROWS_BYTES } from "../domain/limits.ts";
import {
  mergeMetadata,
  metadataBytes,
  serialiseMetadata,
  type Metadata,
} from "../domain/metadata.ts";
import { accepted, refused } from "../domain/result.ts";
import { openForJob } from "./app_access.ts";
import {
  actingToken,
  seesJob,
  whyNotCancel,
  unknownJob,
  whyNotEnd,
  whyNoStorage,
  whyNotReserve,
  whyOverCap,
} from "./caller.ts";
import { chargeCreator } from "./personal_tokens/spending.ts";
import { whyTooManyStarted } from "./started_shares.ts";
import type {
  Answer,
  CancelJobRequest,
  CompleteJobRequest,
  CreatedJob,
  CreateJobRequest,
  FailJobRequest,
  SettledJob,
} from "./contract.ts";
import { keyColumns } from "./idempotency/job_keys.ts";
import type { KeyedRequest } from "./idempotency/once.ts";
import { ensureOpen, post, readBooks } from "./ledger.ts";
import { openJobsOf, withoutEnded, withStarted } from "./open_jobs.ts";
import type { JobRow } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Creates a started job and takes its estimate off the balance. Reads the newest line and job, the
 * token's row, and one job that may have outlasted the recent ones.
 */
export function createJob(transaction: Transaction, request: CreateJobRequest): Answer<CreatedJob> {
  const { store, now_ms } = transaction;
  const not_allowed = whyNotReserve(transaction, request.app_slug, request.cost_estimate);
  if (not_allowed !== null) return refused(not_allowed);
  const personal_token = actingToken(transaction);
  const personal_token_id = personal_token?.id ?? null;
  const creator = { personal_token_id, app_slug: request.app_slug };
  const too_many = whyTooManyStarted(store, creator);
  if (too_many !== null) return refused(too_many);
  // What is left belongs to the jobs that are started: they can always end.
  if (transaction.size_bytes() >= ACCOUNT_FULL_BYTES) return refused({ code: "account_full" });
  const bytes = JOB_ROWS_BYTES + metadataBytes(request.metadata_json);
  const no_storage = whyNoStorage(transaction, bytes);
  if (no_storage !== null) return refused(no_storage);
  const id = nextJobId(store.readNewestJobId());
  const step = rules.reserve(
    readBooks(transaction),
    { id, app_slug: request.app_slug },
    request.cost_estimate,
  );
  if (!step.ok) return step;
  ensureOpen(transaction);
  openForJob(transaction, request.app_slug);
  const creation = { personal_token_id, created_at_ms: now_ms };
  chargeCreator(transaction, creation, { credits: 0 - step.value.posting.amount, bytes });
  const started = withStarted(store, openJobsOf(store.readNewestEntry()), creator);
  const entry = post(transaction, step.value.posting, started);
  const job = {
    ...creation,
    token_cap_credits: personal_token?.cap_credits ?? null,
    id,
    status: step.value.status,
    app_slug: request.app_slug,
    action: request.action,
    reserved: request.cost_estimate,
    actual_cost: step.value.actual_cost,
    failure: step.value.failure,
    failure_reason: null,
    updated_at_ms: now_ms,
    expires_at_ms: now_ms + request.ttl_seconds * 1000,
    line: entry.line,
    metadata_json: request.metadata_json,
    settle: request.policy.settle,
    on_expiry: request.policy.on_expiry,
    max_overage_percent: request.policy.max_overage_percent,
    ...keyColumns(null),
  };
  store.insertJob(job);
  transaction.expiry.started(transaction, job);
  return accepted({ job_id: id, credits: entry.balance_after });
}

/**
 * Settles a job against its real cost and merges metadata into it. What a capped token settles beyond
 * the reserve must fit its cap; anyone else's settlement never fails for money. `keyed`: the request, if
 * it has a key, for the job's row.
 */
export function completeJob(
  transaction: Transaction,
  request: CompleteJobRequest,
  keyed: KeyedRequest | null = null,
): Answer<SettledJob> {
  const job = readInTime(transaction, request.job_id);
  if (job === null || !seesJob(transaction, job)) return refused(unknownJob(transaction));
  const not_allowed = whyNotEnd(transaction, job);
  if (not_allowed !== null) return refused(not_allowed);
  const step = rules.complete(readBooks(transaction), job, request.actual_cost);
  if (!step.ok) return step;
  const charge = 0 - step.value.posting.amount;
  const over_cap = whyOverCap(transaction, job, request.actual_cost, charge);
  if (over_cap !== null) return refused(over_cap);
  const metadata = mergeStored(job.metadata_json, request.metadata_json);
  if (!metadata.ok) return metadata;
  const words = { metadata_json: metadata.value, failure_reason: null };
  return accepted(applyStep(transaction, job, step.value, words, keyed));
}

/** Fails a job, refunding its reserve or keeping it, and merges metadata into it. */
export function failJob(
  transaction: Transaction,
  request: FailJobRequest,
  keyed: KeyedRequest | null = null,
): Answer<SettledJob> {
  const job = readInTime(transaction, request.job_id);
  if (job === null || !seesJob(transaction, job)) return refused(unknownJob(transaction));
  const not_allowed = whyNotEnd(transaction, job);
  if (not_allowed !== null) return refused(not_allowed);
  const step = rules.fail(job, request.refund);
  if (!step.ok) return step;
  const metadata = mergeStored(job.metadata_json, request.metadata_json);
  if (!metadata.ok) return metadata;
  const words = { metadata_json: metadata.value, failure_reason: request.reason };
  return accepted(applyStep(transaction, job, step.value, words, keyed));
}

/**
 * A job as it is at this moment: one that ran out, and whose turn has not come where very many did,
 * ends now. Null where there is none.
 */
export function readInTime(transaction: Transaction, job_id: string): JobRow | null {
  const job = transaction.store.readJob(job_id);
  const overdue = job?.status === "started" && job.expires_at_ms <= transaction.now_ms;
  if (job === null || !overdue) return job;
  transaction.expiry.endOrSetAside(transaction, job_id);
  return transaction.store.readJob(job_id);
}

/**
 * Expires a started job of any app now. It may still be completed late, so that cancelling makes no work
 * free. Again, it changes nothing.
 */
export function cancelJob(
  transaction: Transaction,
  { job_id }: CancelJobRequest,
): Answer<SettledJob> {
  const not_allowed = whyNotCancel(transaction);
  if (not_allowed !== null) return refused(not_allowed);
  const job = readInTime(transaction, job_id);
  if (job === null) return refused({ code: "job_unknown" });
  if (job.failure === "expired") {
    return accepted({ job, credits: readBooks(transaction).balance_after });
  }
  if (job.status !== "started") return refused({ code: "job_not_started" });
  const words = { metadata_json: job.metadata_json, failure_reason: CANCELLED };
  return accepted(applyStep(transaction, job, rules.expire(job), words, null));
}

const CANCELLED = "Cancelled by the account's holder.";

/** Fails a job whose time ran out, with a full refund or none, as it was created. */
export function expireJob(transaction: Transaction, job: JobRow): void {
  const words = { metadata_json: job.metadata_json, failure_reason: null };
  applyStep(transaction, job, rules.expire(job), words, null);
}

function applyStep(
  transaction: Transaction,
  job: JobRow,
  step: rules.JobStep,
  words: Pick<JobRow, "metadata_json" | "failure_reason">,
  keyed: KeyedRequest | null,
): SettledJob {
  const { store, now_ms } = transaction;
  const { status, actual_cost, failure } = step;
  const open = withoutEnded(store, openJobsOf(store.readNewestEntry()), job, now_ms);
  const bytes = metadataBytes(words.metadata_json) - metadataBytes(job.metadata_json);
  chargeCreator(transaction, job, { credits: 0 - step.posting.amount, bytes: Math.max(0, bytes) });
  const entry = post(transaction, step.posting, open);
  const ended = {
    ...job,
    status,
    actual_cost,
    failure,
    ...words,
    updated_at_ms: now_ms,
    line: entry.line,
    ...keyColumns(keyed),
  };
  store.updateJob(ended);
  return { job: ended, credits: entry.balance_after };
}

function mergeStored(
  existing_json: string | null,
  added_json: string | null,
): Answer<string | null> {
  if (added_json === null) return accepted(existing_json);
  const existing = existing_json === null ? null : (JSON.parse(existing_json) as Metadata);
  return serialiseMetadata(mergeMetadata(existing, JSON.parse(added_json) as Metadata));
}

/** A UUIDv7 after every one this account has, also where the clock went back since the last. */
function nextJobId(newest_id: string | null): string {
  const id = uuidv7();
  if (newest_id === null || id > newest_id) return id;
  const newest_ms = Number.parseInt(newest_id.replaceAll("-", "").slice(0, 12), 16);
  return uuidv7({ msecs: newest_ms + 1 });
}
