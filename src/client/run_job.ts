/**
 * Runs work as a job. While the process lives, every job that it reserved is settled or refunded, even if responses are
 * lost. If the process dies, a run under the caller's own key resumes the job, or else the job expires.
 */
import { isPassbookError, isRefusal, PassbookError } from "./errors.ts";
import { createApproved, type OnApprovalNeeded } from "./job_approval.ts";
import {
  expiryOf,
  JobProgress,
  STEPS_OF_A_RUN,
  type HeldJob,
  type ProgressReport,
} from "./job_progress.ts";
import type { CreateJob, FailJob, Jobs, SettleOptions } from "./jobs.ts";
import { keysOf, persistently, PERSISTENCE_MS, type RunKeys } from "./run_keys.ts";
import { checkEstimate, settle, workOf, type Settled, type Work } from "./settlement.ts";
import type { CreatedJob, Job, ProgressedJob } from "./responses.ts";
import { withTopUp, type TopUpWaiting } from "./top_up_wait.ts";
import type { Wait } from "./transport.ts";

/** The job that `runJob` has reserved for your work. */
export interface RunningJob {
  readonly id: string;
  /** The balance after reserving; null for an app that charges for a connection. */
  readonly credits: number | null;
  /**
   * Aborted together with the caller's signal, and when a report says that the job has ended or that another process has
   * resumed it: stop the work.
   */
  readonly signal: AbortSignal;
  /**
   * Reports how far the work is (`done` from 0 to 1, and a `message` for people) and what it has spent so far, raises or
   * lowers the reserve, and moves the expiry. Reports are sent one
   * after another. If no response comes, it resolves with null, and the report is repeated in the background until the
   * job expires. It throws `insufficient_credits`, `token_budget_exceeded`, `overage_limit` and `spent_limit`, which you
   * may catch if the work can go on; and `job_ended` and `step_too_old` (another process has resumed the job), after
   * which `runJob` throws too, and neither completes nor fails the job. Credits are rounded up.
   */
  progress(report: ProgressReport): Promise<ProgressedJob | null>;
}

/** How `runJob` runs and settles its job. */
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
  /**
   * Whether to wait for an automatic top-up, if the balance does not cover the job and one is on its way: at most a
   * minute, then it throws `insufficient_credits`. By default it throws at once.
   */
  readonly waitForTopUp?: boolean | undefined;
  /**
   * The job's cost if `work` throws or `signal` is aborted: nothing (`refund`, the default), or what the work has
   * reported as `spent` (`charge_spent`).
   */
  readonly onFailure?: "refund" | "charge_spent" | undefined;
  /**
   * Whether the message of an error that `work` throws becomes the job's `failure_reason`, which the account's holder
   * reads. By default it does, but not with an app's key: then the reason is a general sentence. If false, the job has no reason.
   */
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

/** The client's functions that `runJob` needs. */
export interface Runner {
  readonly jobs: Pick<Jobs, "create" | "complete" | "fail" | "get" | "progress">;
  /** Waits between requests for an approval, or for a top-up. */
  readonly wait: Wait;
  readonly readCredits: TopUpWaiting["readCredits"];
  /** Registers a request that goes on after `runJob` has thrown. `whenIdle` waits for it. */
  readonly background: (task: Promise<unknown>) => void;
  /** Renews the caller's token until the returned function is called. */
  readonly keepFresh: () => () => void;
  /** Whether the caller is an app's server, whose errors are not for the account's holder. */
  readonly is_app: boolean;
}

