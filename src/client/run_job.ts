/**
 * Runs work as a job. While the process lives, every job that it reserved is settled or refunded, even if responses are
 * lost. If the process dies, a run under the caller's own key resumes the job, or else the job expires.
 */
import { isRefusal, PassbookError } from "./errors.ts";
import { createApproved, type OnApprovalNeeded } from "./job_approval.ts";
import { JobProgress, type ProgressReport } from "./job_progress.ts";
import type { CreateJob, Jobs, SettleOptions } from "./jobs.ts";
import { keysOf, persistently, PERSISTENCE_MS, type RunKeys } from "./run_keys.ts";
import { checkEstimate, settle, type Settled, type Work } from "./settlement.ts";
import type { CreatedJob, Job, ProgressedJob } from "./responses.ts";
import type { Wait } from "./transport.ts";

/** The job that `runJob` has reserved for your work. */
export interface RunningJob {
  readonly id: string;
  /** The balance after reserving. */
  readonly credits: number;
  /** Aborted together with the caller's signal: stop the work; the reserve is refunded. */
  readonly signal: AbortSignal;
  /**
   * Reports what the work has spent so far, raises or lowers the reserve, and moves the expiry. Reports are sent one
   * after another. A report that is refused or gets no response throws, and you may catch that if the work can go on.
   * If another process has resumed the job, it throws `step_too_old`: stop. `runJob` then throws this error too, and
   * leaves the job to the other process.
   */
  progress(report: ProgressReport): Promise<ProgressedJob>;
}

