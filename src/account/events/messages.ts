/** The messages of a stream: one JSON text for each entry, and a snapshot at the beginning. */
import { jobView, timestamp } from "../../domain/wire.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

/** The state at an entry, for a client that has no earlier one. */
export function snapshotMessage(newest: EntryRow): string {
  const { line, balance_after: credits, reserved_after: reserved } = newest;
  return JSON.stringify({ line, kind: "snapshot", credits, reserved });
}

/** An entry, with its job as it is now. */
export function entryMessage(store: Store, entry: EntryRow): string {
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
