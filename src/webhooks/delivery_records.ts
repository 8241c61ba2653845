/** What the senders of an isolate tell the object that has the deliveries of their webhook. */
import type { RecordedAttempt } from "./attempts.ts";
import type { Deliveries } from "./deliveries.ts";
import type { ListedDelivery } from "./deliveries_contract.ts";

/** One call a minute says that deliveries succeed. */
const SUCCESS_PRECISION_MS = 60_000;

/** Each method rejects if the object cannot be reached. */
export interface DeliveryRecords {
  save(uid: string, delivery: ListedDelivery): Promise<void>;
  drop(uid: string, identity_id: string): Promise<void>;
  /** As {@link drop}, and without a trace of the account. */
  forget(uid: string, identity_id: string): Promise<void>;
  record(uid: string, attempt: RecordedAttempt): Promise<void>;
}

export function createDeliveryRecords(
  namespace: Pick<DurableObjectNamespace<Deliveries>, "getByName">,
): DeliveryRecords {
  /** The minute of the last success of each webhook that this isolate has told. */
  const told = new Map<string, number>();
  return {
    save: (uid, delivery) => namespace.getByName(uid).save(delivery),
    drop: (uid, identity_id) => namespace.getByName(uid).drop(identity_id),
    forget: (uid, identity_id) => namespace.getByName(uid).forget(identity_id),
    async record(uid, attempt) {
      const minute = Math.floor(attempt.at_ms / SUCCESS_PRECISION_MS);
      const is_told = attempt.reason === null && told.get(uid) === minute;
      if (is_told) return;
      // After an error, a success of the same minute is told again.
      told.delete(uid);
      await namespace.getByName(uid).record(attempt);
      if (attempt.reason === null) told.set(uid, minute);
    },
  };
}
