/** The scheduled tasks: each runs whatever the others' results, and one log event reports all of them. */
import { reportError } from "../domain/error_report.ts";

/** A task with a bounded amount of work. Returns its results for the log. */
export type UpkeepPart = () => Promise<object>;

/**
 * Runs the tasks. Each continues where its last run stopped, so an interrupted run loses nothing.
 * @throws if one failed, after all have run, so that the platform shows the run as failed.
 */
export async function runUpkeep(parts: Readonly<Record<string, UpkeepPart>>): Promise<void> {
  const done: Record<string, object> = {};
  const failed: string[] = [];
  for (const [name, part] of Object.entries(parts)) {
    try {
      done[name] = await part();
    } catch (error) {
      failed.push(name);
      console.error({ event: "upkeep_failed", part: name, ...reportError(error) });
    }
  }
  console.log({ event: "upkeep_completed", ...done });
  if (failed.length > 0) throw new Error(`upkeep failed: ${failed.join(", ")}`);
}
