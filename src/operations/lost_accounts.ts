/**
 * Repairs a read model that lost data: compares the directory's people with the accounts in D1, and makes
 * missing accounts send themselves again. An account that is used repairs itself sooner. People who never
 * opened their account look like lost accounts here; repairing them changes nothing.
 */
import { LOST_ACCOUNTS_COMPARED, LOST_ACCOUNTS_REPAIRED } from "../domain/limits.ts";

interface Stores {
  /** Identities after this one, in order. */
  readonly listPeople: (after_id: string, limit: number) => Promise<readonly string[]>;
  /** The identities among these whose account D1 has. */
  readonly knownTo: (identity_ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Makes the account send what D1 lacks. */
  readonly repair: (identity_id: string) => Promise<"sent" | "nothing_missing" | "unreachable">;
}

interface RepairedAccounts {
  readonly compared: number;
  readonly repaired: number;
}

/**
 * Compares and repairs a bounded number of accounts after `start`, continuing with the first person after the
 * last. `start` is random, so no position must be stored, which could be lost too. Each run starts elsewhere,
 * so people without an account do not block the others.
 * @throws if a store or an account is unavailable; the other accounts were repaired.
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
