/** The entries of one job, each of which names the one before it. */
import { assertInvariant } from "../../domain/result.ts";
import type { EntryRow, JobRow } from "./schema.ts";
import type { Store } from "./store.ts";

/** The job's newest entry other than refunds: the one that ended it. Reads one entry, and one for each refund. */
export function newestButRefunds(store: Store, job: JobRow): EntryRow {
  for (let line: number | null = job.line; ;) {
    const entry: EntryRow | null = line === null ? null : store.readEntry(line);
    assertInvariant(entry?.job_id === job.id, "a job names its entries");
    if (entry.kind !== "job_refund") return entry;
    line = entry.previous_line;
  }
}
