/**
 * The account's tables, with a memory of what nearly every operation reads: the account's row, the rows of the apps that
 * it uses, the newest entry, the id of the newest job, the numbers of started jobs, and when the next one expires. Only
 * this object writes those rows, and it writes them through this file, so each is read once after the object wakes or
 * rolls back. A wrong memory could not move money: the next entry would have a number that is already taken, and the
 * insert would fail.
 */
import { assertInvariant } from "../../domain/result.ts";
import type { AccountDatabase } from "./query.ts";
import type { AccountRow, AppRow, EntryRow, JobCreator, JobRow } from "./schema.ts";
import { StartedCounts } from "./started_counts.ts";
import { openTables, type Tables } from "./tables.ts";

/** What is known of jobs that expire. It may be too early, but never too late. */
export interface ExpiryHint {
  /** No started job expires before this; infinity: none is started; null: unknown. */
  next_ms: number | null;
  /** No claim on a cap ends before this; infinity: no claim exists; null: unknown. */
  next_claim_ms: number | null;
  /** Whether started jobs of ended allowances may be left. */
  may_have_jobs_of_ended_allowances: boolean;
}

/** Opens the tables of a migrated database. */
export function openStore(database: AccountDatabase): Store {
  return withMemory(openTables(database));
}

function withMemory(tables: Tables) {
  // Undefined: unknown. Null: no such row.
  let account: AccountRow | null | undefined;
  const apps = new Map<string, AppRow>();
  let newest_entry: EntryRow | null | undefined;
  let newest_job_id: string | null | undefined;
  let started_counts: StartedCounts | undefined;
  const expiry_hint: ExpiryHint = {
    next_ms: null,
    next_claim_ms: null,
    may_have_jobs_of_ended_allowances: true,
  };

  const changesAccount =
    <Values extends unknown[]>(write: (...values: Values) => void) =>
    (...values: Values): void => {
      account = undefined;
      write(...values);
    };
  const readAccount = (): AccountRow | null => {
    if (account === undefined) account = tables.readAccount();
    return account;
  };
  /** After a roll-back, or after rows were deleted by other SQL. */
  const forget = (): void => {
    account = undefined;
    apps.clear();
    newest_entry = undefined;
    newest_job_id = undefined;
    started_counts = undefined;
    expiry_hint.next_ms = null;
    expiry_hint.next_claim_ms = null;
    expiry_hint.may_have_jobs_of_ended_allowances = true;
  };

  return {
    ...tables,
    expiry_hint,
    readAccount,
    saveSuspendedAt: changesAccount(tables.saveSuspendedAt),
    saveDeleted: changesAccount(tables.saveDeleted),
    saveLeftCredits: changesAccount(tables.saveLeftCredits),
    saveErasure: changesAccount(tables.saveErasure),
    saveTombstone: changesAccount(tables.saveTombstone),
    saveReturned: changesAccount(tables.saveReturned),
    updatePlan: changesAccount(tables.updatePlan),
    insertAccount: changesAccount(tables.insertAccount),
    readApp(slug: string): AppRow | null {
      const row = apps.get(slug) ?? tables.readApp(slug);
      if (row !== null) apps.set(slug, row);
      return row;
    },
    saveApp(row: AppRow): void {
      apps.delete(row.slug);
      tables.saveApp(row);
    },
    /** The newest entry, which holds the balance. Null before the account is opened. */
    readNewestEntry(): EntryRow | null {
      if (newest_entry === undefined) newest_entry = tables.readNewestEntry();
      return newest_entry;
    },
    readEntry: (line: number): EntryRow | null =>
      newest_entry?.line === line ? newest_entry : tables.readEntry(line),
    /** As in the tables; usually only the newest entry, or nothing, is wanted. */
    readEntriesBetween(after_line: number, to_line: number): EntryRow[] {
      if (after_line >= to_line) return [];
      const newest = newest_entry ?? null;
      if (newest?.line === to_line && after_line === to_line - 1) return [newest];
      return tables.readEntriesBetween(after_line, to_line);
    },
    insertEntry(row: EntryRow): ReturnType<Tables["insertEntry"]> {
      newest_entry = undefined;
      const written = tables.insertEntry(row);
      newest_entry = row;
      return written;
    },
    readNewestJobId(): string | null {
      if (newest_job_id === undefined) newest_job_id = tables.readNewestJobId();
      return newest_job_id;
    },
    /** `row.id` must be after the ids of all jobs. */
    insertJob(row: JobRow): void {
      newest_job_id = undefined;
      tables.insertJob(row);
      newest_job_id = row.id;
    },
    /** Started jobs of each root allowance and app. Reads every started job, once after the object wakes or rolls back. */
    readStartedCounts(recent_after_id: string): StartedCounts {
      started_counts ??= new StartedCounts(tables.countStartedJobs(recent_after_id));
      return started_counts;
    },
    /** Counts a job that starts, or ends if `jobs` is -1. */
    countStarted: (job: JobCreator, jobs: 1 | -1): void => started_counts?.add({ ...job, jobs }),
    forget,
    /** Runs `work`, which is part of a transaction. If it throws, nothing is remembered any more. */
    within<Value>(work: () => Value): Value {
      try {
        return work();
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

export type Store = ReturnType<typeof withMemory>;

/** The job's newest entry other than refunds: the one that ended it. Reads one entry, and one for each refund. */
export function newestButRefunds(store: Store, job: JobRow): EntryRow {
  for (let line: number | null = job.line; ;) {
    const entry: EntryRow | null = line === null ? null : store.readEntry(line);
    assertInvariant(entry?.job_id === job.id, "a job names its entries");
    if (entry.kind !== "job_refund") return entry;
    line = entry.previous_line;
  }
}

/** Whether an entry ended a started job. `before`: the entry before it in the ledger. */
export function endsJob(entry: EntryRow, before: EntryRow | null): boolean {
  return before !== null && entry.open_jobs < before.open_jobs;
}
