/** Runs the Worker of the package on this machine. Its data is in memory and ends with it. */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { developmentKeys } from "./development_keys.ts";

/** What `npm run package` puts into the folder `worker`. */
interface WorkerManifest {
  /** The exact version of the runtime that this Worker was tested with. */
  readonly miniflare: string;
  readonly modules: readonly string[];
  /** The settings for miniflare, without paths and contents. */
  readonly options: Readonly<Record<string, unknown>> & {
    readonly bindings: Readonly<Record<string, string>>;
    readonly ratelimits: Readonly<Record<string, { readonly simple: { readonly limit: number } }>>;
    readonly assets: object;
  };
  /** The databases, each with a folder of migrations. */
  readonly databases: readonly string[];
  /** Every event that a webhook may receive. */
  readonly events: readonly string[];
}

/** The parts of miniflare that this file uses. */
interface Runtime {
  readonly ready: Promise<URL>;
  getD1Database(binding: string): Promise<Database>;
  dispose(): Promise<void>;
}
interface Database {
  prepare(statement: string): object;
  batch(statements: readonly object[]): Promise<unknown>;
}
interface RuntimePackage {
  readonly Miniflare: new (options: object) => Runtime;
  readonly convertV4MiniflareOptions: (options: object) => object;
}

/** A line that the service logged. */
export interface ServiceLog {
  readonly level: string;
  readonly message: string;
}

export interface ServiceOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Settings of docs/settings.md, in addition to those of development. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether requests are limited as in production. */
  readonly rateLimits: boolean;
  /** Receives what the service logs from when it accepts requests. */
  readonly onLog?: (line: ServiceLog) => void;
}

export interface RunningService {
  /** Its address, `http://localhost:<port>`. */
  readonly url: string;
  /** Every event that a webhook may receive. */
  readonly events: readonly string[];
  /** Ends the service and its process. */
  stop(): Promise<void>;
}

const FOLDER = new URL("../../worker/", import.meta.url);
const HOST = "127.0.0.1";
const UNLIMITED = 1_000_000;

/**
 * Starts the service, and waits until it accepts requests.
 * @throws Error if Node is older than 22, miniflare is not installed, or the port is taken; the message says what to do.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  requireNode();
  const manifest = JSON.parse(await readText("service.json")) as WorkerManifest;
  const { Miniflare, convertV4MiniflareOptions } = await loadRuntime(manifest.miniflare);
  const converted = convertV4MiniflareOptions(await workerOptions(manifest, options));
  // Requests that arrive before the databases have their tables fail, which is no fault.
  let has_tables = false;
  const runtime = new Miniflare({
    ...converted,
    handleStructuredLogs: (line: ServiceLog) => {
      if (has_tables) options.onLog?.(line);
    },
  });
  try {
    const { port } = await runtime.ready;
    for (const name of manifest.databases) await migrate(runtime, name);
    has_tables = true;
    const { events } = manifest;
    return { url: `http://localhost:${port}`, events, stop: () => runtime.dispose() };
  } catch (error) {
    await runtime.dispose().catch(() => undefined);
    throw error;
  }
}

function requireNode(): void {
  const [major = 0] = process.versions.node.split(".").map(Number);
  if (major >= 22) return;
  throw new Error(
    `passbook-client/testing needs Node 22 or newer, and this is ${process.versions.node}.`,
  );
}

/** @throws Error that names the package to install */
async function loadRuntime(version: string): Promise<RuntimePackage> {
  // A variable, so that bundlers and compilers of apps without the kit do not look for it.
  const name = "miniflare";
  try {
    return (await import(name)) as RuntimePackage;
  } catch (error) {
    throw new Error(
      `The service runs on miniflare, which is not installed. Run: npm install --save-dev miniflare@${version}`,
      { cause: error },
    );
  }
}

async function workerOptions(manifest: WorkerManifest, options: ServiceOptions): Promise<object> {
  const { bindings, ratelimits, assets, ...rest } = manifest.options;
  const modules = manifest.modules.map(async (path) => ({
    type: path.endsWith(".js") ? "ESModule" : "Text",
    path,
    contents: await readText(path),
  }));
  const limits = Object.entries(ratelimits).map(([name, limiter]) => {
    const limit = options.rateLimits ? limiter.simple.limit : UNLIMITED;
    return [name, { ...limiter, simple: { ...limiter.simple, limit } }];
  });
  return {
    ...rest,
    host: HOST,
    port: options.port,
    modules: await Promise.all(modules),
    modulesRoot: "/",
    ratelimits: Object.fromEntries(limits),
    assets: { ...assets, directory: fileURLToPath(new URL("assets", FOLDER)) },
    bindings: {
      ...bindings,
      ...(await developmentKeys()),
      DEV_SIGNIN: "true",
      ...options.settings,
    },
    // Else it looks up the location of this machine.
    cf: false,
  };
}

async function migrate(runtime: Runtime, name: string): Promise<void> {
  const database = await runtime.getD1Database(name);
  const folder = `migrations/${name}/`;
  const files = (await readdir(new URL(folder, FOLDER))).toSorted();
  // `/readyz` reads this table of Wrangler's.
  const table = "create table d1_migrations (id integer primary key, name text)";
  const statements = [table];
  for (const file of files) {
    statements.push(...(await readText(folder + file)).split("--> statement-breakpoint"));
  }
  await database.batch(statements.map((statement) => database.prepare(statement)));
}

const readText = (path: string): Promise<string> => readFile(new URL(path, FOLDER), "utf8");
