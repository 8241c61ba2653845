/** The expiry of jobs: in portions, by the alarm or by the next call, whichever comes first. */
import { reportError } from "../../domain/error_report.ts";
import { startedJobsOf } from "../ledger/started_jobs.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";
import { expireJob } from "./end.ts";
import { requestFields } from "../../domain/request_origin.ts";

/** Jobs that expire in one transaction. If more are due, the alarm expires the others in further portions. */
export const EXPIRY_PORTION_JOBS = 200;

/** The pause before a job whose expiry failed is tried again. */
export const STUCK_JOB_RETRY_MS = 60 * 60 * 1000;

/** Arms the alarm for a started job. */
export function scheduleExpiry({ alarm, store }: Transaction, { expires_at_ms }: JobRow): void {
  alarm.by(expires_at_ms);
  store.deadlines.next_expiry.add(expires_at_ms);
}

/** Moves the expiry of a started job. */
export function moveExpiry(transaction: Transaction, job: JobRow, moved: JobRow): void {
  const { store } = transaction;
  const { recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  if (recent_after_job_id !== null && job.id <= recent_after_job_id) {
    store.deadlines.deleteLongJob(job);
    store.deadlines.insertLongJob(moved);
  }
  scheduleExpiry(transaction, moved);
}

/**
 * Expires overdue jobs, {@link EXPIRY_PORTION_JOBS} at most, and arms the alarm for the next one. Reads nothing if the
 * store knows that none is due; else it reads the recent jobs (`RECENT_JOBS_MAX`), the jobs that it ends, and
 * one row more.
 */
export function expireDueJobs(transaction: Transaction): void {
  const { store, now_ms, alarm } = transaction;
  const { next_expiry } = store.deadlines;
  if (next_expiry.isKnownAfter(now_ms)) return;
  let next_ms = readNextExpiry(transaction);
  if (next_ms <= now_ms) {
    for (const job_id of listDueJobs(transaction)) endOrSetAside(transaction, job_id);
    next_ms = readNextExpiry(transaction);
  }
  next_expiry.learn(next_ms);
  if (Number.isFinite(next_ms)) alarm.by(next_ms);
}

/** Continues {@link expireRevokedJobs} if a portion was left, maybe by an instance that was evicted. */
export function expireLeftJobs(transaction: Transaction): void {
  if (transaction.store.deadlines.may_have_revoked_jobs) {
    expireRevokedJobs(transaction);
  }
}

/**
 * Expires started jobs of which an allowance was revoked, or whose app was stopped together with its jobs:
 * {@link EXPIRY_PORTION_JOBS} at most; the alarm expires the rest. In a deleted account all jobs end anyway.
 */
export function expireRevokedJobs(transaction: Transaction): void {
  const { store, alarm, now_ms } = transaction;
  const { open_jobs, recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  const is_deleted = (store.readAccount()?.deleted_at_ms ?? null) !== null;
  const job_ids =
    open_jobs === 0 || is_deleted
      ? []
      : store.listRevokedJobs(recent_after_job_id ?? "", EXPIRY_PORTION_JOBS + 1);
  for (const job_id of job_ids.slice(0, EXPIRY_PORTION_JOBS)) endOrSetAside(transaction, job_id);
  const is_more = job_ids.length > EXPIRY_PORTION_JOBS;
  store.deadlines.notedRevokedJobs(is_more);
  if (is_more) alarm.by(now_ms);
}

/**
 * Expires a portion of the started jobs of a deleted account, whatever time they have left.
 * @returns whether more may be left.
 */
export function expireStartedJobs(transaction: Transaction): boolean {
  const { store } = transaction;
  const { recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  const recent = store.listRecentStartedJobs(recent_after_job_id ?? "").map(({ id }) => id);
  const long = store.deadlines.listLongJobsDue(Number.POSITIVE_INFINITY, EXPIRY_PORTION_JOBS);
  const started = [...recent, ...long].filter((id) => store.readJob(id)?.status === "started");
  for (const job_id of started) endOrSetAside(transaction, job_id);
  return started.length > 0;
}

/**
 * A job as it is now: an overdue job, which an earlier portion did not reach, expires first. Null if there is no such
 * job.
 */
export function readInTime(transaction: Transaction, job_id: string): JobRow | null {
  const { store, now_ms } = transaction;
  const job = store.readJob(job_id);
  const is_overdue = job?.status === "started" && job.expires_at_ms <= now_ms;
  if (job === null || !is_overdue) return job;
  endOrSetAside(transaction, job_id);
  return store.readJob(job_id);
}

/**
 * Expires a job. If that fails, which is a defect, the account must still work: the job keeps its hold and is tried
 * again an hour later. The log and the read model show it.
 */
function endOrSetAside(transaction: Transaction, job_id: string): void {
  const { store, part, now_ms } = transaction;
  const job = store.readJob(job_id);
  if (job?.status !== "started") return store.deadlines.deleteStuckJob(job_id);
  try {
    part(() => expireJob(transaction, job));
  } catch (error) {
    console.error({ event: "job_set_aside", ...requestFields(), job_id, ...reportError(error) });
    store.deadlines.setJobAside(job, now_ms, now_ms + STUCK_JOB_RETRY_MS);
  }
}

/** Overdue jobs, as many as one transaction expires. */
function listDueJobs({ store, now_ms }: Transaction): string[] {
  const { recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  const recent = store
    .listRecentStartedJobs(recent_after_job_id ?? "")
    .filter((job) => job.expires_at_ms <= now_ms)
    .map((job) => job.id);
  const long = store.deadlines.listLongJobsDue(now_ms, EXPIRY_PORTION_JOBS);
  const stuck = store.deadlines.listStuckJobsDue(now_ms, EXPIRY_PORTION_JOBS);
  return [...recent, ...long, ...stuck].slice(0, EXPIRY_PORTION_JOBS);
}

/** When the next started job expires, or a stuck one is tried again; infinity: none is started. */
function readNextExpiry({ store }: Transaction): number {
  const { open_jobs, recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  if (open_jobs === 0) return Number.POSITIVE_INFINITY;
  const recent = store.listRecentStartedJobs(recent_after_job_id ?? "");
  const times = recent.map((job) => job.expires_at_ms);
  // If all started jobs are recent, the other tables have none.
  const { deadlines } = store;
  const others =
    recent.length === open_jobs
      ? []
      : [deadlines.readFirstLongExpiry(), deadlines.readFirstStuckRetry()];
  return Math.min(...times, ...others.filter((at_ms) => at_ms !== null));
}
