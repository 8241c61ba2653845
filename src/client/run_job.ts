/**
 * A job from reserve to settlement. While the process lives, every job it reserved is settled or given
 * back, whatever answers are lost on the way; when it dies, the job's time-out gives the reserve back.
 */
import { isRefusal, PassbookError } from "./errors.ts";
import type { CompleteJob, CreateJob, FailJob, Jobs, SettleOptions } from "./jobs.ts";
import type { CreatedJob, Metadata, SettledJob } from "./wire.ts";

/** The job that `runJob` has reserved for your work. */
export interface RunningJob {
  readonly id: string;
  /** The balance after the reserve. */
  readonly credits: number;
  /** Aborted when the caller's signal is: stop working, the reserve is given back. */
  readonly signal: AbortSignal;
}

/** What your work came to. */
export interface Work<Result> {
  readonly result: Result;
  /** What it cost in credits, a whole number from 0. */
  readonly actualCost: number;
  /** Merged into the job's metadata, new keys win. */
  readonly metadata?: Metadata;
}

export interface RunJobOptions {
  /** Aborts the work; the reserve is given back. A job that is being settled is settled. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of the work, and the settled job. */
export interface Ran<Result> extends SettledJob {
  readonly result: Result;
}

/** How long lost answers are asked for: a little less than the service keeps idempotency keys. */
const PERSISTENCE_MS = 23 * 60 * 60 * 1000;

const DEFAULT_TTL_SECONDS = 24 * 60 * 60;

/** What `runJob` needs: the calls, and a place for what goes on after it has thrown. */
export interface Ground {
  readonly jobs: Pick<Jobs, "create" | "complete" | "fail">;
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
  { signal }: RunJobOptions = {},
): Promise<Ran<Result>> {
  const created = await reserve(ground, request, signal);
  const job_id = created.job_id;
  const stopKeepingFresh = ground.keepFresh();
  let done: Work<Result>;
  try {
    done = checkWork(await workOn(created, work, signal));
  } catch (error) {
    await giveBack(ground, job_id);
    throw error;
  } finally {
    stopKeepingFresh();
  }
  const { result, actualCost, metadata } = done;
  const completion: CompleteJob = {
    jobId: job_id,
    actualCost,
    ...(metadata === undefined ? {} : { metadata }),
  };
  try {
    return { result, ...(await ground.jobs.complete(completion, persistently())) };
  } catch (error) {
    // The service's own no: the hold must not stay. Where the answer is not known, it may be settled.
    if (isRefusal(error)) await giveBack(ground, job_id);
    throw error;
  }
}

/** Reserves; where it is not known whether that happened, finds out later and gives back. */
async function reserve(
  { jobs, background }: Ground,
  request: CreateJob,
  signal: AbortSignal | undefined,
): Promise<CreatedJob> {
  const idempotencyKey = crypto.randomUUID();
  let unknown = false;
  const onUnknown = (): void => void (unknown = true);
  try {
    const created = await jobs.create(request, { idempotencyKey, onUnknown, signal });
    if (signal?.aborted !== true) return created;
    unknown = true;
    throw signal.reason;
  } catch (error) {
    if (unknown && !isRefusal(error)) background(release(jobs, request, idempotencyKey));
    throw error;
  }
}

/** Asks again, under the same key, whether a job was reserved, and gives it back. */
async function release(
  jobs: Ground["jobs"],
  request: CreateJob,
  idempotencyKey: string,
): Promise<void> {
  const ttl_ms = (request.ttlSeconds ?? DEFAULT_TTL_SECONDS) * 1000;
  // Later than this the hold has ended by itself, and the key might be forgotten.
  const untilMs = Date.now() + Math.min(ttl_ms, PERSISTENCE_MS);
  try {
    const { job_id } = await jobs.create(request, { idempotencyKey, untilMs });
    await jobs.fail({ jobId: job_id, refund: true }, persistently());
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

/** A cost that is none must not be sent: the service would refuse it after the work is done. */
function checkWork<Result>(done: Work<Result>): Work<Result> {
  if (Number.isSafeInteger(done?.actualCost) && done.actualCost >= 0) return done;
  const message = "The work must return { result, actualCost }, actualCost a whole number from 0.";
  throw new PassbookError("invalid_argument", message);
}

/**
 * Gives the reserve back. The error that led here matters more than one of this, and is not kept waiting:
 * one attempt is awaited, for callers that end their process upon the error, and no more of an outage.
 */
function giveBack({ jobs, background }: Ground, job_id: string): Promise<void> {
  const failing: FailJob = { jobId: job_id, refund: true };
  return new Promise((resolve) => {
    const options: SettleOptions = { ...persistently(), onWait: resolve };
    const ended = jobs.fail(failing, options).catch(() => {});
    background(ended.finally(resolve));
  });
}

function persistently(): SettleOptions {
  return { idempotencyKey: crypto.randomUUID(), untilMs: Date.now() + PERSISTENCE_MS };
}
