/** Creating a job: checks, then the entry that reserves its credits, and its row. */
import { limitReached } from "../../domain/limit_reached.ts";
import { v7 as uuidv7 } from "uuid";
import { rootOfPath } from "../../domain/allowance.ts";
import * as rules from "../../domain/job.ts";
import { hold, spendableIn } from "../../domain/lots.ts";
import { startingApp } from "../../domain/started_by.ts";
import { OPEN_JOBS_MAX, OPEN_JOBS_SHARE } from "../../domain/limits.ts";
import { metadataBytes } from "../../domain/metadata.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused } from "../../domain/result.ts";
import { chargePath, whyNoStorage, whyNotReserve } from "../allowances/spending.ts";
import { offeringApproval, readApproved } from "../approvals/approvals.ts";
import { actingAllowance, isCapped, isCharging, starterOf, whyNotForApp } from "../caller.ts";
import type { Answer, CreatedJob, CreateJobRequest } from "../contract.ts";
import { keyColumns } from "../idempotency/job_keys.ts";
import { fromJson, readCredits } from "../ledger/credits.ts";
import { ensureOpen, post, readBalance } from "../ledger/posting.ts";
import { startedJobsOf, withStarted } from "../ledger/started_jobs.ts";
import type { JobCreator } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import { isFull, type Transaction } from "../transaction.ts";
import { whyNotStart } from "../stopped_apps.ts";
import { openForJob } from "../wallet/app_access.ts";
import { scheduleExpiry } from "./expiry.ts";
import { announcing402 } from "./refused.ts";

/** The bytes that a job stores in addition to its metadata: its row, two entries and a key, each with a margin. */
export const JOB_ROWS_BYTES = 1_000;

/**
 * Creates a started job and reserves its estimate. Reads the newest entry and job, the allowance's row with its
 * ancestors', and at most one older job.
 */
export function createJob(transaction: Transaction, request: CreateJobRequest): Answer<CreatedJob> {
  return offeringApproval(transaction, request, createJobOfBatch(transaction, request));
}

/** {@link createJob} without a request for the holder's approval. */
export function createJobOfBatch(
  transaction: Transaction,
  request: CreateJobRequest,
): Answer<CreatedJob> {
  const stopped = whyNotStart(transaction, request.app_slug);
  if (stopped !== null) return refused(stopped);
  const { app_slug, pause_message } = request;
  // Here, and not before the call, so that a repeated request still gets the response of its key.
  if (pause_message !== undefined) return refused({ code: "app_paused", message: pause_message });
  const allowance_path = actingAllowance(transaction)?.path ?? null;
  const answer = reserveAndInsert(transaction, request);
  return announcing402(transaction, { app_slug, allowance_path }, answer);
}

/** The columns of a job that only later changes fill. */
const UNCHANGED = {
  claimed_until_ms: null,
  refunded: 0,
  step: 0,
  spent: null,
  progress_json: null,
  failure_reason: null,
  ...keyColumns(null),
};

