/** The processor time of a Worker's start on the local runtime. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { isModule, modulesOf } from "./bundle.ts";
import { CONFIG_FILE, readWorkerConfig } from "./wrangler_config.ts";

/** A bundle to start, with its stores and settings. */
export interface Start {
  /** The folder of the bundle. */
  readonly bundle: string;
  /** Whether it gets the stores and objects of wrangler.toml. */
  readonly has_stores: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** A path that reads no store. */
  readonly path: string;
  readonly status: number;
}

/**
 * Starts a Worker in a new runtime, and stops it after its first response.
 * @returns the processor time of the runtime from its launch to the response, in milliseconds; only Linux can tell
 * @throws Error if the response has another status
 */
export async function measureStart(start: Start): Promise<number> {
  const stores = await mkdtemp(`${start.bundle}-stores-`);
  const before = await childrenOf(process.pid);
  const runtime = new Miniflare({ ...(await optionsOf(start)), resourcePersistencePath: stores });
  try {
    const response = await fetch(new URL(start.path, await runtime.ready));
    if (response.status !== start.status) throw new Error(`the start gave ${response.status}`);
    const pids = (await childrenOf(process.pid)).filter((pid) => !before.includes(pid));
    const used_ms = await Promise.all(pids.map(processorMs));
    return used_ms.reduce((sum, ms) => sum + ms, 0);
  } finally {
    await runtime.dispose();
    await rm(stores, { recursive: true, force: true });
  }
}

async function optionsOf({ bundle, has_stores, settings }: Start) {
  const config = readWorkerConfig(CONFIG_FILE);
  const modules = await Promise.all(
    (await modulesOf(bundle)).map(async (path) => ({
      type: isModule(path) ? ("ESModule" as const) : ("Text" as const),
      path,
      contents: await readFile(join(bundle, path), "utf8"),
    })),
  );
  const bound = <Binding>(list: readonly Binding[] | undefined) => (has_stores ? (list ?? []) : []);
  return convertV4MiniflareOptions({
    modules,
    modulesRoot: "/",
    compatibilityDate: config.compatibility_date ?? "",
    compatibilityFlags: [...(config.compatibility_flags ?? [])],
    bindings: settings,
    d1Databases: bound(config.d1_databases).map(({ binding }) => binding),
    kvNamespaces: bound(config.kv_namespaces).map(({ binding }) => binding),
    durableObjects: Object.fromEntries(
      bound(config.durable_objects?.bindings).map(({ name, class_name }) => [
        name,
        { className: class_name, useSQLite: true },
      ]),
    ),
    handleStructuredLogs: () => undefined,
    cf: false,
  });
}

async function childrenOf(pid: number): Promise<readonly string[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8")),
  );
  return lists.flatMap((list) => list.split(" ")).filter((child) => child.trim() !== "");
}

/** The processor time that all threads of a process have used. Linux counts it in nanoseconds, as the first number. */
async function processorMs(pid: string): Promise<number> {
  const threads = `/proc/${pid}/task`;
  const used_ms = (await readdir(threads)).map(async (thread) => {
    const [nanoseconds] = (await readFile(join(threads, thread, "schedstat"), "utf8")).split(" ");
    return Number(nanoseconds) / 1e6;
  });
  return (await Promise.all(used_ms)).reduce((sum, ms) => sum + ms, 0);
}
