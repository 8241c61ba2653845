/** The messages of a stream: a snapshot at the beginning, and one JSON text for each entry and for each event about access. */
import type { AccessEvent } from "../../domain/access_event.ts";
import { FROM_NOT_SHOWN } from "../../domain/started_by.ts";
import { jobView, termsView, timestamp } from "../../domain/wire.ts";
import type { EntryRow, JobRow } from "../sql/schema.ts";

/** The state at an entry, for a client that has no earlier one. */
export function snapshotMessage(newest: EntryRow): string {
  const { line, balance_after: credits, reserved_after: held } = newest;
  return JSON.stringify({ line, kind: "snapshot", credits, held });
}

/** An entry, with its job as it is now, but without where the job's credits came from. */
export function entryMessage(entry: EntryRow, job: JobRow | null): string {
  return JSON.stringify({
    line: entry.line,
    kind: entry.kind,
    amount: entry.amount,
    credits: entry.balance_after,
    held: entry.reserved_after,
    job: job === null ? null : jobView({ ...job, from_json: FROM_NOT_SHOWN }),
    app: entry.app_slug,
    ...termsView(entry),
    at: timestamp(entry.at_ms),
  });
}

/** A report of progress without an entry. */
export interface ProgressedJobEvent {
  /** A UUID. */
  readonly id: string;
  readonly job: JobRow;
  readonly at_ms: number;
}

/** The job as one stream may see it. */
export function progressMessage({ id, job, at_ms }: ProgressedJobEvent): string {
  return JSON.stringify({ id, kind: "job.progressed", job: jobView(job), at: timestamp(at_ms) });
}

/** An event about access, as it happened. */
export interface StreamedAccessEvent extends AccessEvent {
  /** A UUID, the same as in the event for webhooks. */
  readonly id: string;
  readonly at_ms: number;
}

/** An event about access, which has no entry. */
export function accessMessage({ id, type, at_ms, details }: StreamedAccessEvent): string {
  return JSON.stringify({ id, kind: type, ...details, at: timestamp(at_ms) });
}