/** Runs `work` as a job. See `PassbookClient.runJob`. */
export async function runJob<Result>(
  runner: Runner,
  request: CreateJob,
  work: (job: RunningJob) => Promise<Work<Result>>,
  options: RunJobOptions = {},
): Promise<RunResult<Result>> {
  const { signal, key, onFailure, reportReason, onWarning = console.warn } = options;
  const warn = (message: string): void => warnSafely(onWarning, message);
  checkEstimate(request.costEstimate);
  if (typeof work !== "function") {
    throw new PassbookError("invalid_argument", "runJob needs the work as a function.");
  }
  const keys = keysOf(key);
  const reserved = await reserve(runner, request, keys, warn, options);
  const { jobs } = runner;
  const progress = new JobProgress({ jobs, job: reserved.held, run: keys.run, signal, warn });
  const stopKeepingFresh = runner.keepFresh();
  let done: Work<Result>;
  try {
    done = await workOn(reserved, progress, work, signal);
    await progress.finish();
    if (progress.lost !== null) throw progress.lost.withResult(workOf(done).result);
  } catch (error) {
    progress.stop();
    if (progress.lost !== null) throw error;
    const reason = reasonFor(error, reportReason, runner.is_app);
    const cost = onFailure === "charge_spent" ? progress.spent : 0;
    const failing = { jobId: reserved.job_id, step: progress.step, cost };
    await fail(runner, { ...failing, ...(reason !== undefined && { reason }) }, keys);
    throw error;
  } finally {
    stopKeepingFresh();
  }
  return settle({
    jobs,
    job_id: reserved.job_id,
    reserved: progress.reserved,
    step: progress.step,
    idempotencyKey: keys.complete,
    warn,
    done,
  });
}

interface ReservedJob extends CreatedJob {
  /** The job at the beginning of this run. */
  readonly held: HeldJob;
}

/**
 * Reserves credits, or finds the job that this key reserved before. If it is unknown whether a job was reserved, a
 * background request finds out and refunds it. Under the caller's own key it does so only if the caller aborts, since
 * the caller may be about to resume the job.
 */
async function reserve(
  { jobs, background, wait, readCredits }: Runner,
  request: CreateJob,
  keys: RunKeys,
  warn: (message: string) => void,
  {
    signal,
    onApprovalNeeded,
    waitForTopUp = false,
  }: Pick<RunJobOptions, "signal" | "onApprovalNeeded" | "waitForTopUp">,
): Promise<ReservedJob> {
  let [unknown, replayed, step] = [false, false, 0];
  const onUnknown = (): void => void (unknown = true);
  const onReplayed = (): void => void (replayed = true);
  try {
    const idempotencyKey = keys.create;
    const options = { idempotencyKey, onUnknown, onReplayed, signal };
    const create = (): Promise<CreatedJob> =>
      createApproved({ jobs, wait, onApprovalNeeded }, request, options);
    const created = waitForTopUp
      ? await withTopUp({ wait, readCredits }, signal, create)
      : await create();
    const { job_id: id } = created;
    const held =
      replayed && keys.is_own
        ? await takeOver(jobs, { id, run: keys.run, signal, warn })
        : { id, step, reserved: request.costEstimate, spent: null, expires_ms: expiryAt(request) };
    ({ step } = held);
    if (signal?.aborted !== true) return { ...created, held };
    unknown = true;
    throw signal.reason;
  } catch (error) {
    const resumable = keys.is_own && signal?.aborted !== true;
    if (unknown && !resumable && !isRefusal(error)) {
      background(refundUnknown(jobs, request, keys, step));
    }
    throw error;
  }
}

/** When a job that is created now expires, by this machine's clock. */
function expiryAt({ ttlSeconds = DEFAULT_TTL_SECONDS }: CreateJob): number {
  return Date.now() + ttlSeconds * 1000;
}

/** Refusals of a step for lack of room. The run may go on without it. */
const NO_ROOM = ["limit_reached", "account_full", "token_storage_full"] as const;

/** Runs that resume one job at the same time take it over from each other. The last of them has it. */
const TAKE_OVERS_MAX = 10;

/**
 * Takes a step of a job that another process reserved, before the work begins, so that the service refuses that
 * process's reports and its end of the job.
 */
