/**
 * The port through which an account's object delivers its changes to D1 `DB`: its own row, which has the number
 * of the last delivered entry, its grants and its jobs. Two adapters: direct to D1, and through a queue.
 */
import type { accounts, archiveHeads, grants, jobs } from "./schema.ts";
import type { DayMoney, DayOwed, DayTotals } from "./line_totals.ts";

/**
 * Ledger entries (or jobs of a rebuild) in one D1 batch. Their rows are one JSON parameter: a job's row takes
 * at most about 3 KB, with an `action` of escaped characters, and D1 accepts 2 MB.
 */
export const PROJECTION_BATCH_LINES = 250;

/** D1's row of an account: the account as of entry `line` of its ledger. */
export type ProjectedAccount = typeof accounts.$inferSelect;

/** The columns of that row by which two accounts, or two histories of one, differ. None is null. */
export const STATE_COLUMNS = [
  "id",
  "created_at_ms",
  "line",
  "credits",
  "reserved",
  "updated_at_ms",
] as const satisfies readonly (keyof ProjectedAccount)[];

/** An account as of an entry. */
export type AccountState = Pick<ProjectedAccount, (typeof STATE_COLUMNS)[number]>;

export function isSameState(one: AccountState, other: AccountState): boolean {
  return STATE_COLUMNS.every((column) => one[column] === other[column]);
}

/** That part of an account's row. */
export function stateOf(account: AccountState): AccountState {
  return Object.fromEntries(
    STATE_COLUMNS.map((column) => [column, account[column]]),
  ) as AccountState;
}

/** The newest segment of an account in the archive. */
export type ArchivedSegment = typeof archiveHeads.$inferSelect;

/** Rows of one account. A later entry always replaces an earlier one. */
export interface ProjectedRows {
  readonly account: ProjectedAccount;
  readonly grants: readonly (typeof grants.$inferInsert)[];
  readonly jobs: readonly (typeof jobs.$inferInsert)[];
  /** What the entries add to the totals of their days, from the one after those that D1 has to the account's entry. */
  readonly days: readonly DayTotals[];
  readonly money: readonly DayMoney[];
  readonly owed: readonly DayOwed[];
}

/** Rows, and what D1 must have so that they continue from it. Null: no account of the identity. */
export interface ProjectionMessage {
  readonly rows: ProjectedRows;
  readonly after: AccountState | null;
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
   * Writes rows if D1 has exactly what they continue from, and nothing otherwise. So D1 never claims more than was delivered,
   * each entry counts once in the daily totals, and an account whose storage was lost or restored is noticed.
   * @returns false: D1's row is not the account's row, and the caller must read what it has. True: it is, or will be when
   * everything sent before arrives.
   */
  apply(rows: ProjectedRows, after: AccountState | null): Promise<boolean>;
  /** As {@link apply}, but not through a queue: for what D1 lacks while other messages are under way. */
  applyNow(rows: ProjectedRows, after: AccountState | null): Promise<boolean>;
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