function reserveAndInsert(transaction: Transaction, request: CreateJobRequest): Answer<CreatedJob> {
  const { store, now_ms } = transaction;
  const { app_slug, action, cost_estimate, policy, metadata_json } = request;
  const approved = readApproved(transaction, request);
  if (!approved.ok) return approved;
  const not_allowed =
    approved.value !== null
      ? whyNotForApp(transaction, app_slug)
      : whyNotReserve(transaction, app_slug, cost_estimate);
  if (not_allowed !== null) return refused(not_allowed);
  const allowance_path = actingAllowance(transaction)?.path ?? null;
  const creator = { allowance_path, app_slug };
  const too_many = whyTooManyStarted(store, creator);
  if (too_many !== null) return refused(too_many);
  if (isFull(transaction)) return refused({ code: "account_full" });
  const bytes = JOB_ROWS_BYTES + metadataBytes(metadata_json);
  const no_storage = whyNoStorage(transaction, bytes);
  if (no_storage !== null) return refused(no_storage);
  const id = nextJobId(store.readNewestJobId(), now_ms);
  const before = readCredits(transaction);
  const books = { ...readBalance(transaction), spendable: spendableIn(before, app_slug) };
  const step = rules.reserve(books, { id, app_slug }, cost_estimate);
  if (!step.ok) return step;
  const { credits, from } = hold(before, app_slug, [], cost_estimate);
  ensureOpen(transaction);
  openForApps(transaction, request);
  const charge = { credits: 0 - step.value.posting.amount, bytes };
  const beyond = approved.value?.credits ?? 0;
  const charged = { allowance_path, takings_json: null, approved: beyond };
  const takings = chargePath(transaction, charged, charge);
  const started = withStarted(store, startedJobsOf(store.readNewestEntry()), creator);
  const entry = post(transaction, step.value.posting, { started, credits });
  const job = {
    allowance_path,
    started_by_json: startedByJson(transaction, request),
    created_at_ms: now_ms,
    ...takings,
    ...UNCHANGED,
    is_capped: isCapped(transaction),
    approved: beyond,
    id,
    status: step.value.status,
    app_slug,
    action,
    cost_estimate,
    reserved: cost_estimate,
    actual_cost: step.value.actual_cost,
    refunded: 0,
    ...NO_PROGRESS,
    from_json: fromJson(from),
    failure: step.value.failure,
    updated_at_ms: now_ms,
    expires_at_ms: now_ms + request.ttl_seconds * 1000,
    line: entry.line,
    metadata_json,
    settle: policy.settle,
    on_expiry: policy.on_expiry,
    max_overage_percent: policy.max_overage_percent,
  };
  store.insertJob(job);
  if (approved.value !== null && request.approval !== undefined) {
    transaction.approvals.saveState(request.approval, "used");
  }
  scheduleExpiry(transaction, job);
  return accepted({
    job_id: id,
    credits: isCharging(transaction) ? null : entry.balance_after,
  });
}

/** The columns of a job whose client reported nothing yet. */
const NO_PROGRESS = { step: 0, spent: null, done: null, message: null, progress_json: null };

/**
 * Opens the account for the job's app. The holder also uses the app whose page starts a job of another app: so that app is
 * listed among those with access, and can be stopped. The pages of apps are known from the registry.
 */
function openForApps(transaction: Transaction, request: CreateJobRequest): void {
  openForJob(transaction, request);
  const { caller } = transaction;
  const app_slug = caller.kind === "page" ? startingApp(caller, request.app_slug) : null;
  if (app_slug === null || app_slug === request.app_slug) return;
  openForJob(transaction, { app_slug, is_registered: true });
}

/** The column of a new job. */
function startedByJson(
  transaction: Transaction,
  { app_slug, caller_app_name }: CreateJobRequest,
): string | null {
  const path = actingAllowance(transaction)?.path ?? null;
  const root = path === null ? null : transaction.allowances.read(rootOfPath(path));
  const starter = starterOf(transaction, app_slug, root, caller_app_name ?? null);
  return starter === null ? null : JSON.stringify(starter);
}

/**
 * Why one more job may not be started; null if it may. While the account has fewer started jobs than the smallest
 * share, the shares need no counting.
 */
function whyTooManyStarted(store: Store, { allowance_path, app_slug }: JobCreator): Refusal | null {
  const { open_jobs, recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  const { token, app } = OPEN_JOBS_SHARE;
  if (open_jobs >= OPEN_JOBS_MAX) return limitReached("started_jobs");
  if (open_jobs < Math.min(token, app)) return null;
  const counts = store.readStartedCounts(recent_after_job_id ?? "");
  if (allowance_path !== null && counts.ofRoot(allowance_path) >= token) {
    return limitReached("started_jobs_of_token");
  }
  return counts.ofApp(app_slug) >= app ? limitReached("started_jobs_of_app") : null;
}

/**
 * A UUIDv7 of this time, after all ids of this account: within one millisecond, or after the clock went back, the next
 * millisecond after the newest. With a time of its own it does not depend on the ids of other accounts.
 */
function nextJobId(newest_id: string | null, now_ms: number): string {
  const id = uuidv7({ msecs: now_ms });
  if (newest_id === null || id > newest_id) return id;
  const newest_ms = Number.parseInt(newest_id.replaceAll("-", "").slice(0, 12), 16);
  return uuidv7({ msecs: newest_ms + 1 });
}
