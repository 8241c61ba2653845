/**
 * Brings back what a lost read model forgot: compares the directory's people with the accounts of D1, and
 * has the accounts that D1 lacks send themselves again. Accounts that are used repair themselves sooner.
 * People who never opened their account cannot be told from lost ones here; their repair changes nothing.
 */
import { LOST_ACCOUNTS_COMPARED, LOST_ACCOUNTS_REPAIRED } from "../domain/limits.ts";

interface Stores {
  /** Identities after this one, in order. */
  readonly listPeople: (after_id: string, limit: number) => Promise<readonly string[]>;
  /** Those of these identities whose account D1 has. */
  readonly knownTo: (identity_ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Has the account send what D1 lacks. */
  readonly repair: (identity_id: string) => Promise<"sent" | "nothing_missing" | "unreachable">;
}

export interface RepairedAccounts {
  readonly compared: number;
  readonly repaired: number;
}

/**
 * Compares and repairs a bounded part, after `start`, and from the first person on where it meets the end.
 * A start drawn at random needs no place to be kept in, which could be lost as well; identities are random.
 * Each run begins elsewhere, so that people without an account do not keep the others from being repaired.
 * @throws where a store cannot be reached, or an account could not be repaired; the others were.
 */
export async function repairLostAccounts(stores: Stores, start: string): Promise<RepairedAccounts> {
  const after = await stores.listPeople(start, LOST_ACCOUNTS_COMPARED);
  const rest = LOST_ACCOUNTS_COMPARED - after.length;
  const first = rest > 0 ? await stores.listPeople("", rest) : [];
  const people = [...new Set([...after, ...first])];
  const known = await stores.knownTo(people);
  const lost = people.filter((id) => !known.has(id)).slice(0, LOST_ACCOUNTS_REPAIRED);
  const outcomes = await Promise.allSettled(lost.map((id) => stores.repair(id)));
  let repaired = 0;
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") throw outcome.reason;
    if (outcome.value === "unreachable") throw new Error("D1 cannot be reached");
    if (outcome.value === "sent") repaired += 1;
  }
  return { compared: people.length, repaired };
}
