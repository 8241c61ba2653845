/**
 * A job from reserve to settlement. While the process lives, every job it reserved is settled or given back,
 * whatever responses are lost on the way; when it dies, a run under the caller's own key resumes the job, or the
 * job's time-out ends it.
 */
import { isRefusal, PassbookError } from "./errors.ts";
import type { CreateJob, Jobs, SettleOptions } from "./jobs.ts";
import { keysOf, persistently, PERSISTENCE_MS, type RunKeys } from "./run_keys.ts";
import { checkEstimate, settle, type Settled, type Work } from "./settlement.ts";
import type { CreatedJob } from "./responses.ts";

/** The job that `runJob` has reserved for your work. */
export interface RunningJob {
  readonly id: string;
  /** The balance after the reserve. */
  readonly credits: number;
  /** Aborted when the caller's signal is: stop working, the reserve is given back. */
  readonly signal: AbortSignal;
}

export interface RunJobOptions {
  /** Aborts the work; the reserve is given back. A job that is being settled is settled. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Your own name for this piece of work, up to 200 printable ASCII characters without a space. One key is one
   * job: a process that starts again within 24 hours and runs the same job under the same key, by the same token,
   * resumes it instead of reserving again. `job_ended` where that job has ended: see {@link PassbookError.job}.
   */
  readonly key?: string | undefined;
  /** Whether the message of an error of the work becomes the job's `failure_reason`; it does unless false. */
  readonly reportReason?: boolean | undefined;
  /** Called where the job was settled otherwise than the work said; `console.warn` where it is left out. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The result of the work, and the settled job. */
export interface Ran<Result> extends Settled {
  readonly result: Result;
}

const DEFAULT_TTL_SECONDS = 24 * 60 * 60;

/** Longest `reason` of a failed job, in characters. */
const REASON_MAX_LENGTH = 500;

/** What `runJob` needs: the calls, and a place for what goes on after it has thrown. */
export interface Ground {
  readonly jobs: Pick<Jobs, "create" | "complete" | "fail" | "get">;
  /** Keeps a promise in view that nobody awaits. */
  readonly background: (task: Promise<unknown>) => void;
  /** Keeps the caller signed in, until what it returns is called. */
  readonly keepFresh: () => () => void;
}

/** Runs `work` as a job. See `PassbookClient.runJob`. */
export async function runJob<Result>(
  ground: Ground,
  request: CreateJob,
  work: (job: RunningJob) => Promise<Work<Result>>,
  options: RunJobOptions = {},
): Promise<Ran<Result>> {
  const { signal, key, reportReason = true, onWarning = console.warn } = options;
  checkEstimate(request.costEstimate);
  if (typeof work !== "function") {
    throw new PassbookError("invalid_argument", "runJob needs the work as a function.");
  }
  const keys = keysOf(key);
  const created = await reserve(ground, request, keys, signal);
  const { job_id } = created;
  const stopKeepingFresh = ground.keepFresh();
  let done: Work<Result>;
  try {
    done = await workOn(created, work, signal);
  } catch (error) {
    await giveBack(ground, job_id, keys, reportReason ? reasonOf(error) : undefined);
    throw error;
  } finally {
    stopKeepingFresh();
  }
  return settle({
    jobs: ground.jobs,
    job_id,
    reserved: request.costEstimate,
    idempotencyKey: keys.complete,
    warn: (message) => tell(onWarning, message),
    done,
  });
}

/**
 * Reserves, or finds the job that this key reserved before. Where it is not known whether a job was reserved,
 * finds out later and gives it back; under the caller's own key only if the caller aborts, since the same key may
 * be about to resume.
 */
async function reserve(
  { jobs, background }: Ground,
  request: CreateJob,
  keys: RunKeys,
  signal: AbortSignal | undefined,
): Promise<CreatedJob> {
  let [unknown, replayed] = [false, false];
  const onUnknown = (): void => void (unknown = true);
  const onReplayed = (): void => void (replayed = true);
  try {
    const idempotencyKey = keys.create;
    const created = await jobs.create(request, { idempotencyKey, onUnknown, onReplayed, signal });
    if (replayed && keys.is_own) await checkStarted(jobs, created.job_id);
    if (signal?.aborted !== true) return created;
    unknown = true;
    throw signal.reason;
  } catch (error) {
    const resumable = keys.is_own && signal?.aborted !== true;
    if (unknown && !resumable && !isRefusal(error)) background(release(jobs, request, keys));
    throw error;
  }
}

/** A job that has ended is not worked on again. @throws PassbookError `job_ended` */
async function checkStarted(jobs: Ground["jobs"], job_id: string): Promise<void> {
  const job = await jobs.get(job_id);
  if (job.status === "started") return;
  const ended = job.failure === "expired" ? "expired" : job.status;
  const message = `The job of this key has ${ended === "failed" ? "failed" : `been ${ended}`}.`;
  const next = ended === "completed" ? "" : " To try again, use another key.";
  throw new PassbookError("job_ended", `${message}${next}`, { body: { job } });
}

/** Asks again, under the same key, whether a job was reserved, and gives it back. */
async function release(jobs: Ground["jobs"], request: CreateJob, keys: RunKeys): Promise<void> {
  const ttl_ms = (request.ttlSeconds ?? DEFAULT_TTL_SECONDS) * 1000;
  // Later than this the hold has ended by itself, and the key might be forgotten.
  const untilMs = Date.now() + Math.min(ttl_ms, PERSISTENCE_MS);
  try {
    const { job_id } = await jobs.create(request, { idempotencyKey: keys.create, untilMs });
    await jobs.fail({ jobId: job_id, refund: true }, persistently(keys.fail));
  } catch {
    // Refused: there is no hold. Never answered: the time-out ends it.
  }
}

async function workOn<Result>(
  { job_id, credits }: CreatedJob,
  work: (job: RunningJob) => Promise<Work<Result>>,
  signal: AbortSignal | undefined,
): Promise<Work<Result>> {
  if (signal === undefined) {
    return work({ id: job_id, credits, signal: new AbortController().signal });
  }
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    // Work that does not listen must not keep the reserve.
    return await Promise.race([work({ id: job_id, credits, signal }), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Gives the reserve back. The error that led here matters more than one of this, and is not kept waiting:
 * one attempt is awaited, for callers that end their process upon the error, and no more of an outage.
 */
function giveBack(
  { jobs, background }: Ground,
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

/** A warning must not lose the work that it is about. */
function tell(onWarning: (message: string) => void, message: string): void {
  try {
    onWarning(message);
  } catch {
    // The caller's own function failed; the job is settled all the same.
  }
}

/** What an error says, as far as the service takes it; undefined where it says nothing. */
function reasonOf(error: unknown): string | undefined {
  const said: unknown = error instanceof Error ? error.message : error;
  const text = typeof said === "string" ? said.replaceAll("\0", "").trim() : "";
  const short =
    text.length <= REASON_MAX_LENGTH ? text : `${text.slice(0, REASON_MAX_LENGTH - 1)}…`;
  return short === "" ? undefined : short.toWellFormed();
}
