/**
 * Holds one Worker's runtime in a process of its own, so that what it costs can be read from /proc:
 * `node host.ts '<plan as JSON>'`. It says `ready` once the Worker can be asked, and ends when told to.
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
