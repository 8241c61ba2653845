/**
 * The load: a process of its own that keeps some connections busy for a bounded time and number of
 * requests, each asking again once it was answered. It is told what to ask by its parent.
 */
import { Connection, requestBytes, type Answer } from "./connection.ts";

/** What a burst asks for. `life` is a creation and its completion, counted as one. */
export type Work = "wallet" | "create" | "complete" | "list" | "life";

export interface Burst {
  readonly port: number;
  readonly connections: number;
  readonly work: Work;
  /** Header lines of each caller; they take turns. */
  readonly callers: readonly (readonly string[])[];
  /** For `complete`: which caller's job. */
  readonly jobs: readonly StartedJob[];
  readonly max_requests: number;
  readonly max_ms: number;
}

export interface StartedJob {
  readonly caller: number;
  readonly job_id: string;
}

export interface Outcome {
  readonly requests: number;
  readonly elapsed_ms: number;
  /** Of each request, ascending. */
  readonly latencies_ms: readonly number[];
  /** For `create`: what was started. */
  readonly jobs: readonly StartedJob[];
}

const CREATE = JSON.stringify({ app: "bench", action: "draw", cost_estimate: 1 });

function completion(job_id: string): string {
  return JSON.stringify({ job_id, actual_cost: 0 });
}

function expectOk({ status, body }: Answer): string {
  if (status !== 200) throw new Error(`answered ${status}: ${body.slice(0, 300)}`);
  return body;
}

function jobIdIn(body: string): string {
  const { job_id } = JSON.parse(body) as { job_id?: string };
  if (job_id === undefined) throw new Error(`no job in ${body}`);
  return job_id;
}

/** Runs a burst. @throws Error where an answer is not 200. */
async function run(burst: Burst): Promise<Outcome> {
  const { callers, work } = burst;
  const connections = await Promise.all(
    Array.from({ length: burst.connections }, () => Connection.open(burst.port)),
  );
  const headersOf = (caller: number): readonly string[] => callers[caller % callers.length] ?? [];
  const wallets = callers.map((headers) => requestBytes("GET", "/api/wallet", headers, null));
  const lists = callers.map((headers) => requestBytes("GET", "/api/jobs?limit=50", headers, null));
  const creations = callers.map((headers) => requestBytes("POST", "/api/jobs", headers, CREATE));
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
    } else {
      const job_id = jobIdIn(expectOk(await connection.ask(creations[caller] ?? nothing)));
      if (work === "create") jobs.push({ caller, job_id });
      else await complete(connection, { caller, job_id });
    }
  };
  const wanted = work === "complete" ? burst.jobs.length : burst.max_requests;
  const latencies_ms: number[] = [];
  const started_ms = performance.now();
  // What was created is completed in full, however long it takes: nothing may stay open.
  const until_ms = work === "complete" ? Number.POSITIVE_INFINITY : started_ms + burst.max_ms;
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
  return { requests: latencies_ms.length, elapsed_ms, latencies_ms: ascending, jobs };
}

process.on("message", (burst: Burst) => {
  void run(burst).then(
    (outcome) => process.send?.({ outcome }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  );
});
