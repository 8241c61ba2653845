/**
 * Pages of an account's events for one webhook, oldest first. An event without an entry comes after the entry that was the
 * newest one when it happened. `credits.changed` comes last, and only after everything else.
 */
import type {
  OutgoingEvent,
  WebhookEvents,
  WebhookEventsRequest,
  WebhookNews,
  WebhookPosition,
} from "../../domain/webhook_delivery.ts";
import { numberAt } from "../ledger/entry_times.ts";
import type { AccountDatabase } from "../sql/database.ts";
import type { AccountRow, EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import { changedEvent, eventsOfEntry, unnumberedEvent, type Recipient } from "./events.ts";
import type { UnnumberedEvents } from "./unnumbered_events.ts";

/** Entries that one page reads, and events after which it ends: a receiver may take ten seconds for each. */
const PAGE_ENTRIES = 500;
const PAGE_EVENTS = 40;

export interface EventSources {
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly unnumbered: UnnumberedEvents;
}

/** The account, while its events can be read: not before it is opened, nor while its rows are erased. */
export function readableAccount(store: Store): AccountRow | null {
  const account = store.readAccount();
  const is_whole = account !== null && (account.erasure === null || account.erasure === "closing");
  return is_whole && store.readNewestEntry() !== null ? account : null;
}

/** The account's newest entry, and its newest event without one, as a text to compare. */
export function readNews({ store, unnumbered }: Omit<EventSources, "database">): WebhookNews {
  return `${store.readNewestEntry()?.line ?? 0}.${unnumbered.newest_id}`;
}

/** A page of events; null: the account was never opened, or its rows are being erased. */
export function readEvents(
  sources: EventSources,
  request: WebhookEventsRequest,
): WebhookEvents | null {
  const { store } = sources;
  const account = readableAccount(store);
  if (account === null) return null;
  const { id: account_id, identity_id } = account;
  const app = store.readApp(request.app_slug);
  const recipient: Recipient = { store, account_id, identity_id, request, app };
  const newest_line = store.readNewestEntry()?.line ?? 0;
  const begin = notBefore(account.events_after_line, beginOf(sources, request, newest_line));
  const events: OutgoingEvent[] = [];
  let { line, unnumbered } = begin;
  const { balance_line } = begin;
  const waiting = sources.unnumbered.listAfter(unnumbered);
  /** @returns whether the page has room left. */
  const takeUnnumbered = (to_line: number): boolean => {
    for (let next = waiting[0]; next !== undefined && next.line <= to_line; next = waiting[0]) {
      if (events.length >= PAGE_EVENTS) return false;
      waiting.shift();
      unnumbered = next.id;
      const event = unnumberedEvent(recipient, next, { line, low_left: false, balance_line });
      if (event !== null) events.push(event);
    }
    return events.length < PAGE_EVENTS;
  };
  for (const entry of readEntries(store, begin, newest_line)) {
    if (!takeUnnumbered(entry.line - 1)) break;
    const part = begin.low_left && entry.line === begin.line ? "low" : "all";
    events.push(...eventsOfEntry(recipient, entry, { unnumbered, balance_line }, part));
    ({ line } = entry);
  }
  if (line === newest_line) takeUnnumbered(line);
  const is_all = line === newest_line && !waiting.some((it) => it.line <= line);
  const position = {
    line,
    low_left: false,
    unnumbered,
    balance_line: is_all ? newest_line : balance_line,
  };
  const changed = is_all ? changedEvent(recipient, balance_line, position) : null;
  if (changed !== null) events.push(changed);
  return {
    events,
    begin,
    position,
    news: is_all ? readNews(sources) : null,
    has_app: app !== null,
  };
}

function beginOf(
  sources: EventSources,
  { after, since_ms }: WebhookEventsRequest,
  newest_line: number,
): WebhookPosition {
  if (after === null) {
    const line = numberAt(sources, newest_line, since_ms) - 1;
    return { line, low_left: false, unnumbered: 0, balance_line: line };
  }
  // The numbers of an account whose storage was lost begin again.
  const unnumbered = Math.min(after.unnumbered, sources.unnumbered.newest_id);
  // An account that was restored to an earlier time has fewer entries than were delivered.
  return after.line > newest_line
    ? { line: newest_line, low_left: false, unnumbered, balance_line: newest_line }
    : { ...after, unnumbered };
}

function notBefore(line: number, begin: WebhookPosition): WebhookPosition {
  if (begin.line >= line) return begin;
  const balance_line = Math.max(begin.balance_line, line);
  return { ...begin, line, low_left: false, balance_line };
}

function readEntries(
  store: Store,
  { line, low_left }: WebhookPosition,
  newest_line: number,
): readonly EntryRow[] {
  const after_line = low_left ? line - 1 : line;
  return store.readEntriesBetween(after_line, Math.min(newest_line, after_line + PAGE_ENTRIES));
}
