/** Jobs: reserve, settle, look. */
import { PassbookError } from "./errors.ts";
import { pagesOf } from "./pages.ts";
import type { Answer, Call, Transport } from "./transport.ts";
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
} from "./wire.ts";

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
}

export interface JobFilter {
  readonly app?: string;
  readonly status?: JobStatus;
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
  get(jobId: string, options?: CallOptions): Promise<Job>;
  /** One page, newest first. */
  list(filter?: JobFilter, options?: CallOptions): Promise<JobPage>;
  /** All that match, newest first, page by page as they are asked for. */
  all(filter?: JobFilter, options?: CallOptions): AsyncGenerator<Job, void, undefined>;
}

export function createJobs(transport: Transport, credentials: Credentials): Jobs {
  const write = (path: string, body: object, options: SettleOptions): Promise<Answer> =>
    transport.send({
      method: "POST",
      path,
      body,
      // Before the first send: every retry must carry the same one.
      repeat: { kind: "keyed", key: options.idempotencyKey ?? crypto.randomUUID() },
      credentials,
      signal: options.signal,
      untilMs: options.untilMs,
      onUnknown: options.onUnknown,
    });
  const read = (call: Pick<Call, "path" | "query" | "signal">): Promise<Answer> =>
    transport.send({ method: "GET", repeat: { kind: "read" }, credentials, ...call });
  const jobs: Jobs = {
    async create(job, options = {}) {
      const answer = (await write("/api/jobs", creation(job), options))
        .body as unknown as CreatedJob;
      return checked(answer, typeof answer.job_id === "string" && isCredits(answer.credits));
    },
    async createMany(many, options = {}) {
      const body = { jobs: many.map(creation) };
      const answer = (await write("/api/jobs/batch", body, options)).body as unknown as CreatedJobs;
      return checked(answer, isBatch(answer, many.length));
    },
    async complete(job, options = {}) {
      return settled(await write("/api/jobs/complete", completion(job), options), job.jobId);
    },
    async completeMany(many, options = {}) {
      const body = { jobs: many.map(completion) };
      const answer = (await write("/api/jobs/complete/batch", body, options))
        .body as unknown as SettledJobs;
      return checked(answer, isBatch(answer, many.length));
    },
    async fail({ jobId, refund = true }, options = {}) {
      return settled(await write("/api/jobs/fail", { job_id: jobId, refund }, options), jobId);
    },
    async get(jobId, { signal } = {}) {
      const path = `/api/jobs/${encodeURIComponent(jobId)}`;
      const job = (await read({ path, signal })).body as unknown as Job;
      return checked(job, typeof job.id === "string");
    },
    async list({ app, status, limit, cursor } = {}, { signal } = {}) {
      const query = { app, status, limit, cursor };
      const page = (await read({ path: "/api/jobs", query, signal })).body as unknown as JobPage;
      return checked(page, Array.isArray(page.jobs));
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

function settled({ body }: Answer, jobId: string): SettledJob {
  const answer = body as unknown as SettledJob;
  const same = answer.job?.id?.toLowerCase() === jobId.toLowerCase();
  return checked(answer, same && isCredits(answer.credits));
}

function isCredits(value: unknown): boolean {
  return Number.isSafeInteger(value);
}

/** What has not the shape of an answer is none: nobody should count with it. */
export function checked<Value>(value: Value, is_right: boolean): Value {
  if (is_right) return value;
  throw new PassbookError("bad_answer", "The answer has not the shape the service promises.");
}
