/** Everything that may act on an account. */
import type { ListedAllowance } from "./allowances.ts";

/** The use of an access. */
interface Use {
  /** Null: never, as far as the account knows. */
  readonly last_used_at_ms: number | null;
  /**
   * The cost of its jobs that ended in this month of the UTC calendar, less refunds by operators. Null: the account has
   * too many entries of this month to add up.
   */
  readonly spent_this_month: number | null;
}

/** An app that the account is open for, or that the holder stopped. */
export interface AccessApp extends Use {
  readonly slug: string;
  readonly state: "open" | "stopped";
  /** Jobs of the app that are started now, whatever started them. */
  readonly started_jobs: number;
}

/** An allowance that lives. What was exchanged from it counts in what it spent. */
export type AccessAllowance = ListedAllowance & Use;

/** Each list is ordered by the last use, newest first. */
export interface Access {
  readonly apps: readonly AccessApp[];
  readonly allowances: readonly AccessAllowance[];
  /** The cost of all jobs that ended in this month, including those of ended allowances. Null: as in {@link Use}. */
  readonly spent_this_month: number | null;
  /** The number of the newest entry. */
  readonly line: number;
}
