/** The built Worker on stores on disk, which can be killed and started again. */
import type { ChildProcess } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isModule, modulesOf } from "../../src/commands/bundle.ts";
import { freePort } from "../../src/commands/local_worker.ts";
import { end, forked } from "../bench/forked.ts";
import { bundleWorker } from "../bench/platform.ts";
import { memoryMebibytes, processesOf } from "../bench/processes.ts";

/** A refused card is charged again so soon, and not after an hour. */
const CHARGED_AGAIN_AFTER_MS = 2_000;

/** Changes the only constant of the bundle that a run cannot wait for. */
async function shortenPause(bundle: string): Promise<void> {
  const [name = ""] = (await modulesOf(bundle)).filter(isModule);
  const path = join(bundle, name);
  const parts = (await readFile(path, "utf8")).split(/(?<=\{failures:\w+,retry_at_ms:\w+\+)[\w$]+/);
  if (parts.length !== 2) throw new Error("the pause after a refused charge was not found");
  await writeFile(path, parts.join(String(CHARGED_AGAIN_AFTER_MS)));
}

export class Service {
  readonly url: string;
  /** The folder of its stores. */
  readonly stores: string;
  /** How often it was killed. Even while it starts again, a request of an earlier life may fail. */
  lives = 0;
  #is_up = false;
  #child: ChildProcess | null = null;
  readonly #plan: object;

  private constructor(port: number, stores: string, plan: object) {
    this.stores = stores;
    this.url = `http://127.0.0.1:${port}`;
    this.#plan = plan;
  }

  /** Bundles the Worker as a deployment does, and starts it on new stores in `directory`. */
  static async start(
    directory: string,
    bundle: string,
    settings: Readonly<Record<string, string>>,
  ): Promise<Service> {
    const config = "wrangler.toml";
    await bundleWorker(config, bundle);
    await shortenPause(bundle);
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const stores = join(directory, "stores");
    const service = new Service(port, stores, {
      config,
      bundle,
      port,
      persist_to: stores,
      settings: { ...settings, BASE_URL: issuer, ISSUER: issuer },
      inspector_port: null,
      around_file: "test/bench/workers/unlimited.js",
    });
    await service.#run(true);
    return service;
  }

  get is_up(): boolean {
    return this.#is_up;
  }

  /** The memory of workerd in MiB; null while it does not run. */
  memory(): number | null {
    const workerd = this.#workerd();
    return workerd === undefined ? null : memoryMebibytes([workerd]);
  }

  /** Sends SIGKILL to workerd, and to the process that started it, and starts both again on the same stores. */
  async killAndStart(): Promise<void> {
    const workerd = this.#workerd();
    if (workerd === undefined) throw new Error("workerd does not run");
    this.#is_up = false;
    this.lives += 1;
    const child = this.#child;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    process.kill(workerd, "SIGKILL");
    child?.kill("SIGKILL");
    await ended;
    await this.#run(false);
  }

  async stop(): Promise<void> {
    this.#is_up = false;
    if (this.#child !== null) await end(this.#child);
  }

  async #run(fresh: boolean): Promise<void> {
    this.#child = await forked("host.ts", [JSON.stringify({ ...this.#plan, fresh })], {});
    this.#is_up = true;
  }

  #workerd(): number | undefined {
    const roots = this.#child?.pid === undefined ? [] : [this.#child.pid];
    return processesOf(roots).find(({ program }) => program === "workerd")?.pid;
  }
}
