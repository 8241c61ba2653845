/**
 * The port through which an account's object delivers its changes to D1 `DB`: its own row, which has the number
 * of the last delivered entry, its grants and its jobs. Two adapters: direct to D1, and through a queue.
 */
import type { accounts, archiveHeads, grants, jobs } from "./schema.ts";
import type { LineMoney, LineTotals } from "./line_totals.ts";

/**
 * Ledger entries (or jobs of a rebuild) in one D1 batch. Their rows are one JSON parameter: a job's row takes
 * at most about 3 KB, with an `action` of escaped characters, and D1 accepts 2 MB.
 */
export const PROJECTION_BATCH_LINES = 250;

export type { LineMoney, LineTotals };

/** D1's row of an account: the account as of entry `line` of its ledger. */
export type ProjectedAccount = typeof accounts.$inferSelect;

/** The newest segment of an account in the archive. */
export type ArchivedSegment = typeof archiveHeads.$inferSelect;

/** Rows of one account. A later entry always replaces an earlier one. */
export interface ProjectedRows {
  readonly account: ProjectedAccount;
  readonly grants: readonly (typeof grants.$inferInsert)[];
  readonly jobs: readonly (typeof jobs.$inferInsert)[];
  /**
   * The amounts that each entry adds to the daily totals, in order and without gaps, up to the account's entry.
   */
  readonly lines: readonly LineTotals[];
}

/** Rows, and the entry number that D1 must have so that they continue from it. */
export interface ProjectionMessage {
  readonly rows: ProjectedRows;
  readonly after_line: number;
}

/**
 * All jobs of an account in a range of ids. Other jobs that D1 has in this range do not exist in the account.
 */
export interface JobRange {
  readonly account_id: string;
  readonly after_id: string;
  /** Null: to the end. */
  readonly to_id: string | null;
  readonly jobs: ProjectedRows["jobs"];
}

/**
 * Each method is one transaction in D1.
 * @throws if D1 cannot be reached; the change may have happened all the same.
 */
export interface Projector {
  /** The number of entries that one {@link apply} takes. */
  readonly lines_at_once: number;
  /** D1's rows of an identity: one; more if its object was created again. */
  read(identity_id: string): Promise<readonly ProjectedAccount[]>;
  /**
   * Writes rows. Writing the same or older rows again changes nothing. The account's row moves only if D1 has
   * the entries up to `after_line`, so that it never claims more than was delivered. Each entry counts once in
   * the daily totals.
   * @returns false: D1 does not have the account's entry, and the caller must read what it has. True: D1 has
   * it, or will have it when everything sent before arrives.
   */
  apply(rows: ProjectedRows, after_line: number): Promise<boolean>;
  /**
   * Replaces the account's row, which something else has written. The daily totals keep what they counted,
   * because they do not know which entries those were.
   */
  replaceAccount(account: ProjectedAccount): Promise<void>;
  /** Replaces all grants of an account. */
  replaceGrants(account_id: string, grants: ProjectedRows["grants"]): Promise<void>;
  /**
   * Replaces the jobs at the beginning of a range: D1 looks at a bounded number of jobs of all accounts.
   * @returns the last id that it looked at, after which to continue; null: the range went to the end, and is done.
   */
  replaceJobs(range: JobRange): Promise<string | null>;
  /** Whether the archive has segments of an account. */
  isArchived(account_id: string): Promise<boolean>;
  /** Writes the newest segment of an account. An earlier one never replaces it. */
  noteArchive(segment: ArchivedSegment): Promise<void>;
  /** Refuses all deliveries of a deleted account from now on, even late ones. */
  bar(account_id: string): Promise<void>;
  /**
   * Deletes a portion of a deleted account's rows. The daily totals count what the account has as `forfeited`, on the day on
   * which its own row is deleted.
   * @returns whether no row remains.
   */
  forget(account_id: string): Promise<boolean>;
}
