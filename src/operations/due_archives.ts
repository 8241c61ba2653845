/**
 * Has quiet accounts write to the archive. An account writes by itself when its alarm fires, but an account that nobody uses
 * has no alarm.
 */

/** Accounts that one run wakes: about 200,000 in a week. */
export const ARCHIVES_REQUESTED = 200;

interface Stores {
  /** Identities of accounts with entries that have waited too long. */
  readonly listDue: (limit: number) => Promise<readonly string[]>;
  /** Has the account's alarm write. */
  readonly request: (identity_id: string) => Promise<unknown>;
}

/** @throws if an account could not be woken; the others were. */
export async function requestDueArchives({
  listDue,
  request,
}: Stores): Promise<{ readonly requested: number }> {
  const due = await listDue(ARCHIVES_REQUESTED);
  const outcomes = await Promise.allSettled(due.map((identity_id) => request(identity_id)));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { requested: due.length };
}
