/** Creating, settling and listing jobs. */
import { createCalls, rowsOfPages, type CallOptions, type WriteOptions } from "./calls.ts";
import type { Transport } from "./transport.ts";
import type { Credentials } from "./credentials.ts";
import type {
  CreatedJob,
  CreatedJobs,
  Job,
  JobPage,
  JobStatus,
  Metadata,
  ProgressedJob,
  SettledJob,
  SettledJobs,
} from "./responses.ts";

/** A job to create. Its estimate is reserved until the job ends. */
export interface CreateJob {
  /** The app's slug. */
  readonly app: string;
  readonly action: string;
  /** Credits to reserve, a whole number from 0. */
  readonly costEstimate: number;
  /** How long the job may stay started before it expires: 60 to 2,592,000; a day if omitted. */
  readonly ttlSeconds?: number;
  readonly metadata?: Metadata;
  /** The `approval` of a 402 `token_budget_exceeded`, after the account's holder approved the job at its `approval_url`. */
  readonly approval?: string;
}

/** The end of a job that was done, with its real cost. */
export interface CompleteJob {
  readonly jobId: string;
  /** The real cost in credits, a whole number from 0. A cost above the reserve is charged too. */
  readonly actualCost: number;
  /** The last step that your run of the work took; 0 for none. Refused as `step_too_old` if another run took a later one. */
  readonly step?: number;
  /** Merged into the job's metadata; new keys replace old ones. */
  readonly metadata?: Metadata;
}

/** The end of a job that was not done. It costs nothing unless you state a `cost`. */
export interface FailJob {
  readonly jobId: string;
  /** The cost of the failed job: from 0 to its reserve. The rest comes back. */
  readonly cost?: number;
  /** If false, the whole reserve stays as the job's cost. Leave it out if you state the `cost`. */
  readonly refund?: boolean;
  /** As in {@link CompleteJob}. */
  readonly step?: number;
  /** Why it failed, up to 500 characters; shown to people as the job's `failure_reason`. */
  readonly reason?: string;
  /** Merged into the job's metadata; new keys replace old ones. */
  readonly metadata?: Metadata;
}

/** How far a started job is. Only what you give is changed. */
export interface ReportProgress {
  readonly jobId: string;
  /**
   * A whole number from 1 that grows with each report of the job. A repeated step gets its first response; an older one
   * is refused as `step_too_old`.
   */
  readonly step: number;
  /** An id of your run of the work. The same step of another run is refused as `step_too_old`. */
  readonly run?: string;
  /** Credits that the job costs if it expires: at most what it holds. */
  readonly spent?: number;
  /** Credits that the job holds from now on. */
  readonly reserve?: number;
  /** The job expires so many seconds from now: 60 to 2,592,000. */
  readonly ttlSeconds?: number;
  /** How much of the work is done, from 0 to 1. It may go back. */
  readonly done?: number;
  /** What people read about the progress, up to 200 characters; empty for nothing any more. */
  readonly message?: string;
}

