/** The RPC interface of a WebhookSender object: plain values only. */
import type { SubscribableEvent } from "../domain/webhook.ts";
import type { WebhookPosition } from "../domain/webhook_delivery.ts";
import type { RecordedAttempt } from "./attempts.ts";

/** A webhook, as its senders and the accounts need it. */
export interface Webhook {
  /** A UUID: a webhook that was deleted and created again under the same id is another one. */
  readonly uid: string;
  readonly app_slug: string;
  readonly id: string;
  readonly created_at_ms: number;
  readonly url: string;
  readonly events: readonly SubscribableEvent[];
  /** The balances of `credits.low`, in credits. */
  readonly thresholds: readonly number[];
  /** Since when nothing is sent; null: it is active. */
  readonly paused_at_ms: number | null;
}

/** The event that an account sends when it is deleted, after all others. */
export interface LastEvent {
  readonly id: string;
  readonly line: number;
  readonly body: string;
  readonly at_ms: number;
}

export interface WebhookSenderOperations {
  /**
   * The account has something new. Returns as soon as storage has it; the sending happens later.
   * `news`: as in `domain/webhook_delivery`.
   * @returns whether an event waits for another attempt.
   */
  wake(news: string): Promise<boolean>;
  /** The webhook is active again: continues now, whatever retry was planned. @returns as {@link wake} does. */
  resume(): boolean;
  /**
   * Sends the events after this entry again, and continues from there. It skips nothing that is not delivered yet.
   * `begin`: where the webhook's events begin in this account.
   */
  replay(after_line: number, begin: WebhookPosition): void;
  /** The attempts of the last 7 days, at most 20, the newest first. */
  attempts(): readonly RecordedAttempt[];
  /**
   * The account was deleted and has nothing new after `news`. `last`: the event to send after all others, or null.
   * May be repeated.
   * @returns whether everything before `last` was delivered.
   */
  close(news: string, last: LastEvent | null): boolean;
}

/** The name of the object that sends one account's events to one webhook. */
export function senderName(uid: string, identity_id: string): string {
  return `${uid} ${identity_id}`;
}

/** The parts of a {@link senderName}. A UUID has no space. */
export function readSenderName(name: string): {
  readonly uid: string;
  readonly identity_id: string;
} {
  const end = name.indexOf(" ");
  return { uid: name.slice(0, end), identity_id: name.slice(end + 1) };
}
