/**
 * A Worker on the local runtime as in a deployment: the minified bundle on workerd, which receives requests on its own
 * socket. There is no development proxy and no simulated rate limiter, since the platform's own limiter is one cheap call and
 * the simulation a Node process.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_readConfig } from "wrangler";
import { bundle, isModule, modulesOf } from "../../src/commands/bundle.ts";

/** The used fields of a Wrangler configuration. Wrangler's package does not export the type. */
export interface WorkerConfig {
  readonly name?: string;
  readonly compatibility_date?: string;
  readonly compatibility_flags: string[];
  readonly vars: Record<string, string>;
  readonly d1_databases: readonly { binding: string; migrations_dir?: string }[];
  readonly kv_namespaces: readonly { binding: string }[];
  readonly r2_buckets: readonly { binding: string }[];
  readonly durable_objects: { bindings: readonly { name: string; class_name: string }[] };
  readonly ratelimits: readonly { name: string; simple: { limit: number; period: number } }[];
  readonly queues: {
    producers?: readonly { binding: string; queue?: string }[];
    consumers?: readonly { queue: string; max_batch_size?: number; max_batch_timeout?: number }[];
  };
  readonly triggers?: { crons?: readonly string[] };
  readonly observability?: {
    enabled?: boolean;
    head_sampling_rate?: number;
    logs?: { enabled?: boolean; head_sampling_rate?: number; invocation_logs?: boolean };
  };
}

/** Reads a Wrangler configuration as Wrangler does. */
export function readWorkerConfig(path: string): WorkerConfig {
  return unstable_readConfig({ config: path }, { hideWarnings: true }) as WorkerConfig;
}

/** A Worker to run. */
export interface WorkerPlan {
  /** A Wrangler configuration. */
  readonly config: string;
  /** The folder of its bundle; see {@link bundleWorker}. */
  readonly bundle: string;
  /** The folder of its stores. */
  readonly persist_to: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  /** A module that wraps the bundle's entry; see `workers/`. */
  readonly around: string;
  /** Whether the stores are new, so that their tables must be created. */
  readonly fresh: boolean;
  /** The port of the inspector; null for none. */
  readonly inspector_port: number | null;
}

/** Bundles a Worker as for a deployment. */
export async function bundleWorker(config: string, directory: string): Promise<void> {
  await bundle([`--config=${config}`], directory);
}

/** The statements that create a database's tables, in order. */
export async function migrationsIn(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  const files = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  return files
    .flatMap((file) => file.split("--> statement-breakpoint"))
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** A class that replaces the built one of the same name; only `workers/counted.js` has one. */
function countedExport({ class_name }: { class_name: string }): string {
  return `export const ${class_name} = countedClass(built.${class_name});`;
}

/** Starts a Worker and waits until it accepts requests. */
export async function startWorker(plan: WorkerPlan): Promise<Miniflare> {
  const config = readWorkerConfig(plan.config);
  const classes = config.durable_objects.bindings.map(({ name, class_name }) => ({
    name,
    class_name,
  }));
  const modules = await Promise.all(
    (await modulesOf(plan.bundle)).map(async (name) => ({
      type: isModule(name) ? ("ESModule" as const) : ("Text" as const),
      path: name,
      contents: await readFile(join(plan.bundle, name), "utf8"),
    })),
  );
  const built = modules.find(({ path }) => isModule(path))?.path ?? "";
  const limiters = config.ratelimits.map(({ name }) => name);
  const around = plan.around
    .replaceAll("__BUILT__", `./${built}`)
    .replaceAll('"__LIMITERS__"', JSON.stringify(limiters))
    .replaceAll('"__LIMITS__"', JSON.stringify(config.ratelimits))
    .replace("/* __CLASS_EXPORTS__ */", classes.map(countedExport).join("\n"));
  const producers = config.queues.producers ?? [];
  const consumers = config.queues.consumers ?? [];
  const options = convertV4MiniflareOptions({
    name: config.name ?? "worker",
    modules: [{ type: "ESModule", path: "around.js", contents: around }, ...modules],
    modulesRoot: "/",
    compatibilityDate: config.compatibility_date ?? "",
    compatibilityFlags: config.compatibility_flags,
    bindings: { ...config.vars, ...plan.settings },
    d1Databases: config.d1_databases.map(({ binding }) => binding),
    kvNamespaces: config.kv_namespaces.map(({ binding }) => binding),
    r2Buckets: config.r2_buckets.map(({ binding }) => binding),
    durableObjects: Object.fromEntries(
      classes.map(({ name, class_name }) => [name, { className: class_name, useSQLite: true }]),
    ),
    queueProducers: Object.fromEntries(
      producers.map(({ binding, queue = "" }): [string, string] => [binding, queue]),
    ),
    queueConsumers: Object.fromEntries(
      consumers.map(({ queue, max_batch_size = 10, max_batch_timeout = 5 }) => [
        queue,
        { maxBatchSize: max_batch_size, maxBatchTimeout: max_batch_timeout },
      ]),
    ),
    unsafeDirectSockets: [{ host: "127.0.0.1", port: plan.port }],
    cf: false,
    ...(plan.inspector_port === null ? {} : { inspectorPort: plan.inspector_port }),
  });
  const runtime = new Miniflare({ ...options, resourcePersistencePath: plan.persist_to });
  await runtime.ready;
  if (plan.fresh) {
    for (const { binding, migrations_dir } of config.d1_databases) {
      if (migrations_dir === undefined) continue;
      const database = await runtime.getD1Database(binding);
      for (const statement of await migrationsIn(resolve(migrations_dir))) {
        await database.prepare(statement).run();
      }
    }
  }
  return runtime;
}