async function takeOver(
  jobs: Runner["jobs"],
  {
    id,
    run,
    signal,
    warn,
  }: {
    readonly id: string;
    readonly run: string;
    readonly signal: AbortSignal | undefined;
    readonly warn: (message: string) => void;
  },
): Promise<HeldJob> {
  for (let attempt = 1; ; attempt += 1) {
    const job = await readStarted(jobs, id);
    const step = (Math.floor(job.step / STEPS_OF_A_RUN) + 1) * STEPS_OF_A_RUN;
    try {
      const taken = (await jobs.progress({ jobId: id, step, run }, { signal })).job;
      return { ...taken, expires_ms: expiryOf(taken) };
    } catch (error) {
      if (NO_ROOM.some((code) => isPassbookError(error, code))) {
        warn(`Job ${id} is resumed without a step of its own: ${(error as Error).message}`);
        return { ...job, step, expires_ms: Date.parse(job.expires_at) };
      }
      const has_changed =
        isPassbookError(error, "step_too_old") || isPassbookError(error, "job_ended");
      if (!has_changed || attempt === TAKE_OVERS_MAX) throw error;
    }
  }
}

/** The work of a job that has ended must not run again. @throws PassbookError `job_ended` */
async function readStarted(jobs: Runner["jobs"], job_id: string): Promise<Job> {
  const job = await jobs.get(job_id);
  if (job.status === "started") return job;
  const message = `The job of this key has ${job.failure === null ? "been completed" : FAILURES[job.failure]}.`;
  const next = job.failure === null ? "" : " To run the work again, use another key.";
  throw new PassbookError("job_ended", `${message}${next}`, { body: { job } });
}

const FAILURES = { reported: "failed", expired: "expired", cancelled: "been cancelled" };

/**
 * Repeats the creation under the same key to learn whether a job was reserved, and refunds it, unless another run has
 * taken a step of it. Accepted: a run under the same key that created the job and has not reported yet loses it.
 */
async function refundUnknown(
  jobs: Runner["jobs"],
  request: CreateJob,
  keys: RunKeys,
  step: number,
): Promise<void> {
  // After this time the job has expired, and the service may have forgotten the key.
  const untilMs = Math.min(expiryAt(request), Date.now() + PERSISTENCE_MS);
  try {
    const { job_id } = await jobs.create(request, { idempotencyKey: keys.create, untilMs });
    await jobs.fail({ jobId: job_id, step }, persistently(keys.fail));
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
    signal: progress.signal,
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
 * Fails the job. The caller needs the error of the work more than an error of this request, and soon. So one attempt is
 * awaited, for callers that end their process after the error, and the retries run in the background.
 */
function fail(
  { jobs, background }: Runner,
  failing: FailJob & { readonly cost: number },
  keys: RunKeys,
): Promise<void> {
  return new Promise((resolve) => {
    const options: SettleOptions = { ...persistently(keys.fail), onWait: resolve };
    const ended = jobs.fail(failing, options).catch((error: unknown) => {
      // The job holds less than the work has spent.
      const limit = isPassbookError(error, "spent_limit") ? Number(error.body["limit"]) : Infinity;
      return limit < failing.cost ? jobs.fail({ ...failing, cost: limit }, options) : undefined;
    });
    background(ended.catch(() => {}).finally(resolve));
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

/** The text that the account's holder reads; undefined: none. */
function reasonFor(
  error: unknown,
  reportReason: boolean | undefined,
  is_app: boolean,
): string | undefined {
  if (reportReason === false) return undefined;
  return (reportReason ?? !is_app) ? reasonOf(error) : GENERAL_REASON;
}

/** The reason that people read instead of an error's text. */
const GENERAL_REASON = "The app could not finish this job.";

/**
 * The message of an error, shortened to what the service accepts; undefined if it has none. The client's own errors may
 * name an internal address, so people do not read them.
 */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof PassbookError && !isRefusal(error)) return GENERAL_REASON;
  const message: unknown = error instanceof Error ? error.message : error;
  const text = typeof message === "string" ? message.replaceAll("\0", "").trim() : "";
  const short =
    text.length <= REASON_MAX_LENGTH ? text : `${text.slice(0, REASON_MAX_LENGTH - 1)}…`;
  return short === "" ? undefined : short.toWellFormed();
}
