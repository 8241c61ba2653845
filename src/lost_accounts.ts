/**
 * Brings back what a lost read model forgot: compares the directory's people with the accounts of D1, and
 * has the accounts that D1 lacks send themselves again. Accounts that are used repair themselves sooner.
 */
import { LOST_ACCOUNTS_COMPARED, LOST_ACCOUNTS_REPAIRED } from "./domain/limits.ts";

interface Stores {
  /** Identities after this one, in order. */
  readonly listPeople: (after_id: string, limit: number) => Promise<readonly string[]>;
  /** Those of these identities whose account D1 has. */
  readonly knownTo: (identity_ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Has the account send all it has to D1. */
  readonly rebuild: (identity_id: string) => Promise<void>;
}

export interface RepairedAccounts {
  readonly compared: number;
  readonly repaired: number;
}

/**
 * Compares and repairs a bounded part, after `start`, and from the first person on where it meets the end.
 * A start drawn at random needs no place to be kept in, which could be lost as well; identities are random.
 * @throws where a store cannot be reached, or an account could not be repaired; the others were.
 */
export async function repairLostAccounts(stores: Stores, start: string): Promise<RepairedAccounts> {
  const after = await stores.listPeople(start, LOST_ACCOUNTS_COMPARED);
  const rest = LOST_ACCOUNTS_COMPARED - after.length;
  const first = rest > 0 ? await stores.listPeople("", rest) : [];
  const people = [...new Set([...after, ...first])];
  const known = await stores.knownTo(people);
  const lost = people.filter((id) => !known.has(id)).slice(0, LOST_ACCOUNTS_REPAIRED);
  const outcomes = await Promise.allSettled(lost.map((id) => stores.rebuild(id)));
  const failed = outcomes.find((it) => it.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { compared: people.length, repaired: lost.length };
}