/** Which jobs to list, and which page of them. Everything is optional. */
export interface JobFilter {
  readonly app?: string;
  readonly status?: JobStatus;
  /** Only jobs started by this app's key or pages (its slug), or by this connection or token or one exchanged from it (its id). */
  readonly by?: string;
  /** Jobs created at this time or later. */
  readonly from?: Date | string;
  /** Jobs created before this time. */
  readonly to?: Date | string;
  /** Jobs on a page, 1 to 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** How `runJob` retries. */
export interface SettleOptions extends WriteOptions {
  /** Retry until this time, in milliseconds since 1970, instead of a fixed number of times. */
  readonly untilMs?: number;
  /** Called when an attempt was sent and its outcome is unknown. */
  readonly onUnknown?: () => void;
  /** Called when the service repeats the response of an earlier request. */
  readonly onReplayed?: (() => void) | undefined;
  /** Called before the wait for the next attempt. */
  readonly onWait?: () => void;
}

/** Each call throws {@link PassbookError}. Retries are safe, since every write has an idempotency key. */
export interface Jobs {
  /** Reserves credits for a job. Refused with `insufficient_credits` if the balance is too low. */
  create(job: CreateJob, options?: SettleOptions): Promise<CreatedJob>;
  /** Creates 1 to 100 jobs at once: each is created or refused independently. None can have an `approval`. */
  createMany(
    jobs: readonly Omit<CreateJob, "approval">[],
    options?: SettleOptions,
  ): Promise<CreatedJobs>;
  /** Settles a job at its real cost. */
  complete(job: CompleteJob, options?: SettleOptions): Promise<SettledJob>;
  /** Settles 1 to 100 jobs at once: each is settled or refused independently. */
  completeMany(jobs: readonly CompleteJob[], options?: SettleOptions): Promise<SettledJobs>;
  /** Fails a job, at no cost unless `cost` or `refund` says otherwise. */
  fail(job: FailJob, options?: SettleOptions): Promise<SettledJob>;
  /** Reports the progress of a started job. A job takes up to 1,000 steps. */
  progress(report: ReportProgress, options?: SettleOptions): Promise<ProgressedJob>;
  /**
   * Expires a started job of any app now; it may still be completed late. Only the holder's own session may do this:
   * other callers get `scope`.
   */
  cancel(jobId: string, options?: CallOptions): Promise<SettledJob>;
  get(jobId: string, options?: CallOptions): Promise<Job>;
  /** One page, newest first. */
  list(filter?: JobFilter, options?: CallOptions): Promise<JobPage>;
  /** All jobs that match, newest first. Reads the pages one after another. */
  all(filter?: JobFilter, options?: CallOptions): AsyncGenerator<Job, void, undefined>;
}

export function createJobs(transport: Transport, credentials: Credentials): Jobs {
  const write = writerOf(transport, credentials);
  const { read } = createCalls(transport, credentials);
  const jobs: Jobs = {
    create: async (job, options = {}) =>
      write<CreatedJob>("/api/jobs", creation(job), options, isCreated),
    createMany: async (many, options = {}) =>
      write<CreatedJobs>("/api/jobs/batch", { jobs: many.map(creation) }, options, (it) =>
        isBatch(it, many.length),
      ),
    complete: async (job, options = {}) =>
      write<SettledJob>("/api/jobs/complete", completion(job), options, settles(job.jobId)),
    completeMany: async (many, options = {}) =>
      write<SettledJobs>(
        "/api/jobs/complete/batch",
        { jobs: many.map(completion) },
        options,
        (it) => isBatch(it, many.length),
      ),
    fail: async ({ jobId, cost, refund, step, reason, metadata }, options = {}) =>
      write<SettledJob>(
        "/api/jobs/fail",
        { job_id: jobId, cost, refund, step, reason, metadata },
        options,
        settles(jobId),
      ),
    progress: async ({ jobId, ttlSeconds, ...report }, options = {}) =>
      write<ProgressedJob>(
        "/api/jobs/progress",
        progressBody(jobId, report, ttlSeconds),
        options,
        settles(jobId),
      ),
    cancel: async (jobId, options = {}) =>
      write<SettledJob>("/api/jobs/cancel", { job_id: jobId }, options, settles(jobId)),
    async get(jobId, { signal } = {}) {
      const path = `/api/jobs/${encodeURIComponent(jobId)}`;
      return read<Job>({ path, signal, isValid: ({ id }) => typeof id === "string" });
    },
    async list(filter = {}, { signal } = {}) {
      const query = { ...filter };
      const isValid = (page: JobPage): boolean => Array.isArray(page.jobs);
      return read({ path: "/api/jobs", query, signal, isValid });
    },
    all: (filter = {}, options) =>
      rowsOfPages(filter, async (page) => {
        const { jobs: rows, next_cursor } = await jobs.list(page, options);
        return { rows, next_cursor };
      }),
  };
  return jobs;
}

function writerOf(transport: Transport, credentials: Credentials) {
  return async <Body extends object>(
    path: string,
    body: object,
    options: SettleOptions,
    isValid: (body: Body) => boolean,
  ): Promise<Body> => {
    const response = await transport.send({
      ...options,
      method: "POST",
      path,
      body,
      isValid,
      // Chosen before the first attempt: every retry must carry the same key.
      repeat: { kind: "keyed", key: options.idempotencyKey ?? crypto.randomUUID() },
      credentials,
    });
    if (response.replayed) options.onReplayed?.();
    return response.body;
  };
}

const settles = (jobId: string) => (body: SettledJob) => isSettled(body, jobId);

function creation({ costEstimate, ttlSeconds, ...job }: CreateJob): object {
  const { app, action, metadata, approval } = job;
  return { app, action, cost_estimate: costEstimate, ttl_seconds: ttlSeconds, metadata, approval };
}

function progressBody(
  job_id: string,
  { step, run, spent, reserve, done, message }: Omit<ReportProgress, "jobId" | "ttlSeconds">,
  ttl_seconds: number | undefined,
): object {
  return { job_id, step, run, spent, reserve, ttl_seconds, done, message };
}

function completion({ jobId, actualCost, step, metadata }: CompleteJob): object {
  return { job_id: jobId, actual_cost: actualCost, step, metadata };
}

/** An app's key gets no credits in an account that is not open for the app. */
function isBatch({ results, credits }: CreatedJobs | SettledJobs, length: number): boolean {
  return Array.isArray(results) && results.length === length && isCreditsOrHidden(credits);
}

function isCreated({ job_id, credits }: CreatedJob): boolean {
  return typeof job_id === "string" && isCreditsOrHidden(credits);
}

function isSettled({ job, credits }: SettledJob | ProgressedJob, jobId: string): boolean {
  const same = typeof job?.id === "string" && job.id.toLowerCase() === jobId.toLowerCase();
  return same && isCreditsOrHidden(credits);
}

function isCreditsOrHidden(value: unknown): boolean {
  return value === null || isCredits(value);
}

function isCredits(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
