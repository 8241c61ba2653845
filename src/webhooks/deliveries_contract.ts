/** The RPC interface of a WebhookDeliveries object: plain values only. */
import type { RecordedAttempt } from "./attempts.ts";
import type { WaitingEvent } from "./state.ts";

/** A delivery that waits, for the list of operators. */
export interface ListedDelivery extends Omit<WaitingEvent, "retry_at_ms"> {
  readonly identity_id: string;
  /** `failed`: the webhook was paused after the last attempt. */
  readonly status: "pending" | "failed";
  /** Null: only when the webhook is active again. */
  readonly retry_at_ms: number | null;
}

export interface DeliveryPageRequest {
  readonly status: ListedDelivery["status"] | null;
  /** Empty: from the beginning. */
  readonly after_identity_id: string;
  readonly limit: number;
}

export interface WebhookDeliveriesOperations {
  /** An event of an account waits, in place of what the account had here. */
  save(delivery: ListedDelivery): Promise<void>;
  /** The account's event was delivered, or will never be tried again. */
  drop(identity_id: string): void;
  /** As {@link drop}, and without a trace of the account. */
  forget(identity_id: string): void;
  /** By identity. `replays_since_ms`: since when the events of all accounts are being sent again; null: they are not. */
  list(page: DeliveryPageRequest): {
    readonly deliveries: readonly ListedDelivery[];
    /** The last delivery that a filtered page looked at, which may be short; null: there are no more. */
    readonly looked_at_to: string | null;
    readonly replays_since_ms: number | null;
  };
  /** Every attempt that failed, and some that succeeded. */
  record(attempt: RecordedAttempt): Promise<void>;
  /** The last attempts that were recorded in 7 days, at most 20, the newest first. */
  attempts(): readonly RecordedAttempt[];
  /** The webhook is active again: wakes all senders, the first of them before it returns. */
  resume(): Promise<void>;
  /** Sends the events of all accounts since a time again, in rounds. An earlier replay that goes on becomes a part of it. */
  replay(since_ms: number): Promise<void>;
  /** Sets the alarm again, if the platform lost it. */
  check(): Promise<void>;
}
