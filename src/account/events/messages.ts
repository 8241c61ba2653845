/** What a stream says: one JSON text for each line of the passbook, and a snapshot to begin with. */
import { sql } from "drizzle-orm";
import { jobView, timestamp } from "../../domain/wire.ts";
import type { AccountDatabase, EntryRow, Store } from "../store.ts";

/** The state at a line, for those who have none before it. */
export function snapshotMessage(newest: EntryRow, reserved: number): string {
  const { line, balance_after: credits } = newest;
  return JSON.stringify({ line, kind: "snapshot", credits, reserved });
}

/** A line of the passbook; its job as it is now, as in lists. */
export function lineMessage(store: Store, entry: EntryRow, reserved: number): string {
  const job = entry.job_id === null ? null : store.readJob(entry.job_id);
  return JSON.stringify({
    line: entry.line,
    kind: entry.kind,
    amount: entry.amount,
    credits: entry.balance_after,
    reserved,
    job: job === null ? null : jobView(job),
    app: entry.app_slug,
    at: timestamp(entry.at_ms),
  });
}

/**
 * What was held right after a line, in credits. Until lines carry it themselves it is worked out from
 * the lines before: a job holds its reserve between its `reserve` line and the first one that ends it.
 */
export function reservedAfter(database: AccountDatabase, line: number): number {
  const row = database.get<{ reserved: number }>(sql`
    select coalesce(sum(jobs.reserved), 0) as reserved from jobs where jobs.id in (
      select job_id from entries where line <= ${line} and job_id is not null
      group by job_id having sum(kind <> 'reserve') = 0
    )`);
  return row.reserved;
}
