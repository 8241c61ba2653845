/** The events of single entries, and those without an entry, as one webhook receives them. */
import {
  creditEvent,
  crossedThreshold,
  jobEvent,
  type JobStage,
} from "../../domain/webhook_events.ts";
import { forApp } from "../../domain/started_by.ts";
import type { SubscribableEvent } from "../../domain/webhook.ts";
import { isUsableIn, spendableThen, type Lot } from "../../domain/lots.ts";
import { jobView, timestamp } from "../../domain/wire.ts";
import type {
  OutgoingEvent,
  WebhookEventsRequest,
  WebhookPosition,
} from "../../domain/webhook_delivery.ts";
import { isStartedBefore } from "../../domain/app_stop.ts";
import type { AppRow, EntryRow, JobRow, UnnumberedEventRow } from "../sql/schema.ts";
import { scopedAfter } from "../ledger/credits.ts";
import { newestButRefunds, type Store } from "../sql/store.ts";
import { asStopped } from "../stopped_apps.ts";
import { seesCredits } from "../wallet/app_access.ts";

/** An account, and the webhook that its events are for. */
export interface Recipient {
  readonly store: Store;
  readonly account_id: string;
  readonly identity_id: string;
  readonly request: Omit<WebhookEventsRequest, "after">;
  /** The account's row of the webhook's app; null: it has none. */
  readonly app: AppRow | null;
}

/**
 * The events of an entry. `part`: only its `credits.low`, because its other event was delivered. `others`: up to where
 * other events were delivered.
 */
export function eventsOfEntry(
  recipient: Recipient,
  entry: EntryRow,
  others: Pick<WebhookPosition, "unnumbered" | "balance_line">,
  part: "all" | "low",
): readonly OutgoingEvent[] {
  const after = (low_left: boolean): WebhookPosition => ({
    line: entry.line,
    low_left,
    ...others,
  });
  const of_entry = part === "low" ? null : eventOfEntry(recipient, entry, after(true));
  return [of_entry, lowEvent(recipient, entry, after(false))].filter((it) => it !== null);
}

function eventOfEntry(
  recipient: Recipient,
  entry: EntryRow,
  position: WebhookPosition,
): OutgoingEvent | null {
  const { store, request } = recipient;
  const is_own = entry.job_id !== null && entry.app_slug === request.app_slug;
  // Read only if needed: most entries of an account are of other apps.
  const job = is_own && entry.job_id !== null ? store.readJob(entry.job_id) : null;
  const sees_credits = seesCredits(recipient.app, entry.line - 1);
  const type =
    (job === null ? null : jobEvent(stageOf(store, entry, job), job)) ??
    (sees_credits ? creditEvent(entry) : null);
  if (type === null) return null;
  const lot = type === "credits.expired" ? lotOf(store, entry) : null;
  if (lot !== null && !isUsableIn(lot, request.app_slug)) return null;
  // A stopped app learns how its earlier jobs end, and nothing else.
  const stopped = recipient.app === null ? null : asStopped(recipient.app);
  if (
    stopped !== null &&
    (job === null || !isStartedBefore(stopped, job) || type === "job.created")
  )
    return null;
  const details = {
    ...(job === null ? {} : { job: jobView(forApp(job)) }),
    ...(lot === null ? {} : { lot_id: lot.id, expired: 0 - entry.amount }),
  };
  return ledgerEvent(recipient, entry, { type, position, details, sees_credits });
}

/** The lot of an entry. */
function lotOf(store: Store, { lot_id }: EntryRow): Lot | null {
  return lot_id === null ? null : store.lots.read(lot_id);
}

function lowEvent(
  recipient: Recipient,
  entry: EntryRow,
  position: WebhookPosition,
): OutgoingEvent | null {
  const { store, request, app } = recipient;
  const sees_credits = seesCredits(app, entry.line - 1);
  if (request.thresholds.length === 0 || !sees_credits) return null;
  const spendableAfter = (one: EntryRow | null): number =>
    spendableThen(one?.balance_after ?? 0, scopedAfter(one), request.app_slug);
  const spendable = spendableAfter(entry);
  const before = spendableAfter(store.readEntry(entry.line - 1));
  const threshold = crossedThreshold({ before, after: spendable }, request.thresholds);
  if (threshold === null) return null;
  const details = { spendable, threshold };
  return ledgerEvent(recipient, entry, { type: "credits.low", position, details, sees_credits });
}

