/**
 * Wakes accounts whose alarm was lost while they hold credits. The platform drops an alarm whose handler failed too
 * often; without this, a job of an account that nobody uses would hold its credits forever.
 */

/** How long an account may hold credits without a new entry, before the schedule wakes it. */
const SILENT_MS = 60 * 60_000;

/** Accounts that one run wakes. */
export const SILENT_ACCOUNTS_WOKEN = 20;

interface Stores {
  /** Identities of accounts that hold credits and have had no entry since this moment, from `start` on. */
  readonly listSilent: (
    before_ms: number,
    start: string,
    limit: number,
  ) => Promise<readonly string[]>;
  /** The jobs of these accounts that D1 shows as started after their deadline. */
  readonly readOverdue: (
    identity_ids: readonly string[],
    now_ms: number,
  ) => Promise<{ readonly overdue: number; readonly oldest_at_ms: number | null }>;
  /** Counts overdue jobs for the operators. */
  readonly countOverdue: (overdue: {
    readonly count: number;
    readonly oldest_at_ms: number;
  }) => Promise<void>;
  /** Ends overdue jobs, and sends what D1 lacks. */
  readonly repair: (identity_id: string) => Promise<unknown>;
}

/**
 * Wakes a bounded number of accounts after `start`. `start` is random, so each run begins elsewhere and no position must
 * be stored. Waking an account whose jobs are not overdue changes nothing.
 * @throws if an account could not be woken; the others were.
 */
export async function wakeSilentAccounts(
  { listSilent, readOverdue, countOverdue, repair }: Stores,
  start: string,
  now_ms: number,
): Promise<{ readonly woken: number; readonly overdue: number }> {
  const silent = await listSilent(now_ms - SILENT_MS, start, SILENT_ACCOUNTS_WOKEN);
  if (silent.length === 0) return { woken: 0, overdue: 0 };
  const { overdue, oldest_at_ms } = await readOverdue(silent, now_ms);
  if (oldest_at_ms !== null) await countOverdue({ count: overdue, oldest_at_ms });
  const outcomes = await Promise.allSettled(silent.map((id) => repair(id)));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { woken: silent.length, overdue };
}
