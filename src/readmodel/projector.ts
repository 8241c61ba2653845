/**
 * The port by which an account's object tells D1 `DB` what changed: its own row, which says which entry D1
 * has, its grants and its jobs. Two adapters: direct to D1, and through a queue.
 */
import type { accounts, grants, jobs } from "./schema.ts";
import type { LineTotals } from "./line_totals.ts";

/**
 * Ledger entries (or jobs of a rebuild) in one D1 batch. Their rows are one JSON parameter: a job's row takes
 * at most about 3 KB, with an `action` of escaped characters, and D1 accepts 2 MB.
 */
export const PROJECTION_BATCH_LINES = 250;

export type { LineTotals };

/** D1's row of an account: the account as of entry `line` of its ledger. */
export type ProjectedAccount = typeof accounts.$inferSelect;

/** Rows of one account as its object has them. A later entry always replaces an earlier one. */
export interface ProjectedRows {
  readonly account: ProjectedAccount;
  readonly grants: readonly (typeof grants.$inferInsert)[];
  readonly jobs: readonly (typeof jobs.$inferInsert)[];
  /** What each entry up to the account's adds to the daily totals, in order and without gaps. */
  readonly lines: readonly LineTotals[];
}

/** Rows, and the entry that D1 must have for them to follow. */
export interface ProjectionMessage {
  readonly rows: ProjectedRows;
  readonly after_line: number;
}

/** The jobs after one id and up to another, whole: other jobs that D1 has there are not the account's. */
export interface JobRange {
  readonly account_id: string;
  readonly after_id: string;
  /** Null: to the end. */
  readonly to_id: string | null;
  readonly jobs: ProjectedRows["jobs"];
}

/** Each is one transaction in D1. @throws where D1 cannot be reached; it may have been done all the same. */
export interface Projector {
  /** How many entries {@link apply} takes at once. */
  readonly lines_at_once: number;
  /** What D1 has of an identity: one row; more where its object was once made again. */
  read(identity_id: string): Promise<readonly ProjectedAccount[]>;
  /**
   * Writes rows. Writing the same rows again, or older ones, changes nothing. The account's row moves only
   * if it has the entries up to `after_line`, so that it never claims more than is there, and each entry is
   * counted once in the daily totals.
   * @returns false: D1 does not have the account as of its entry; read what it has. True: it has, or it
   * will once everything that was sent before arrives.
   */
  apply(rows: ProjectedRows, after_line: number): Promise<boolean>;
  /**
   * Replaces the account's row, whatever it says: somebody else wrote it. The daily totals keep what they
   * counted, because they cannot tell which entries those were.
   */
  replaceAccount(account: ProjectedAccount): Promise<void>;
  /** Replaces all grants of an account. */
  replaceGrants(account_id: string, grants: ProjectedRows["grants"]): Promise<void>;
  /** Replaces the jobs of a range. */
  replaceJobs(range: JobRange): Promise<void>;
  /** Accepts nothing of an account from now on, however late it arrives: its holder deleted it. */
  bar(account_id: string): Promise<void>;
  /**
   * Deletes a portion of an account that its object does not know any more. What it did stays in the
   * daily totals.
   * @returns whether nothing of it remains.
   */
  forget(account_id: string): Promise<boolean>;
}
