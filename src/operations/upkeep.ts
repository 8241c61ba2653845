/** What the schedule does: each part whatever became of the others, and one log line of them all. */
import { errorName } from "../domain/result.ts";

/** Does a bounded part of something, and says what was done. */
export type UpkeepPart = () => Promise<object>;

/**
 * Runs the parts. Each takes up where its last run stopped, so that one cut off loses nothing.
 * @throws where one failed, after all were tried: so the platform shows the run as failed.
 */
export async function runUpkeep(parts: Readonly<Record<string, UpkeepPart>>): Promise<void> {
  const done: Record<string, object> = {};
  const failed: string[] = [];
  for (const [name, part] of Object.entries(parts)) {
    try {
      done[name] = await part();
    } catch (error) {
      failed.push(name);
      const reason = errorName(error);
      console.error({ event: "upkeep_failed", part: name, reason });
    }
  }
  console.log({ event: "upkeep_completed", ...done });
  if (failed.length > 0) throw new Error(`upkeep failed: ${failed.join(", ")}`);
}
