/** How far a task of the schedule has come that walks through a table. */

export interface Position {
  /** The last row that was visited; "": none. */
  readonly after_id: string;
  /** JSON of what the walk has found so far. */
  readonly found_json?: string | null;
}

const SAVE = `insert into upkeep (task, after_id, found_json) values (?1, ?2, ?3)
  on conflict (task) do update set after_id = excluded.after_id, found_json = excluded.found_json`;

export async function readPosition(database: D1Database, task: string): Promise<Position> {
  const position = await database
    .prepare("select after_id, found_json from upkeep where task = ?1")
    .bind(task)
    .first<Position>();
  return position ?? { after_id: "" };
}

export async function savePosition(
  database: D1Database,
  task: string,
  { after_id, found_json = null }: Position,
): Promise<void> {
  await database.prepare(SAVE).bind(task, after_id, found_json).run();
}
