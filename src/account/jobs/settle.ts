/** Completing, failing and cancelling a job, and reading one. */
import * as rules from "../../domain/job.ts";
import { mergeMetadata, serialiseMetadata, type Metadata } from "../../domain/metadata.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused } from "../../domain/result.ts";
import { whyOverCap } from "../allowances/spending.ts";
import {
  mostAfterStop,
  seesJob,
  shownTo,
  whyNotCancel,
  whyNotEnd,
  whyNotForApp,
} from "../caller.ts";
import type {
  Answer,
  CancelJobRequest,
  CompleteJobRequest,
  FailJobRequest,
  JobRow,
  SettledJob,
} from "../contract.ts";
import { whyTooOld } from "../idempotency/job_steps.ts";
import type { KeyedRequest } from "../idempotency/once.ts";
import { readBalance } from "../ledger/posting.ts";
import type { Transaction } from "../transaction.ts";
import { isOpenFor } from "../wallet/app_access.ts";
import { claimOf } from "./claims.ts";
import { endJob } from "./end.ts";
import { readInTime } from "./expiry.ts";
import { announcing402 } from "./refused.ts";

/**
 * Settles a job at its real cost and merges metadata into it. What a capped token settles beyond the reserve must fit
 * its cap, and what a stopped app settles its reserve; any other settlement succeeds even if the balance goes below zero.
 * `keyed`: the request, if it has a key.
 */
export function completeJob(
  transaction: Transaction,
  request: CompleteJobRequest,
  keyed: KeyedRequest | null = null,
): Answer<SettledJob> {
  const endable = readInStep(transaction, request);
  if (!endable.ok) return endable;
  const job = endable.value;
  const most = mostAfterStop(transaction, job);
  if (most !== null && request.actual_cost > most) {
    return refused({ code: "overage_limit", limit: most });
  }
  const step = rules.complete(readBalance(transaction), job, request.actual_cost);
  if (!step.ok) return step;
  // The job's claim on the caps already has its room.
  const charge = 0 - step.value.posting.amount - claimOf(job);
  const over_cap = whyOverCap(transaction, job, request.actual_cost, charge);
  if (over_cap !== null) return announcing402(transaction, job, refused(over_cap));
  const metadata = mergeStored(job.metadata_json, request.metadata_json);
  if (!metadata.ok) return metadata;
  const details = { metadata_json: metadata.value, failure_reason: null };
  return accepted(endJob(transaction, job, step.value, details, keyed));
}

/** Fails a job at the cost that the caller states, returns the rest of its reserve, and merges metadata into it. */
export function failJob(
  transaction: Transaction,
  request: FailJobRequest,
  keyed: KeyedRequest | null = null,
): Answer<SettledJob> {
  const endable = readInStep(transaction, request);
  if (!endable.ok) return endable;
  const job = endable.value;
  const step = rules.fail(job, request.cost ?? (request.refund ? 0 : job.reserved));
  if (!step.ok) return step;
  const metadata = mergeStored(job.metadata_json, request.metadata_json);
  if (!metadata.ok) return metadata;
  const details = { metadata_json: metadata.value, failure_reason: request.reason };
  return accepted(endJob(transaction, job, step.value, details, keyed));
}

/**
 * Ends a started job of any app now, at the cost that it would have if it expired. It may still be completed late.
 * Cancelling again changes nothing.
 */
export function cancelJob(
  transaction: Transaction,
  { job_id }: CancelJobRequest,
): Answer<SettledJob> {
  const not_allowed = whyNotCancel(transaction);
  if (not_allowed !== null) return refused(not_allowed);
  const job = readInTime(transaction, job_id);
  if (job === null) return refused({ code: "job_unknown" });
  if (rules.endedEarly(job)) {
    const { balance_after: credits } = readBalance(transaction);
    return accepted({ job: shownTo(transaction, job), credits });
  }
  if (job.status !== "started") return refused({ code: "job_ended" });
  const details = { metadata_json: job.metadata_json, failure_reason: CANCELLED };
  const ended = endJob(transaction, job, rules.endEarly(job, "cancelled"), details, null);
  return accepted({ ...ended, job: shownTo(transaction, ended.job) });
}

const CANCELLED = "Cancelled by the account's holder.";

/** Reads one job. Refused as `job_not_found` if the caller may not see it. */
export function readJob(transaction: Transaction, job_id: string): Answer<JobRow> {
  const job = readInTime(transaction, job_id);
  if (job === null || !seesJob(transaction, job)) {
    return refused(whyAccountUnknown(transaction) ?? { code: "job_not_found" });
  }
  const not_allowed = whyNotForApp(transaction, job.app_slug);
  return not_allowed === null ? accepted(shownTo(transaction, job)) : refused(not_allowed);
}

/** Refuses a job that the caller does not see. To an app without access, the whole account is unknown. */
export function unknownJob(transaction: Transaction): Refusal {
  return whyAccountUnknown(transaction) ?? { code: "job_unknown" };
}

/** The refusal of an app without access that names no job of its own; null for every other caller. */
function whyAccountUnknown(transaction: Transaction): Refusal | null {
  const { caller } = transaction;
  const is_unknown = caller.kind === "app" && !isOpenFor(transaction, caller.app_slug);
  return is_unknown ? { code: "account_unknown" } : null;
}

/** The job, if the caller sees it and may end it. */
export function readEndable(transaction: Transaction, job_id: string): Answer<JobRow> {
  const job = readInTime(transaction, job_id);
  if (job === null || !seesJob(transaction, job)) return refused(unknownJob(transaction));
  const not_allowed = whyNotEnd(transaction, job);
  return not_allowed === null ? accepted(job) : refused(not_allowed);
}

/** The job that the caller's run may end. */
function readInStep(
  transaction: Transaction,
  { job_id, step }: Pick<CompleteJobRequest, "job_id" | "step">,
): Answer<JobRow> {
  const endable = readEndable(transaction, job_id);
  const too_old = endable.ok ? whyTooOld(endable.value, step) : null;
  return too_old === null ? endable : refused(too_old);
}

function mergeStored(
  existing_json: string | null,
  added_json: string | null,
): Answer<string | null> {
  if (added_json === null) return accepted(existing_json);
  const existing = existing_json === null ? null : (JSON.parse(existing_json) as Metadata);
  return serialiseMetadata(mergeMetadata(existing, JSON.parse(added_json) as Metadata));
}
