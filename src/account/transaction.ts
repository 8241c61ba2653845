/** What an operation works in: one synchronous transaction of the account's object. */
import type { Alarm } from "./alarm.ts";
import { refused } from "../domain/result.ts";
import { admit, type AdmittedCaller, type Wanted } from "./caller.ts";
import { SERVICE, type Answer, type Caller } from "./contract.ts";
import type { Delivery } from "./delivery.ts";
import type { Expiry } from "./expiry.ts";
import type { AccountStanding, Store } from "./store.ts";
import type { PersonalTokenStore } from "./personal_tokens/store.ts";
import { whyDeleted } from "./deletion.ts";
import { whySuspended } from "./suspension.ts";

/**
 * The state of one transaction: its tables, its moment, the caller as it was let in, and the alarm on which an
 * operation says when it is next due.
 */
export interface Transaction {
  readonly store: Store;
  readonly personal_tokens: PersonalTokenStore;
  readonly alarm: Alarm;
  readonly delivery: Delivery;
  readonly expiry: Expiry;
  /** Says that a line was posted, for those who are told after the commit. */
  readonly posted: () => void;
  /** Whom the account lets in, as it was when the transaction began. */
  readonly standing: AccountStanding | null;
  readonly caller: AdmittedCaller;
  readonly identity_id: string;
  readonly now_ms: number;
  /** What the object's storage holds, in bytes. */
  readonly size_bytes: () => number;
  /** Runs a part that may fail alone: what it wrote is undone where it throws. @throws what it threw. */
  readonly part: <Value>(work: () => Value) => Value;
}

/** What every transaction of one object has in common. */
export interface Ground {
  readonly storage: Pick<DurableObjectStorage, "transactionSync" | "sql">;
  readonly store: Store;
  readonly personal_tokens: PersonalTokenStore;
  readonly alarm: Alarm;
  readonly delivery: Delivery;
  readonly expiry: Expiry;
  readonly posted: () => void;
  readonly identity_id: string;
}

/**
 * Runs `operation` in one synchronous transaction, after failing jobs whose time ran out (an alarm may
 * be late) and asking whether the caller may do what is `wanted`, and is let in at all. A deleted
 * account lets nobody in.
 * @throws what `operation` throws; then everything is undone, the alarm included.
 */
export function transact<Value>(
  ground: Ground,
  caller: Caller,
  wanted: Wanted,
  operation: (transaction: Transaction) => Answer<Value>,
): Answer<Value> {
  return transactByService(ground, (transaction) => {
    const deleted = whyDeleted(transaction.standing, caller);
    if (deleted !== null) return refused(deleted);
    ground.expiry.expireDueJobs(transaction);
    const admitted = admit(transaction, caller, wanted);
    if (!admitted.ok) return admitted;
    const suspended = whySuspended(transaction.standing, caller, wanted);
    if (suspended !== null) return refused(suspended);
    const answer = operation({ ...transaction, caller: admitted.value });
    // Here, so that it holds however a token ends.
    if (ground.personal_tokens.takeDeleted()) ground.expiry.expireJobsOfDeletedTokens(transaction);
    return answer;
  });
}

/**
 * Runs a step of a deleted account's erasure in one synchronous transaction, with nobody acting.
 * @throws what `step` throws; then everything is undone, the alarm included.
 */
export function transactErasure<Value>(
  ground: Ground,
  step: (transaction: Transaction) => Value,
): Value {
  return transactByService(ground, step);
}

function transactByService<Value>(
  { storage, ...ground }: Ground,
  work: (transaction: Transaction) => Value,
): Value {
  const { alarm, expiry, store } = ground;
  const part = <Part>(inner: () => Part): Part =>
    store.within(() => alarm.within(() => storage.transactionSync(inner)));
  const size_bytes = (): number => storage.sql.databaseSize;
  const moment = { caller: SERVICE, now_ms: Date.now() };
  try {
    return part(() => {
      const standing = store.readStanding();
      return work({ ...ground, ...moment, standing, size_bytes, part });
    });
  } catch (error) {
    expiry.undo();
    throw error;
  }
}
