/** The end of the last run of each task of the schedule, so that a schedule that stopped or fails is seen. */
import type { ScheduledTask } from "../domain/health.ts";

/** The name of the row of the whole run. */
const WHOLE_RUN = "schedule";

interface EndedTask {
  readonly task: string;
  readonly ended_at_ms: number;
  /** The kind of the error; null: it succeeded. */
  readonly reason: string | null;
}

const WRITE = `insert into scheduled_tasks (task, ended_at_ms, failing_since_ms, reason)
  select value ->> '$.task', value ->> '$.ended_at_ms',
    iif(value ->> '$.reason' is null, null, value ->> '$.ended_at_ms'), value ->> '$.reason'
  from json_each(?1) where true
  on conflict (task) do update set ended_at_ms = excluded.ended_at_ms, reason = excluded.reason,
    failing_since_ms = iif(excluded.reason is null, null,
      coalesce(scheduled_tasks.failing_since_ms, excluded.failing_since_ms))`;

/** Tasks of an earlier release. */
const DELETE_OTHERS = `delete from scheduled_tasks
  where task not in (select value ->> '$.task' from json_each(?1))`;

export function createScheduleRecord(database: D1Database) {
  return {
    /** Records a finished run with its tasks. @throws if D1 cannot be reached. */
    async write(tasks: readonly EndedTask[], ended_at_ms: number): Promise<void> {
      const rows = JSON.stringify([...tasks, { task: WHOLE_RUN, ended_at_ms, reason: null }]);
      await database.batch([
        database.prepare(WRITE).bind(rows),
        database.prepare(DELETE_OTHERS).bind(rows),
      ]);
    },
    /** The last finished run; null: there was none. @throws if D1 cannot be reached. */
    async read(): Promise<{
      readonly ended_at_ms: number;
      readonly tasks: readonly ScheduledTask[];
    } | null> {
      const { results } = await database
        .prepare(
          "select task, ended_at_ms, failing_since_ms, reason from scheduled_tasks order by task",
        )
        .all<{ [name in keyof ScheduledTask]: ScheduledTask[name] }>();
      const run = results.find(({ task }) => task === WHOLE_RUN);
      if (run === undefined) return null;
      return { ended_at_ms: run.ended_at_ms, tasks: results.filter((row) => row !== run) };
    },
  };
}
