/**
 * The daily proof: compares some accounts with their own sums and with their copies in each run, and counts what differs. It
 * repairs nothing, because a difference may be a fault of this code.
 */

/** Accounts that one run compares: about 50,000 in a week. */
export const ACCOUNTS_COMPARED = 50;

interface Stores {
  /** Identities after this one, in order. */
  readonly listPeople: (after_id: string, limit: number) => Promise<readonly string[]>;
  readonly compare: (identity_id: string) => Promise<{
    readonly differences: readonly { readonly where: string; readonly what: string }[];
  }>;
  /** Counts differences for the operators. */
  readonly count: (found: { readonly reason: string; readonly count: number }) => Promise<void>;
}

/**
 * Compares a bounded number of accounts after `start`, continuing with the first person after the last. `start` is random,
 * so no position must be stored.
 * @throws if an account or a copy did not respond; the other accounts were compared.
 */
export async function compareSomeAccounts(
  { listPeople, compare, count }: Stores,
  start: string,
): Promise<{ readonly compared: number; readonly differences: number }> {
  const after = await listPeople(start, ACCOUNTS_COMPARED);
  const rest = ACCOUNTS_COMPARED - after.length;
  const people = [...new Set([...after, ...(rest > 0 ? await listPeople("", rest) : [])])];
  const outcomes = await Promise.allSettled(people.map((identity_id) => compare(identity_id)));
  const found = outcomes.flatMap((one) =>
    one.status === "fulfilled" ? one.value.differences : [],
  );
  const [first] = found;
  if (first !== undefined) {
    console.error({ event: "account_differs", differences: found.length, ...first });
    await count({ reason: `${first.where}: ${first.what}`, count: found.length });
  }
  const failed = outcomes.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { compared: people.length, differences: found.length };
}
