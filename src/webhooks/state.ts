/** The state of one WebhookSender object: one value, so that a change costs one written row. */
import type { WebhookPosition } from "../domain/webhook_delivery.ts";
import type { SubscribableEvent } from "../domain/webhook.ts";
import type { RecordedAttempt } from "./attempts.ts";
import type { LastEvent } from "./sender_contract.ts";

/** The event that waits to be delivered, and its last attempt. */
export interface WaitingEvent {
  readonly event_id: string;
  readonly type: SubscribableEvent;
  readonly line: number;
  /** 0: it was not tried, because the webhook is paused. */
  readonly attempts: number;
  readonly reason: string | null;
  readonly at_ms: number;
  /** When it is tried again, if the webhook is not paused. */
  readonly retry_at_ms: number;
}

export interface SenderState {
  /** Changes when an operator changed the position. A round that began before then stores nothing. */
  readonly generation: number;
  /** Null: nothing was read yet. */
  readonly position: WebhookPosition | null;
  /** The account's news when everything was delivered; null: there may be more. */
  readonly news: string | null;
  readonly waiting: WaitingEvent | null;
  /** The last attempts, without the receivers' responses. */
  readonly attempts: readonly RecordedAttempt[];
  /** When the last `credits.changed` was delivered, in milliseconds since the epoch; 0: never. */
  readonly balance_at_ms: number;
  /** The last event of a deleted account; null: the account is not deleted, or the app does not receive the event. */
  readonly last: LastEvent | null;
  /** The account is deleted, and everything was delivered. */
  readonly is_done: boolean;
}

const NEW_STATE: SenderState = {
  generation: 0,
  position: null,
  news: null,
  waiting: null,
  attempts: [],
  balance_at_ms: 0,
  last: null,
  is_done: false,
};

const KEY = "state";

type KeyValueStorage = Pick<DurableObjectStorage["kv"], "get" | "put">;

export function readState(kv: KeyValueStorage): SenderState {
  return kv.get<SenderState>(KEY) ?? NEW_STATE;
}

/** Stores some columns. @returns the new state. */
export function saveState(kv: KeyValueStorage, columns: Partial<SenderState>): SenderState {
  const state = { ...readState(kv), ...columns };
  kv.put(KEY, state);
  return state;
}
