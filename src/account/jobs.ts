/** Jobs inside a transaction: each step reads, asks the rules, and writes the job and its one line. */
import { v7 as uuidv7 } from "uuid";
import * as rules from "../domain/job.ts";
import { OPEN_JOBS_MAX } from "../domain/limits.ts";
import { mergeMetadata, serialiseMetadata, type Metadata } from "../domain/metadata.ts";
import { accepted, refused } from "../domain/result.ts";
import {
  countSpending,
  visibleApps,
  whyNotEnd,
  whyNotReserve,
  whyOverBudget,
} from "./personal_tokens/admission.ts";
import type {
  Answer,
  CompleteJobRequest,
  CreatedJob,
  CreateJobRequest,
  FailJobRequest,
  ListJobsRequest,
  SettledJob,
} from "./contract.ts";
import {
  ensureOpen,
  post,
  readBalance,
  readOpenJobs,
  type OpenJobs,
  type Transaction,
} from "./ledger.ts";
import type { JobRow, Store } from "./store.ts";

/** Creates a started job and takes its estimate off the balance. */
export function createJob(transaction: Transaction, request: CreateJobRequest): Answer<CreatedJob> {
  const { store, token, now_ms } = transaction;
  const not_allowed = whyNotReserve(transaction, request.app_slug, request.cost_estimate);
  if (not_allowed !== null) return refused(not_allowed);
  const open_before = readOpenJobs(store);
  if (open_before.count >= OPEN_JOBS_MAX) {
    return refused({ code: "too_many_open_jobs", limit: OPEN_JOBS_MAX });
  }
  const id = nextJobId(store.readNewestJobId());
  const step = rules.reserve(
    readBalance(store),
    { id, app_slug: request.app_slug },
    request.cost_estimate,
  );
  if (!step.ok) return step;
  ensureOpen(transaction);
  const open = { oldest_id: open_before.oldest_id ?? id, count: open_before.count + 1 };
  const entry = post(transaction, step.value.posting, open);
  const job = {
    id,
    status: step.value.status,
    app_slug: request.app_slug,
    action: request.action,
    reserved: request.cost_estimate,
    actual_cost: step.value.actual_cost,
    failure: step.value.failure,
    created_at_ms: now_ms,
    updated_at_ms: now_ms,
    expires_at_ms: now_ms + request.ttl_seconds * 1000,
    line: entry.line,
    metadata_json: request.metadata_json,
    token_id: token?.id ?? null,
  };
  store.insertJob(job);
  countSpending(transaction, job, request.cost_estimate);
  return accepted({ job_id: id, credits: entry.balance_after });
}

/**
 * Settles a job against its real cost and merges metadata into it. What a capped token settles beyond
 * the reserve must fit its cap; anyone else's settlement never fails for money.
 */
export function completeJob(
  transaction: Transaction,
  request: CompleteJobRequest,
): Answer<SettledJob> {
  const { store } = transaction;
  const job = store.readJob(request.job_id);
  if (job === null) return refused({ code: "job_unknown" });
  const not_allowed = whyNotEnd(transaction, job);
  if (not_allowed !== null) return refused(not_allowed);
  const step = rules.complete(readBalance(store), job, request.actual_cost);
  if (!step.ok) return step;
  const over_budget = whyOverBudget(transaction, 0 - step.value.posting.amount);
  if (over_budget !== null) return refused(over_budget);
  const metadata = mergeStored(job.metadata_json, request.metadata_json);
  if (!metadata.ok) return metadata;
  return accepted(applyStep(transaction, job, step.value, metadata.value));
}

/** Fails a job, refunding its reserve or keeping it. */
export function failJob(transaction: Transaction, request: FailJobRequest): Answer<SettledJob> {
  const job = transaction.store.readJob(request.job_id);
  if (job === null) return refused({ code: "job_unknown" });
  const not_allowed = whyNotEnd(transaction, job);
  if (not_allowed !== null) return refused(not_allowed);
  const step = rules.fail(job, request.refund);
  if (!step.ok) return step;
  return accepted(applyStep(transaction, job, step.value, job.metadata_json));
}

/**
 * Jobs as a list wants them, one more than its limit where there are more. The newest line says where
 * started jobs begin, so that a long history is not searched for them.
 */
export function listJobs(transaction: Transaction, request: ListJobsRequest): JobRow[] {
  const { store } = transaction;
  const filter = {
    ...request,
    visible_apps: visibleApps(transaction),
    limit: request.limit + 1,
  };
  if (request.status !== "started") return store.listJobs(filter);
  const { oldest_id: from_id } = readOpenJobs(store);
  return from_id === null ? [] : store.listJobs({ ...filter, from_id });
}

/**
 * Fails every started job whose time has run out.
 * @returns when the next one will, in milliseconds since the epoch; null where none is started.
 */
export function expireDueJobs(transaction: Transaction): number | null {
  const { store, now_ms } = transaction;
  const { oldest_id } = readOpenJobs(store);
  if (oldest_id === null) return null;
  let next_expiry_ms: number | null = null;
  for (const { id, expires_at_ms } of store.listStartedJobs(oldest_id)) {
    const job = expires_at_ms <= now_ms ? store.readJob(id) : null;
    if (job !== null) applyStep(transaction, job, rules.expire(job), job.metadata_json);
    else next_expiry_ms = Math.min(next_expiry_ms ?? expires_at_ms, expires_at_ms);
  }
  return next_expiry_ms;
}

function applyStep(
  transaction: Transaction,
  job: JobRow,
  step: rules.JobStep,
  metadata_json: string | null,
): SettledJob {
  const { store, now_ms } = transaction;
  const { status, actual_cost, failure } = step;
  const entry = post(transaction, step.posting, openWithout(store, job));
  const ended = {
    ...job,
    status,
    actual_cost,
    failure,
    metadata_json,
    updated_at_ms: now_ms,
    line: entry.line,
  };
  store.updateJob(ended);
  countSpending(transaction, job, 0 - step.posting.amount);
  return { job: ended, credits: entry.balance_after };
}

/** What is started once `job` has ended; a job that timed out before is not among them any more. */
function openWithout(store: Store, job: JobRow): OpenJobs {
  const open = readOpenJobs(store);
  if (job.status !== "started") return open;
  const oldest_id = open.oldest_id === job.id ? store.readNextStartedJobId(job.id) : open.oldest_id;
  return { oldest_id, count: oldest_id === null ? 0 : open.count - 1 };
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
