/** The Worker of one test file: `wrangler dev` with its own stores. */
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { inject } from "vitest";
import {
  startMigratedWorker,
  type LocalWorker,
  type LocalWorkerOptions,
} from "../../../src/commands/local_worker.ts";

/** Starts a Worker on empty stores, or on the stores of an earlier Worker in `persist_to`. */
export async function startTestWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  if (!existsSync(options.persist_to)) {
    await cp(inject("migrated_stores"), options.persist_to, { recursive: true });
  }
  return startMigratedWorker(options);
}
