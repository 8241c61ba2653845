/**
 * What an instance remembers of the rows that nearly every operation asks for: the account's own, the
 * newest line of its passbook, and the id of its newest job. The object alone writes them, and through
 * here, so that each is read once after a waking or a roll-back and not again. A memory that was wrong
 * could move no money: the next line's number is the ledger's key, and would be taken.
 */
import { StartedShares, type Creator } from "./started_shares.ts";
import type { AccountRow, AccountStanding, EntryRow, JobRow, Statements } from "./store.ts";

/** The statements with a memory. What writes one of the remembered rows is told apart here. */
export function withMemory(statements: Statements) {
  // Undefined: not known. Null: there is none.
  let account: AccountRow | null | undefined;
  let newest_entry: EntryRow | null | undefined;
  let newest_job_id: string | null | undefined;
  let started_shares: StartedShares | undefined;

  const changesAccount =
    <Values extends unknown[]>(write: (...values: Values) => void) =>
    (...values: Values): void => {
      account = undefined;
      write(...values);
    };
  const readAccount = (): AccountRow | null => {
    if (account === undefined) account = statements.readAccount();
    return account;
  };
  /** Says that rows may be others than those remembered: something was undone, or deleted past this. */
  const forget = (): void => {
    account = undefined;
    newest_entry = undefined;
    newest_job_id = undefined;
    started_shares = undefined;
  };

  return {
    ...statements,
    readAccount,
    /** Whom the account lets in; null before it is opened. */
    readStanding: (): AccountStanding | null => readAccount(),
    saveSuspendedAt: changesAccount(statements.saveSuspendedAt),
    saveDeleted: changesAccount(statements.saveDeleted),
    saveErasure: changesAccount(statements.saveErasure),
    saveTombstone: changesAccount(statements.saveTombstone),
    saveReturned: changesAccount(statements.saveReturned),
    updatePlan: changesAccount(statements.updatePlan),
    insertAccount: changesAccount(statements.insertAccount),
    /** The newest line: it holds the balance. Null before the account is opened. */
    readNewestEntry(): EntryRow | null {
      if (newest_entry === undefined) newest_entry = statements.readNewestEntry();
      return newest_entry;
    },
    readEntry: (line: number): EntryRow | null =>
      newest_entry?.line === line ? newest_entry : statements.readEntry(line),
    /** Lines after one and up to another, oldest first; most often the newest alone, or none. */
    readEntriesBetween(after_line: number, to_line: number): EntryRow[] {
      if (after_line >= to_line) return [];
      const newest = newest_entry ?? null;
      if (newest?.line === to_line && after_line === to_line - 1) return [newest];
      return statements.readEntriesBetween(after_line, to_line);
    },
    insertEntry(row: EntryRow): ReturnType<Statements["insertEntry"]> {
      newest_entry = undefined;
      const written = statements.insertEntry(row);
      newest_entry = row;
      return written;
    },
    readNewestJobId(): string | null {
      if (newest_job_id === undefined) newest_job_id = statements.readNewestJobId();
      return newest_job_id;
    },
    /** `row.id` is after every one there is. */
    insertJob(row: JobRow): void {
      newest_job_id = undefined;
      statements.insertJob(row);
      newest_job_id = row.id;
    },
    /** Started jobs of each token and app. Counted once after a waking or a roll-back, at most 10,000 jobs. */
    readStartedShares(recent_after_id: string): StartedShares {
      started_shares ??= new StartedShares(statements.countStartedJobs(recent_after_id));
      return started_shares;
    },
    /** Counts a job that starts, or ends if `jobs` is -1. */
    countStarted: (job: Creator, jobs: 1 | -1): void => started_shares?.count({ ...job, jobs }),
    forget,
    /** Runs `work` as part of a transaction; where it throws, nothing of it is remembered. */
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
