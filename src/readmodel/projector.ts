/**
 * The port by which an account's object tells D1 `DB` what changed: its own row, which says what D1 has
 * of it, its grants and its jobs. Two adapters: straight to D1, and through a queue.
 */
import type { accounts, grants, jobs } from "./schema.ts";
import type { LineTotals } from "./line_totals.ts";
import type { PresumedAccount } from "./presumed.ts";

export type { LineTotals, PresumedAccount };

/** D1's row of an account: the account as of `line` of its passbook. */
export type ProjectedAccount = Omit<typeof accounts.$inferSelect, "days_json">;

/** Rows of one account as its object has them. A later line always replaces an earlier one. */
export interface ProjectedRows {
  readonly account: ProjectedAccount;
  readonly grants: readonly (typeof grants.$inferInsert)[];
  readonly jobs: readonly (typeof jobs.$inferInsert)[];
  /** What each line up to the account's adds to the daily totals, in order and without gaps. */
  readonly lines: readonly LineTotals[];
}

/**
 * Rows, and the line that D1 must have for them to follow. `presumed`: the account as of that line;
 * nothing for the first lines.
 */
export interface ProjectionMessage {
  readonly rows: ProjectedRows;
  readonly after_line: number;
  readonly presumed?: PresumedAccount | undefined;
}

/** The jobs after one id and up to another, whole: what D1 has there besides is not the account's. */
export interface JobRange {
  readonly account_id: string;
  readonly after_id: string;
  /** Null: to the end. */
  readonly to_id: string | null;
  readonly jobs: ProjectedRows["jobs"];
}

/** Each is one transaction in D1. @throws where D1 cannot be reached; it may have been done all the same. */
export interface Projector {
  /** How many lines {@link apply} takes at once. */
  readonly lines_at_once: number;
  /** What D1 has of an identity: one row; more where its object was once made anew. */
  read(identity_id: string): Promise<readonly ProjectedAccount[]>;
  /**
   * Writes rows. Writing the same rows again, or older ones, changes nothing. The account's row moves on
   * only from one that has the lines up to `after_line`, so that it never claims more than is there, and
   * each line is counted once in the daily totals. Where `presumed` is given, it moves on only from a row
   * that is just that, and grants and jobs are written with it alone.
   * @returns false: D1 has not the account as of its line, or another than these rows leave; ask it what
   * it has. True: it has, or it will once what was taken on the way there arrives.
   */
  apply(rows: ProjectedRows, after_line: number, presumed?: PresumedAccount): Promise<boolean>;
  /**
   * Puts the account's row in place of whatever is there, as somebody else wrote that. What the daily
   * totals were told of it stands: they cannot tell which lines those were.
   */
  replaceAccount(account: ProjectedAccount): Promise<void>;
  /** Puts an account's grants in place of whatever is there. */
  replaceGrants(account_id: string, grants: ProjectedRows["grants"]): Promise<void>;
  /** Puts jobs in place of whatever is there. */
  replaceJobs(range: JobRange): Promise<void>;
  /** Takes nothing of an account from now on, however late it arrives: its holder deleted it. */
  bar(account_id: string): Promise<void>;
  /**
   * Deletes a portion of an account that its object does not know any more. What it did stays in the
   * daily totals.
   * @returns whether nothing of it remains.
   */
  forget(account_id: string): Promise<boolean>;
}
