/**
 * Runs one Worker's runtime in its own process, so that /proc shows its cost: `node host.ts '<plan as JSON>'`. Sends
 * `ready` once the Worker accepts requests, and ends on a signal.
 */
import { readFile } from "node:fs/promises";
import { startWorker, type WorkerPlan } from "./platform.ts";

const plan = JSON.parse(process.argv[2] ?? "") as Omit<WorkerPlan, "around"> & {
  readonly around_file: string;
};
const around = await readFile(plan.around_file, "utf8");
const runtime = await startWorker({ ...plan, around });
const stop = (): void => {
  void runtime.dispose().finally(() => process.exit(0));
};
process.once("SIGTERM", stop);
process.once("disconnect", stop);
process.send?.("ready");
