/** What the senders of an isolate tell the object that has the deliveries of their webhook. */
import type { Deliveries } from "./deliveries.ts";
import type { ListedDelivery } from "./deliveries_contract.ts";

/** One call a minute says that deliveries succeed. */
const SUCCESS_PRECISION_MS = 60_000;

/** Each method rejects if the object cannot be reached. */
export interface DeliveryRecords {
  save(uid: string, delivery: ListedDelivery): Promise<void>;
  drop(uid: string, identity_id: string): Promise<void>;
  recordSuccess(uid: string): Promise<void>;
  /** `response`: as in `Attempted`. */
  recordError(uid: string, reason: string, response: string | null): Promise<void>;
}

export function createDeliveryRecords(
  namespace: Pick<DurableObjectNamespace<Deliveries>, "getByName">,
): DeliveryRecords {
  /** The minute of the last success of each webhook that this isolate has told. */
  const told = new Map<string, number>();
  return {
    save: (uid, delivery) => namespace.getByName(uid).save(delivery),
    drop: (uid, identity_id) => namespace.getByName(uid).drop(identity_id),
    async recordSuccess(uid) {
      const minute = Math.floor(Date.now() / SUCCESS_PRECISION_MS);
      if (told.get(uid) === minute) return;
      await namespace.getByName(uid).recordSuccess();
      told.set(uid, minute);
    },
    recordError(uid, reason, response) {
      // A success of the same minute is then told again.
      told.delete(uid);
      return namespace.getByName(uid).recordError(reason, response);
    },
  };
}
