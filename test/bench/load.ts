/**
 * The load: a process that keeps some connections busy for a limited time and number of requests. Each connection sends
 * the next request after each response. Its parent tells it what to send.
 */
import { JOBS_PER_BATCH_MAX } from "../../src/domain/limits.ts";
import { Connection, requestBytes, type HttpResponse } from "./connection.ts";

/**
 * The requests of a burst. `life` is a creation and its completion, counted as one. A batch is one request with a hundred
 * jobs, each of which is counted.
 */
export type Work =
  | "wallet"
  | "create"
  | "complete"
  | "create_batch"
  | "complete_batch"
  | "list"
  | "life";

export interface Burst {
  readonly port: number;
  readonly connections: number;
  readonly work: Work;
  /** The header lines of each caller; the callers take turns. */
  readonly callers: readonly (readonly string[])[];
  /** For `complete` and `complete_batch`: the jobs to complete, with their callers. */
  readonly jobs: readonly StartedJob[];
  readonly max_requests: number;
  readonly max_ms: number;
}

export interface StartedJob {
  readonly caller: number;
  readonly job_id: string;
}

export interface Outcome {
  /** For batches: the number of jobs. */
  readonly requests: number;
  readonly elapsed_ms: number;
  /** The times of all requests, ascending. */
  readonly latencies_ms: readonly number[];
  /** For `create` and `create_batch`: the started jobs. */
  readonly jobs: readonly StartedJob[];
}

const JOB = { app: "bench", action: "draw", cost_estimate: 1 };
const CREATE = JSON.stringify(JOB);
const CREATE_BATCH = JSON.stringify({
  jobs: Array.from({ length: JOBS_PER_BATCH_MAX }, () => JOB),
});

function completion(job_id: string): string {
  return JSON.stringify({ job_id, actual_cost: 0 });
}

function expectOk({ status, body }: HttpResponse): string {
  if (status !== 200) throw new Error(`responded with ${status}: ${body.slice(0, 300)}`);
  return body;
}

function batchCompletion(jobs: readonly StartedJob[]): string {
  return JSON.stringify({ jobs: jobs.map(({ job_id }) => ({ job_id, actual_cost: 0 })) });
}

/** The ids in the response to a batch. @throws Error if a job was refused */
function jobIdsIn(body: string): readonly string[] {
  const { results } = JSON.parse(body) as {
    results: readonly { job_id?: string; job?: unknown }[];
  };
  const refused = results.find(({ job_id, job }) => job_id === undefined && job === undefined);
  if (refused !== undefined) throw new Error(`refused: ${JSON.stringify(refused)}`);
  return results.flatMap(({ job_id }) => job_id ?? []);
}

function jobIdIn(body: string): string {
  const { job_id } = JSON.parse(body) as { job_id?: string };
  if (job_id === undefined) throw new Error(`no job in ${body}`);
  return job_id;
}

/** Runs a burst. @throws Error if a response is not 200 */
async function run(burst: Burst): Promise<Outcome> {
  const { callers, work } = burst;
  const connections = await Promise.all(
    Array.from({ length: burst.connections }, () => Connection.open(burst.port)),
  );
  const headersOf = (caller: number): readonly string[] => callers[caller % callers.length] ?? [];
  const wallets = callers.map((headers) => requestBytes("GET", "/api/wallet", headers, null));
  const lists = callers.map((headers) => requestBytes("GET", "/api/jobs?limit=50", headers, null));
  const creations = callers.map((headers) => requestBytes("POST", "/api/jobs", headers, CREATE));
  const batches = callers.map((headers) =>
    requestBytes("POST", "/api/jobs/batch", headers, CREATE_BATCH),
  );
  const nothing = Buffer.alloc(0);
  const jobs: StartedJob[] = [];
  const complete = async (connection: Connection, job: StartedJob): Promise<void> => {
    const body = completion(job.job_id);
    const path = "/api/jobs/complete";
    expectOk(await connection.ask(requestBytes("POST", path, headersOf(job.caller), body)));
  };
  const once = async (connection: Connection, index: number): Promise<void> => {
    const caller = index % callers.length;
    if (work === "wallet") expectOk(await connection.ask(wallets[caller] ?? nothing));
    else if (work === "list") expectOk(await connection.ask(lists[caller] ?? nothing));
    else if (work === "complete") {
      const job = burst.jobs[index];
      if (job !== undefined) await complete(connection, job);
    } else if (work === "create_batch") {
      const body = expectOk(await connection.ask(batches[caller] ?? nothing));
      jobs.push(...jobIdsIn(body).map((job_id) => ({ caller, job_id })));
    } else if (work === "complete_batch") {
      const first = index * JOBS_PER_BATCH_MAX;
      const body = batchCompletion(burst.jobs.slice(first, first + JOBS_PER_BATCH_MAX));
      const path = "/api/jobs/complete/batch";
      jobIdsIn(expectOk(await connection.ask(requestBytes("POST", path, headersOf(0), body))));
    } else {
      const job_id = jobIdIn(expectOk(await connection.ask(creations[caller] ?? nothing)));
      if (work === "create") jobs.push({ caller, job_id });
      else await complete(connection, { caller, job_id });
    }
  };
  const jobs_at_once = work.endsWith("_batch") ? JOBS_PER_BATCH_MAX : 1;
  const completes = work.startsWith("complete");
  const wanted = (completes ? burst.jobs.length : burst.max_requests) / jobs_at_once;
  const latencies_ms: number[] = [];
  const started_ms = performance.now();
  // All created jobs are completed, however long it takes: none may stay started.
  const until_ms = completes ? Number.POSITIVE_INFINITY : started_ms + burst.max_ms;
  let next = 0;
  const keepBusy = async (connection: Connection): Promise<void> => {
    while (next < wanted && performance.now() < until_ms) {
      const asked_ms = performance.now();
      await once(connection, next++);
      latencies_ms.push(performance.now() - asked_ms);
    }
  };
  try {
    await Promise.all(connections.map(keepBusy));
  } finally {
    for (const connection of connections) connection.close();
  }
  const elapsed_ms = performance.now() - started_ms;
  const ascending = latencies_ms.toSorted((one, other) => one - other);
  const requests = latencies_ms.length * jobs_at_once;
  return { requests, elapsed_ms, latencies_ms: ascending, jobs };
}

process.on("message", (burst: Burst) => {
  void run(burst).then(
    (outcome) => process.send?.({ outcome }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  );
});
