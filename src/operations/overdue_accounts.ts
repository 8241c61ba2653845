/**
 * Wakes accounts whose alarm was lost while their started jobs are overdue. The platform drops an alarm whose handler failed
 * too often; without this, a job of an account that nobody uses would hold its credits forever.
 */

/** How long a job may be overdue before the schedule wakes its account. */
const OVERDUE_MS = 60 * 60_000;

/** Accounts that one run wakes: half of them are those that have been overdue for the longest time. */
export const OVERDUE_ACCOUNTS_WOKEN = 40;

/** An account whose earliest deadline has passed. */
export interface OverdueAccount {
  readonly identity_id: string;
  readonly due_at_ms: number;
}

interface Stores {
  /** Accounts whose earliest deadline was before this time, the longest overdue first. */
  readonly listOverdue: (before_ms: number) => Promise<readonly OverdueAccount[]>;
  /** Counts overdue accounts for the operators. */
  readonly countOverdue: (overdue: {
    readonly count: number;
    readonly oldest_at_ms: number;
  }) => Promise<void>;
  /** Ends overdue jobs, and sends what D1 lacks. */
  readonly repair: (identity_id: string) => Promise<unknown>;
}

/**
 * Wakes a bounded number of accounts: those that are overdue for the longest time, and random others, because jobs that cannot
 * be ended must not keep the rest waiting.
 * @throws if an account could not be woken; the others were.
 */
export async function wakeOverdueAccounts(
  { listOverdue, countOverdue, repair }: Stores,
  now_ms: number,
): Promise<{ readonly woken: number; readonly overdue: number }> {
  const overdue = await listOverdue(now_ms - OVERDUE_MS);
  const [oldest] = overdue;
  if (oldest === undefined) return { woken: 0, overdue: 0 };
  await countOverdue({ count: overdue.length, oldest_at_ms: oldest.due_at_ms });
  const half = OVERDUE_ACCOUNTS_WOKEN / 2;
  const others = overdue.slice(half);
  const start = Math.floor(Math.random() * Math.max(1, others.length - half + 1));
  const woken = [...overdue.slice(0, half), ...others.slice(start, start + half)];
  const outcomes = await Promise.allSettled(woken.map(({ identity_id }) => repair(identity_id)));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { woken: woken.length, overdue: overdue.length };
}
