/** The only place that adds a ledger entry. */
import { nextEntry, type LedgerEntry, type Posting } from "../../domain/ledger.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { Moment } from "../../domain/spending_cap.ts";
import { startedJobsOf, type StartedJobs } from "./started_jobs.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** The balance and the held credits; both 0 if the account is not open yet. */
export function readBalance({
  store,
}: Transaction): Pick<EntryRow, "balance_after" | "reserved_after"> {
  return store.readNewestEntry() ?? { balance_after: 0, reserved_after: 0 };
}

/** The time, and the newest entry. */
export function momentOf({ store, now_ms }: Transaction): Moment {
  return { at_ms: now_ms, line: store.readNewestEntry()?.line ?? 0 };
}

/** Adds an entry. `after_commit.ts` says who gets it. `started`: the started jobs after it, if it starts or ends a job. */
export function post(
  transaction: Transaction,
  posting: Posting,
  started: StartedJobs | null = null,
): EntryRow {
  const { store, now_ms, announce } = transaction;
  const newest = store.readNewestEntry();
  const line = nextEntry(newest, posting);
  const { open_jobs, recent_after_job_id, recent_jobs } = started ?? startedJobsOf(newest);
  // A clock that goes back must not move entries to an earlier month: reads find a time by bisection.
  const at_ms = Math.max(now_ms, newest?.at_ms ?? now_ms);
  const entry = { ...line, at_ms, open_jobs, recent_after_job_id, recent_jobs };
  assertWritten(store.insertEntry(entry), line);
  announce.entryAdded(now_ms);
  return entry;
}

/** Checks that storage has the entry as it was computed. */
function assertWritten(
  written: Pick<LedgerEntry, "line" | "balance_after" | "reserved_after"> | null,
  meant: LedgerEntry,
): void {
  assertInvariant(
    written?.line === meant.line &&
      written.balance_after === meant.balance_after &&
      written.reserved_after === meant.reserved_after,
    "the stored entry is the posted one",
  );
}

/** For a posting about the account itself, not about a job or an app. */
export const OF_ACCOUNT = {
  held: 0,
  job_id: null,
  previous_line: null,
  app_slug: null,
  note: null,
} as const;
/** The plan of a new account. */
export const FIRST_PLAN = "free";

/** Opens the account if it is not open yet: writes its row, and entry 1 of its ledger. */
export function ensureOpen(transaction: Transaction): void {
  const { store, identity_id, now_ms } = transaction;
  if (store.readNewestEntry() !== null) return;
  const created = { plan: FIRST_PLAN, created_at_ms: now_ms };
  store.insertAccount({ id: crypto.randomUUID(), identity_id, ...created });
  post(transaction, { ...OF_ACCOUNT, kind: "open", amount: 0 });
}