/**
 * The balance after the newest entry, if the webhook did not receive it. It depends on when it is read: a receiver that is
 * behind gets only the newest balance. It is sent although an earlier entry had the same balance, because the receiver may
 * have accepted one in between whose response was lost. `position`: after everything else.
 */
export function changedEvent(
  recipient: Recipient,
  delivered_line: number,
  position: WebhookPosition,
): OutgoingEvent | null {
  const { store, app } = recipient;
  const newest = store.readNewestEntry();
  if (newest === null || newest.line <= delivered_line) return null;
  if (!seesCredits(app, newest.line - 1)) return null;
  const details = { bought: newest.bought_after };
  const type = "credits.changed";
  return ledgerEvent(recipient, newest, { type, position, details, sees_credits: true });
}

/** The stage that an entry was in the life of its job. Reads at most a few entries. */
function stageOf(store: Store, entry: EntryRow, job: JobRow): JobStage {
  if (entry.kind === "job_refund") return "between";
  if (entry.kind === "reserve") return entry.previous_line === null ? "created" : "between";
  if (job.status === "started") return "between";
  const end = newestButRefunds(store, job);
  if (end.line === entry.line) return "end";
  if (entry.kind === "settle") return "earlier_end";
  // A refund before the end: of an expired job that was completed late, or of a part of a longer reserve.
  const holds_changed = store.readEntry(end.line - 1)?.reserved_after !== end.reserved_after;
  const is_late =
    end.previous_line === entry.line && !holds_changed && entry.amount === job.reserved;
  return is_late ? "earlier_end" : "between";
}

interface Described {
  readonly type: SubscribableEvent;
  readonly position: WebhookPosition;
  readonly details: object;
  readonly sees_credits: boolean;
}

function ledgerEvent(
  { account_id, identity_id, request }: Recipient,
  { line, balance_after, reserved_after, at_ms }: EntryRow,
  { type, position, details, sees_credits }: Described,
): OutgoingEvent | null {
  if (!request.events.includes(type)) return null;
  const balance = sees_credits
    ? { credits: balance_after, held: reserved_after }
    : { credits: null, held: null };
  const data = { identity_id, line, ...balance, ...details };
  return {
    id: `${account_id}.${line}.${type}`,
    type,
    line,
    body: bodyOf(type, at_ms, data),
    position,
  };
}

const SHOWING_CREDITS: readonly SubscribableEvent[] = [
  "credits.refused",
  "credits.expiring",
  "topup.failed",
  "topup.disabled",
];

/**
 * An event without an entry, which only its app receives. One that shows the balance needs an open account, and progress
 * an app that the holder did not stop.
 */
export function unnumberedEvent(
  recipient: Recipient,
  { id, event_id, type, app_slug, line, details_json, at_ms }: UnnumberedEventRow,
  position: Omit<WebhookPosition, "unnumbered">,
): OutgoingEvent | null {
  const { request, identity_id, app } = recipient;
  if (app_slug !== request.app_slug || !request.events.includes(type)) return null;
  if (at_ms < request.since_ms) return null;
  if (SHOWING_CREDITS.includes(type) && !seesCredits(app, line)) return null;
  if (type === "job.progressed" && app !== null && asStopped(app) !== null) return null;
  const data = { identity_id, ...(JSON.parse(details_json) as object) };
  return {
    id: event_id,
    type,
    line,
    body: bodyOf(type, at_ms, data),
    position: { ...position, unnumbered: id },
  };
}

/** The JSON of an event. The same event has the same text in every attempt, except for what its job has become since. */
export function bodyOf(type: SubscribableEvent, at_ms: number, data: object): string {
  return JSON.stringify({ type, timestamp: timestamp(at_ms), data });
}
