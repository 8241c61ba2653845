/** Jobs: reserve, settle, look. */
import { pagesOf } from "./pages.ts";
import { READ, type Read, type Transport } from "./transport.ts";
import type { Credentials } from "./credentials.ts";
import type {
  CreatedJob,
  CreatedJobs,
  Job,
  JobPage,
  JobStatus,
  Metadata,
  SettledJob,
  SettledJobs,
} from "./responses.ts";

export interface CreateJob {
  /** The app's slug. */
  readonly app: string;
  readonly action: string;
  /** Credits to reserve, a whole number from 0. */
  readonly costEstimate: number;
  /** How long the job may stay started before it fails by itself: 60 to 2,592,000, else a day. */
  readonly ttlSeconds?: number;
  readonly metadata?: Metadata;
}

export interface CompleteJob {
  readonly jobId: string;
  /** What the job cost in credits, a whole number from 0; more than was reserved is charged too. */
  readonly actualCost: number;
  /** Merged into the job's metadata, new keys win. */
  readonly metadata?: Metadata;
}

export interface FailJob {
  readonly jobId: string;
  /** False keeps the reserve as the job's cost. */
  readonly refund?: boolean;
  /** Why it failed, up to 500 characters; shown to people as the job's `failure_reason`. */
  readonly reason?: string;
  /** Merged into the job's metadata, new keys win. */
  readonly metadata?: Metadata;
}

export interface JobFilter {
  readonly app?: string;
  readonly status?: JobStatus;
  /** Jobs created at this moment or later, and before that one. */
  readonly from?: Date | string;
  readonly to?: Date | string;
  /** Jobs on a page, 1 to 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * Under the same key the same request happens once (the service remembers for 24 hours). Made anew for
   * each call where it is left out; give one of your own to make repeats of your own safe.
   */
  readonly idempotencyKey?: string;
}

/** How `runJob` insists. */
export interface SettleOptions extends WriteOptions {
  /** Go on asking until this moment, in milliseconds since 1970, instead of a few times. */
  readonly untilMs?: number;
  /** Told when an attempt was sent and its outcome is not known. */
  readonly onUnknown?: () => void;
  /** Called when the service repeats a response that it gave before. */
  readonly onReplayed?: (() => void) | undefined;
  /** Told when it will be sent again, before the wait for that. */
  readonly onWait?: () => void;
}

/** Each throws {@link PassbookError}; retries are safe, since every write has an idempotency key. */
export interface Jobs {
  /** Reserves credits for a job. Refused with `insufficient_credits` where they do not suffice. */
  create(job: CreateJob, options?: SettleOptions): Promise<CreatedJob>;
  /** Creates 1 to 100 jobs at once: each is created or refused by itself. */
  createMany(jobs: readonly CreateJob[], options?: SettleOptions): Promise<CreatedJobs>;
  /** Settles a job at its real cost. */
  complete(job: CompleteJob, options?: SettleOptions): Promise<SettledJob>;
  /** Settles 1 to 100 jobs at once: each is settled or refused by itself. */
  completeMany(jobs: readonly CompleteJob[], options?: SettleOptions): Promise<SettledJobs>;
  /** Ends a job without a result, and gives its reserve back unless told otherwise. */
  fail(job: FailJob, options?: SettleOptions): Promise<SettledJob>;
  /**
   * Expires a started job of any app now; it may still be completed late. Refused with `scope` unless the holder's
   * own session asks.
   */
  cancel(jobId: string, options?: CallOptions): Promise<SettledJob>;
  get(jobId: string, options?: CallOptions): Promise<Job>;
  /** One page, newest first. */
  list(filter?: JobFilter, options?: CallOptions): Promise<JobPage>;
  /** All that match, newest first, page by page as they are asked for. */
  all(filter?: JobFilter, options?: CallOptions): AsyncGenerator<Job, void, undefined>;
}

export function createJobs(transport: Transport, credentials: Credentials): Jobs {
  const write = async <Body extends object>(
    path: string,
    body: object,
    options: SettleOptions,
    isAnswer: (body: Body) => boolean,
  ): Promise<Body> => {
    const answer = await transport.send({
      method: "POST",
      path,
      body,
      isAnswer,
      // Before the first send: every retry must carry the same one.
      repeat: { kind: "keyed", key: options.idempotencyKey ?? crypto.randomUUID() },
      credentials,
      signal: options.signal,
      untilMs: options.untilMs,
      onUnknown: options.onUnknown,
      onWait: options.onWait,
    });
    if (answer.replayed) options.onReplayed?.();
    return answer.body;
  };
  const read = async <Body extends object>(call: Read<Body>): Promise<Body> =>
    (await transport.send({ ...READ, credentials, ...call })).body;
  const jobs: Jobs = {
    create: async (job, options = {}) =>
      write<CreatedJob>("/api/jobs", creation(job), options, isCreated),
    createMany: async (many, options = {}) =>
      write<CreatedJobs>("/api/jobs/batch", { jobs: many.map(creation) }, options, (it) =>
        isBatch(it, many.length),
      ),
    complete: async (job, options = {}) =>
      write<SettledJob>("/api/jobs/complete", completion(job), options, (it) =>
        isSettled(it, job.jobId),
      ),
    completeMany: async (many, options = {}) =>
      write<SettledJobs>(
        "/api/jobs/complete/batch",
        { jobs: many.map(completion) },
        options,
        (it) => isBatch(it, many.length),
      ),
    fail: async ({ jobId, refund = true, reason, metadata }, options = {}) =>
      write<SettledJob>(
        "/api/jobs/fail",
        { job_id: jobId, refund, reason, metadata },
        options,
        (it) => isSettled(it, jobId),
      ),
    cancel: async (jobId, options = {}) =>
      write<SettledJob>("/api/jobs/cancel", { job_id: jobId }, options, (it) =>
        isSettled(it, jobId),
      ),
    async get(jobId, { signal } = {}) {
      const path = `/api/jobs/${encodeURIComponent(jobId)}`;
      return read<Job>({ path, signal, isAnswer: ({ id }) => typeof id === "string" });
    },
    async list(filter = {}, { signal } = {}) {
      const query = { ...filter };
      const isAnswer = (page: JobPage): boolean => Array.isArray(page.jobs);
      return read({ path: "/api/jobs", query, signal, isAnswer });
    },
    all: (filter = {}, options) =>
      pagesOf(filter, async (at) => {
        const { jobs: rows, next_cursor } = await jobs.list(at, options);
        return { rows, next_cursor };
      }),
  };
  return jobs;
}

function creation({ app, action, costEstimate, ttlSeconds, metadata }: CreateJob): object {
  return { app, action, cost_estimate: costEstimate, ttl_seconds: ttlSeconds, metadata };
}

function completion({ jobId, actualCost, metadata }: CompleteJob): object {
  return { job_id: jobId, actual_cost: actualCost, metadata };
}

function isBatch({ results, credits }: CreatedJobs | SettledJobs, length: number): boolean {
  return Array.isArray(results) && results.length === length && isCredits(credits);
}

function isCreated({ job_id, credits }: CreatedJob): boolean {
  return typeof job_id === "string" && isCredits(credits);
}

function isSettled({ job, credits }: SettledJob, jobId: string): boolean {
  const same = typeof job?.id === "string" && job.id.toLowerCase() === jobId.toLowerCase();
  return same && isCredits(credits);
}

function isCredits(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
