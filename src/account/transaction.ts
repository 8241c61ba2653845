/** What an operation works in: one synchronous transaction of the account's object. */
import type { PersonalTokenAccess } from "../domain/personal_token.ts";
import type { Alarm } from "./alarm.ts";
import { refused } from "../domain/result.ts";
import type { Answer, Caller } from "./contract.ts";
import type { Delivery } from "./delivery.ts";
import type { Expiry } from "./expiry.ts";
import type { LineKeys } from "./idempotency/line_keys.ts";
import type { AccountStanding, Store } from "./store.ts";
import { admit } from "./personal_tokens/admission.ts";
import type { PersonalTokenRow, PersonalTokenStore } from "./personal_tokens/store.ts";
import { whyDeleted } from "./deletion.ts";
import { whySuspended } from "./suspension.ts";

/**
 * The state of one transaction: its tables, its moment, who acts, and the alarm on which an operation
 * says when it is next due. `token`: the caller's, as it was when they were let in; null for a browser
 * session and an app. `acting_app`: the app whose server acts by its key; null: the holder does.
 */
export interface Transaction {
  readonly store: Store;
  readonly personal_tokens: PersonalTokenStore;
  readonly alarm: Alarm;
  readonly delivery: Delivery;
  readonly expiry: Expiry;
  readonly line_keys: LineKeys;
  /** Says that a line was posted, for those who are told after the commit. */
  readonly posted: () => void;
  /** Whom the account lets in, as it was when the transaction began. */
  readonly standing: AccountStanding | null;
  readonly personal_token: PersonalTokenRow | null;
  readonly acting_app: string | null;
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
  readonly line_keys: LineKeys;
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
  wanted: PersonalTokenAccess,
  operation: (transaction: Transaction) => Answer<Value>,
): Answer<Value> {
  return transactAsOf(ground, caller.app_slug ?? null, (transaction) => {
    const deleted = whyDeleted(transaction.standing, caller);
    if (deleted !== null) return refused(deleted);
    ground.expiry.expireDueJobs(transaction);
    const personal_token = admit(transaction, caller, wanted);
    if (!personal_token.ok) return personal_token;
    const suspended = whySuspended(transaction.standing, caller);
    if (suspended !== null) return refused(suspended);
    return operation({ ...transaction, personal_token: personal_token.value });
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
  return transactAsOf(ground, null, step);
}

function transactAsOf<Value>(
  { storage, ...ground }: Ground,
  acting_app: string | null,
  work: (transaction: Transaction) => Value,
): Value {
  const { alarm, expiry, line_keys, store } = ground;
  const part = <Part>(inner: () => Part): Part =>
    store.within(() => alarm.within(() => line_keys.within(() => storage.transactionSync(inner))));
  const size_bytes = (): number => storage.sql.databaseSize;
  const moment = { personal_token: null, acting_app, now_ms: Date.now() };
  try {
    return part(() => {
      const standing = store.readStanding();
      return work({ ...ground, ...moment, standing, size_bytes, part });
    });
  } catch (error) {
    expiry.forget();
    throw error;
  }
}
