/** The contenders: how to start and stop them, and how to give them a history. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import postgres from "postgres";
import { freePort } from "../../src/commands/local_worker.ts";
import { startCluster, type Cluster } from "./cluster.ts";
import { end, forked } from "./forked.ts";
import { fillObjects, type Past } from "./history.ts";
import { bundleWorker } from "./platform.ts";

export type ContenderName = "passbook" | "floor" | "peer";

/** A running server with Passbook's wallet, list, create and complete. */
export interface Contender {
  readonly name: ContenderName;
  readonly port: number;
  /** The processes that are measured, including their descendants. */
  pids(): readonly number[];
  /** Adds old jobs to accounts that have one completed job. Restarts the server. */
  fill(pasts: readonly Past[]): Promise<void>;
  stop(): Promise<void>;
}

/** The options of all contenders. */
export interface ContenderSettings {
  /** The folder of their stores. */
  readonly directory: string;
  /** The folder of their bundles, inside the project so that packages resolve. */
  readonly builds: string;
  readonly settings: Readonly<Record<string, string>>;
  /** The module of `workers/` around each Worker. */
  readonly around: "unlimited.js" | "limited.js";
}

interface WorkerContender {
  readonly name: ContenderName;
  readonly config: string;
}

const WORKERS: readonly WorkerContender[] = [
  { name: "passbook", config: "wrangler.toml" },
  { name: "floor", config: "test/bench/workers/floor.toml" },
];

async function startWorkerContender(
  { name, config }: WorkerContender,
  { directory, builds, settings, around }: ContenderSettings,
  port: number,
): Promise<Contender> {
  const bundle = join(builds, name);
  const persist_to = join(directory, name);
  await bundleWorker(config, bundle);
  const plan = { config, bundle, persist_to, port, settings, inspector_port: null };
  const around_file = `test/bench/workers/${around}`;
  const start = (fresh: boolean): Promise<ChildProcess> =>
    forked("host.ts", [JSON.stringify({ ...plan, around_file, fresh })], {});
  let child = await start(true);
  return {
    name,
    port,
    pids: () => [child.pid ?? 0],
    async fill(pasts) {
      await end(child);
      fillObjects(persist_to, pasts);
      child = await start(false);
    },
    stop: () => end(child),
  };
}

/** Adds old jobs in PostgreSQL: the same rows, copied by SQL. */
async function fillPeer(url: string, pasts: readonly Past[]): Promise<void> {
  const sql = postgres(url, { max: 1 });
  for (const { identity_id, jobs } of pasts) {
    await sql`with template as (
        select * from jobs where identity_id = ${identity_id} and status = 'completed'
          order by id desc limit 1)
      insert into jobs select
        (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint - 86400000 - ${jobs} + n), 12, '0')
          || right(replace(id::text, '-', ''), 20))::uuid,
        identity_id, status, app_slug, action, reserved, actual_cost, created_at, updated_at, metadata
      from template, generate_series(1, ${jobs}::bigint) as n`;
  }
  await sql`insert into entries (identity_id, kind, amount, balance_after, job_id, at)
    select identity_id, kind, reserved, 1000000, id, created_at
    from jobs, (values ('reserve'), ('settle')) as kinds(kind)`;
  await sql`vacuum analyze`;
  await sql.end();
}

async function startPeer(
  { directory, settings }: ContenderSettings,
  port: number,
): Promise<Contender> {
  const cluster: Cluster = await startCluster(join(directory, "postgresql"));
  const child = await forked("peer.ts", [String(port), cluster.url], { ...settings });
  return {
    name: "peer",
    port,
    pids: () => [child.pid ?? 0, cluster.pid],
    fill: (pasts) => fillPeer(cluster.url, pasts),
    async stop() {
      await end(child);
      await cluster.stop();
    },
  };
}

/** Starts Passbook and these other contenders. */
export async function startContenders(
  plan: ContenderSettings,
  others: readonly ContenderName[],
): Promise<readonly Contender[]> {
  const port = await freePort();
  // All of them verify tokens that Passbook signs.
  const issuer = `http://127.0.0.1:${port}`;
  const settings = { ...plan.settings, BASE_URL: issuer, ISSUER: issuer };
  const started: Contender[] = [];
  try {
    for (const worker of WORKERS) {
      if (worker.name !== "passbook" && !others.includes(worker.name)) continue;
      const own_port = worker.name === "passbook" ? port : await freePort();
      started.push(await startWorkerContender(worker, { ...plan, settings }, own_port));
    }
    if (others.includes("peer"))
      started.push(await startPeer({ ...plan, settings }, await freePort()));
  } catch (error) {
    for (const contender of started) await contender.stop();
    throw error;
  }
  return started;
}
