/** One state on which builds of the Worker run one after another, as releases do. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { freePort } from "../../../src/commands/local_worker.ts";
import { runSettings } from "../../bench/settings.ts";
import { startBuilds, type Build, type RunningBuilds } from "./builds.ts";

export interface Stage {
  /** The address, which all builds share. */
  readonly url: string;
  /**
   * Replaces the running build and keeps the state. `objects` is another build that still runs the objects. `settings`
   * replace those of the stage from this release on.
   */
  release(
    name: string,
    objects?: string,
    settings?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** The log entries of all builds so far, as one text. */
  log(): string;
  database(binding: "DB" | "DIRECTORY"): ReturnType<Miniflare["getD1Database"]>;
  close(): Promise<void>;
}

/** Creates empty stores. No build runs until `release`. */
export async function openStage(builds: Readonly<Record<string, Build>>): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "passbook-builds-"));
  const port = await freePort();
  let settings = { ...(await runSettings()), DEFAULT_STARTER_CREDITS: "100" };
  let running: RunningBuilds | undefined;
  let is_new = true;
  let log = "";
  const buildOf = (name: string): Build => {
    const found = builds[name];
    if (found === undefined) throw new Error(`there is no build ${name}`);
    return found;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    async release(name, objects, changed = {}) {
      await running?.runtime.dispose();
      settings = { ...settings, ...changed };
      running = await startBuilds({
        worker: buildOf(name),
        ...(objects === undefined ? {} : { objects: buildOf(objects) }),
        persist_to: folder,
        port,
        settings,
        is_new,
        log: (entry) => (log += `${entry}\n`),
      });
      is_new = false;
    },
    log: () => log,
    async database(binding) {
      if (running === undefined) throw new Error("no build runs");
      return running.runtime.getD1Database(binding, "worker");
    },
    async close() {
      await running?.runtime.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
