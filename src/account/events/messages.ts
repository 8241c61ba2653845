/** What a stream says: one JSON text for each line of the passbook, and a snapshot to begin with. */
import { jobView, timestamp } from "../../domain/wire.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

/** The state at a line, for those who have none before it. */
export function snapshotMessage(newest: EntryRow): string {
  const { line, balance_after: credits, reserved_after: reserved } = newest;
  return JSON.stringify({ line, kind: "snapshot", credits, reserved });
}

/** A line of the passbook; its job as it is now, as in lists. */
export function lineMessage(store: Store, entry: EntryRow): string {
  const job = entry.job_id === null ? null : store.readJob(entry.job_id);
  return JSON.stringify({
    line: entry.line,
    kind: entry.kind,
    amount: entry.amount,
    credits: entry.balance_after,
    reserved: entry.reserved_after,
    job: job === null ? null : jobView(job),
    app: entry.app_slug,
    at: timestamp(entry.at_ms),
  });
}
