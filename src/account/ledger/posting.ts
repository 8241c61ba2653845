/** Writing the passbook: the only place that adds a line. */
import { nextEntry, type LedgerEntry, type Posting } from "../../domain/ledger.ts";
import { assertInvariant } from "../../domain/result.ts";
import { startedJobsOf, type StartedJobs } from "./started_jobs.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** The newest line's books; nothing where the account is not open yet. In credits. */
export function readBooks({
  store,
}: Transaction): Pick<EntryRow, "balance_after" | "reserved_after"> {
  return store.readNewestEntry() ?? { balance_after: 0, reserved_after: 0 };
}

/**
 * Adds an entry, which the read model then receives. `started`: which jobs are started after it, if the posting
 * starts or ends one.
 */
export function post(
  transaction: Transaction,
  posting: Posting,
  started: StartedJobs | null = null,
): EntryRow {
  const { store, now_ms, delivery, posted } = transaction;
  const newest = store.readNewestEntry();
  const line = nextEntry(newest, posting);
  const { open_jobs, recent_after_job_id, recent_jobs } = started ?? startedJobsOf(newest);
  const entry = { ...line, at_ms: now_ms, open_jobs, recent_after_job_id, recent_jobs };
  assertWritten(store.insertEntry(entry), line);
  delivery.owe(now_ms);
  posted();
  return entry;
}

/** The pair of the assertions in `nextEntry`: what was written is what was meant. */
function assertWritten(
  written: Pick<LedgerEntry, "line" | "balance_after" | "reserved_after"> | undefined,
  meant: LedgerEntry,
): void {
  assertInvariant(
    written?.line === meant.line &&
      written.balance_after === meant.balance_after &&
      written.reserved_after === meant.reserved_after,
    "the entry stored is the one just posted",
  );
}

/** A posting that is about the account alone. */
export const OF_ACCOUNT = { held: 0, job_id: null, app_slug: null, note: null } as const;
/** The plan an account begins with. */
export const FIRST_PLAN = "free";

/** Opens the account where it is not open yet: its row, and line 1 of its passbook. */
export function ensureOpen(transaction: Transaction): void {
  const { store, identity_id, now_ms } = transaction;
  if (store.readNewestEntry() !== null) return;
  const created = { plan: FIRST_PLAN, created_at_ms: now_ms };
  store.insertAccount({ id: crypto.randomUUID(), identity_id, ...created });
  post(transaction, { ...OF_ACCOUNT, kind: "open", amount: 0 });
}
