/** The scheduled tasks: each runs whatever the others' results, and one log event reports all of them. */
import { reportError } from "../domain/error_report.ts";

/** A task with a bounded amount of work. Returns its results for the log. */
type UpkeepPart = () => Promise<object>;

/** How a task ended. `reason`: the kind of its error; null: it succeeded. */
interface EndedPart {
  readonly task: string;
  readonly ended_at_ms: number;
  readonly reason: string | null;
}

/**
 * Runs the tasks. Each continues where its last run stopped, so an interrupted run loses nothing. Then records how they
 * ended. A record that cannot be written is logged, because the next run writes it again.
 * @throws if a task failed, after all have run, so that the platform shows the run as failed.
 */
export async function runUpkeep(
  parts: Readonly<Record<string, UpkeepPart>>,
  record: (ended: readonly EndedPart[]) => Promise<unknown>,
): Promise<void> {
  const done: Record<string, object> = {};
  const ended: EndedPart[] = [];
  for (const [task, part] of Object.entries(parts)) {
    let reason: string | null = null;
    try {
      done[task] = await part();
    } catch (error) {
      const report = reportError(error);
      reason = report.reason;
      console.error({ event: "upkeep_failed", part: task, ...report });
    }
    ended.push({ task, ended_at_ms: Date.now(), reason });
  }
  console.log({ event: "upkeep_completed", ...done });
  try {
    await record(ended);
  } catch (error) {
    console.error({ event: "upkeep_record_failed", ...reportError(error) });
  }
  const failed = ended.filter(({ reason }) => reason !== null).map(({ task }) => task);
  if (failed.length > 0) throw new Error(`upkeep failed: ${failed.join(", ")}`);
}
