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
  /** Ends overdue jobs, and sends what D1 lacks. */
  readonly repair: (identity_id: string) => Promise<unknown>;
}

/**
 * Wakes a bounded number of accounts after `start`. `start` is random, so each run begins elsewhere and no position must
 * be stored. Waking an account whose jobs are not overdue changes nothing.
 * @throws if an account could not be woken; the others were.
 */
export async function wakeSilentAccounts(
  { listSilent, repair }: Stores,
  start: string,
  now_ms: number,
): Promise<{ readonly woken: number }> {
  const silent = await listSilent(now_ms - SILENT_MS, start, SILENT_ACCOUNTS_WOKEN);
  const outcomes = await Promise.allSettled(silent.map((id) => repair(id)));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { woken: silent.length };
}
