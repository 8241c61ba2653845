/** The starters of jobs, in SQL. */
import type { StarterColumns } from "../../domain/started_by.ts";
import { isAmong, type AccountDatabase } from "./database.ts";
import type { EntryRow, JobRow } from "./schema.ts";

/** Whether an app started a job, or an allowance or one that was exchanged from it. `id`: the parameter with its id. */
export function isStartedBy(id: string): string {
  return `(started_by_json ->> '$.slug' = ${id}
    or instr(' ' || allowance_path || ' ', ' ' || ${id} || ' ') > 0)`;
}

/** The same for an entry, by its job. */
export function isOfJobStartedBy(id: string): string {
  return `exists (select 1 from jobs where jobs.id = entries.job_id and ${isStartedBy(id)})`;
}

/** The starter of each entry's job; null: the entry has no job. Reads few columns, since metadata may be long. */
export function starterReader(
  database: AccountDatabase,
  entries: readonly EntryRow[],
): (entry: EntryRow) => StarterColumns | null {
  const ids = [...new Set(entries.flatMap(({ job_id }) => job_id ?? []))];
  const rows = database.all<Pick<JobRow, "id"> & StarterColumns>(
    `select id, allowance_path, started_by_json from jobs where ${isAmong("id", "?")}`,
    JSON.stringify(ids),
  );
  const by_id = new Map(rows.map((row) => [row.id, row]));
  return ({ job_id }) => by_id.get(job_id ?? "") ?? null;
}
