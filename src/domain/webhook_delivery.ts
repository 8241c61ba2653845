/** The events that an account gives to the sender of a webhook, in pages. Pure. */
import type { SubscribableEvent } from "./webhook.ts";

/** Up to where the events of an account were delivered to one webhook. */
export interface WebhookPosition {
  /** The events of the entries up to this number were delivered. */
  readonly line: number;
  /** Except the `credits.low` of that entry, if it has one. */
  readonly low_left: boolean;
  /** The events without an entry up to this number were delivered. */
  readonly unnumbered: number;
  /** The balance after this entry was delivered as `credits.changed`, if the webhook wants it. */
  readonly balance_line: number;
}

export interface WebhookEventsRequest {
  readonly app_slug: string;
  /** The body that the webhook receives. */
  readonly events: readonly SubscribableEvent[];
  /** The balances of `credits.low`, in credits. */
  readonly thresholds: readonly number[];
  /** When the webhook was created: without a position, its events begin there. */
  readonly since_ms: number;
  readonly after: WebhookPosition | null;
}

/** One event, ready to be signed. */
export interface OutgoingEvent {
  /** The same in every attempt. */
  readonly id: string;
  readonly type: SubscribableEvent;
  /** The number of its entry, or of the newest one when it happened. */
  readonly line: number;
  readonly body: string;
  /** The position after it. */
  readonly position: WebhookPosition;
}

/** A page of events, in order. */
export interface WebhookEvents {
  readonly events: readonly OutgoingEvent[];
  /** The position before the page. */
  readonly begin: WebhookPosition;
  /** The position after the page, also if it has no events. */
  readonly position: WebhookPosition;
  /** The account's news so far, as in {@link WebhookNews}; null: there may be more after this page. */
  readonly news: WebhookNews | null;
  /** Whether the account has the webhook's app. */
  readonly has_app: boolean;
}

/** Changes whenever the account has something new for webhooks: the numbers of its newest entry and newest event without one. */
export type WebhookNews = `${number}.${number}`;

/** How the deliveries of a webhook went, in milliseconds since the epoch. */
export interface WebhookOutcome {
  /** The minute of the last success; null: none. */
  readonly last_success_at_ms: number | null;
  readonly last_error: string | null;
  readonly last_error_at_ms: number | null;
  /** When the first delivery failed after the last success; null: the last one succeeded. */
  readonly failing_since_ms: number | null;
}

/** Where a walk is over the accounts that were active since a UTC day: after this day, app and account. */
export interface ActiveSince {
  /** In whole days since the epoch. */
  readonly first_day: number;
  readonly day: number;
  readonly app_slug: string;
  readonly account_id: string;
}

/** An account that had an entry of an app, or of none, on a day. */
export interface ActiveAccount extends Omit<ActiveSince, "first_day"> {
  /** Null: the read model has no such account any more. */
  readonly identity_id: string | null;
  /** Whether the walk has met it before. */
  readonly is_known: boolean;
}