export interface RunJobOptions {
  /** Aborts the work and refunds the reserve. A job that is already being settled is settled. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Your own id of this piece of work, up to 200 printable ASCII characters without a space. One key is one job: a
   * process that restarts within 24 hours and runs the same job under the same key with the same token resumes the job
   * instead of reserving again. If the job has ended, the call throws `job_ended`: see {@link PassbookError.job}.
   */
  readonly key?: string | undefined;
  /**
   * Called if a cap of the token does not allow the job: show the address to the account's holder, who approves or denies
   * this one job there. `runJob` waits for the decision, up to 15 minutes, and then runs the work, or throws
   * `approval_denied` or `approval_ended`. If omitted, it throws `token_budget_exceeded` at once.
   */
  readonly onApprovalNeeded?: OnApprovalNeeded | undefined;
  /** If false, the message of an error that `work` throws does not become the job's `failure_reason`. */
  readonly reportReason?: boolean | undefined;
  /** Called if the job was not settled exactly as `work` returned; `console.warn` if omitted. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The result of the work, and the settled job. */
export interface RunResult<Result> extends Settled {
  readonly result: Result;
}

const DEFAULT_TTL_SECONDS = 24 * 60 * 60;

/** Longest `reason` of a failed job, in characters. */
const REASON_MAX_LENGTH = 500;

/** What `runJob` needs from the client. */
export interface Runner {
  readonly jobs: Pick<Jobs, "create" | "complete" | "fail" | "get" | "progress">;
  /** Waits between requests for an approval. */
  readonly wait: Wait;
  /** Registers a request that goes on after `runJob` has thrown. `whenIdle` waits for it. */
  readonly background: (task: Promise<unknown>) => void;
  /** Renews the caller's token until the returned function is called. */
  readonly keepFresh: () => () => void;
}

/** Runs `work` as a job. See `PassbookClient.runJob`. */
export async function runJob<Result>(
  runner: Runner,
  request: CreateJob,
  work: (job: RunningJob) => Promise<Work<Result>>,
  options: RunJobOptions = {},
): Promise<RunResult<Result>> {
  const { signal, key, reportReason = true, onWarning = console.warn, onApprovalNeeded } = options;
  checkEstimate(request.costEstimate);
  if (typeof work !== "function") {
    throw new PassbookError("invalid_argument", "runJob needs the work as a function.");
  }
  const keys = keysOf(key);
  const reserved = await reserve(runner, request, keys, signal, onApprovalNeeded);
  const { job_id } = reserved;
  const progress = new JobProgress(runner.jobs, reserved.before, signal);
  const stopKeepingFresh = runner.keepFresh();
  let done: Work<Result>;
  try {
    done = await workOn(reserved, progress, work, signal);
    await progress.whenReported();
    if (progress.takenOver !== null) throw progress.takenOver;
  } catch (error) {
    if (progress.takenOver !== null) throw error;
    await refund(runner, job_id, keys, reportReason ? reasonOf(error) : undefined);
    throw error;
  } finally {
    stopKeepingFresh();
  }
  return settle({
    jobs: runner.jobs,
    job_id,
    reserved: progress.reserved,
    idempotencyKey: keys.complete,
    warn: (message) => warnSafely(onWarning, message),
    done,
  });
}

interface ReservedJob extends CreatedJob {
  /** The job before this run. */
  readonly before: Pick<Job, "id" | "step" | "reserved">;
}

/**
 * Reserves credits, or finds the job that this key reserved before. If it is unknown whether a job was reserved, a
 * background request finds out and refunds it. Under the caller's own key it does so only if the caller aborts, since
 * the caller may be about to resume the job.
 */
async function reserve(
  { jobs, background, wait }: Runner,
  request: CreateJob,
  keys: RunKeys,
  signal: AbortSignal | undefined,
  onApprovalNeeded: OnApprovalNeeded | undefined,
): Promise<ReservedJob> {
  let [unknown, replayed] = [false, false];
  const onUnknown = (): void => void (unknown = true);
  const onReplayed = (): void => void (replayed = true);
  try {
    const idempotencyKey = keys.create;
    const options = { idempotencyKey, onUnknown, onReplayed, signal };
    const created = await createApproved({ jobs, wait, onApprovalNeeded }, request, options);
    const { job_id: id } = created;
    const before =
      replayed && keys.is_own
        ? await readStarted(jobs, id)
        : { id, step: 0, reserved: request.costEstimate };
    if (signal?.aborted !== true) return { ...created, before };
    unknown = true;
    throw signal.reason;
  } catch (error) {
    const resumable = keys.is_own && signal?.aborted !== true;
    if (unknown && !resumable && !isRefusal(error)) background(refundUnknown(jobs, request, keys));
    throw error;
  }
}

/** The work of a job that has ended must not run again. @throws PassbookError `job_ended` */
async function readStarted(jobs: Runner["jobs"], job_id: string): Promise<Job> {
  const job = await jobs.get(job_id);
  if (job.status === "started") return job;
  const ended = job.failure === "expired" ? "expired" : job.status;
  const message = `The job of this key has ${ended === "completed" ? "been completed" : ended}.`;
  const next = ended === "completed" ? "" : " To run the work again, use another key.";
  throw new PassbookError("job_ended", `${message}${next}`, { body: { job } });
}

/** Repeats the creation under the same key to learn whether a job was reserved, and refunds it. */
async function refundUnknown(
  jobs: Runner["jobs"],
  request: CreateJob,
  keys: RunKeys,
): Promise<void> {
  const ttl_ms = (request.ttlSeconds ?? DEFAULT_TTL_SECONDS) * 1000;
  // After this time the job has expired, and the service may have forgotten the key.
  const untilMs = Date.now() + Math.min(ttl_ms, PERSISTENCE_MS);
  try {
    const { job_id } = await jobs.create(request, { idempotencyKey: keys.create, untilMs });
    await jobs.fail({ jobId: job_id, refund: true }, persistently(keys.fail));
  } catch {
    // If it was refused, no job exists. If no response came, the job expires.
  }
}

async function workOn<Result>(
  { job_id, credits }: CreatedJob,
  progress: JobProgress,
  work: (job: RunningJob) => Promise<Work<Result>>,
  signal: AbortSignal | undefined,
): Promise<Work<Result>> {
  const job = {
    id: job_id,
    credits,
    signal: signal ?? new AbortController().signal,
    progress: (report: ProgressReport) => progress.report(report),
  };
  if (signal === undefined) return work(job);
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    // Work that ignores the signal must not keep the reserve.
    return await Promise.race([work(job), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Refunds the reserve. The caller needs the error of the work more than an error of this request, and soon. So one
 * attempt is awaited, for callers that end their process after the error, and the retries run in the background.
 */
function refund(
  { jobs, background }: Runner,
  job_id: string,
  keys: RunKeys,
  reason: string | undefined,
): Promise<void> {
  const failing = { jobId: job_id, refund: true, ...(reason === undefined ? {} : { reason }) };
  return new Promise((resolve) => {
    const options: SettleOptions = { ...persistently(keys.fail), onWait: resolve };
    const ended = jobs.fail(failing, options).catch(() => {});
    background(ended.finally(resolve));
  });
}

/** Calls `onWarning`. If it throws, the result of the work must not be lost. */
function warnSafely(onWarning: (message: string) => void, message: string): void {
  try {
    onWarning(message);
  } catch {
    // The caller's function failed. The job is settled anyway.
  }
}

/** The message of an error, shortened to what the service accepts; undefined if it has none. */
function reasonOf(error: unknown): string | undefined {
  const message: unknown = error instanceof Error ? error.message : error;
  const text = typeof message === "string" ? message.replaceAll("\0", "").trim() : "";
  const short =
    text.length <= REASON_MAX_LENGTH ? text : `${text.slice(0, REASON_MAX_LENGTH - 1)}…`;
  return short === "" ? undefined : short.toWellFormed();
}
