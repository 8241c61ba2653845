/**
 * Notifies the senders of webhooks that the account has new events. The senders read them from here, so a receiver delays
 * nothing here. The alarm that each entry's transaction sets guarantees that every sender is notified.
 *
 * The list of webhooks is a copy of at most a minute. An account whose apps have no webhook writes nothing, and makes no
 * call.
 */
import { backOff, PROJECTION_RETRY_MAX_MS } from "../../domain/back_off.ts";
import { REFUSALS_KEPT } from "../../domain/limits.ts";
import type { AccessEvent } from "../../domain/access_event.ts";
import { isUsableIn, type Lot } from "../../domain/lots.ts";
import { timestamp } from "../../domain/wire.ts";
import { errorName } from "../../domain/result.ts";
import type { SubscribableEvent } from "../../domain/webhook.ts";
import type { WebhookNews, WebhookPosition } from "../../domain/webhook_delivery.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Alarm } from "../sync/alarm.ts";
import type { TopUpEvent } from "../transaction.ts";
import type { LastEvent, Webhook } from "../../webhooks/sender_contract.ts";
import { bodyOf } from "./events.ts";
import { readableAccount, readEvents, readNews, type EventSources } from "./pages.ts";
import type { UnnumberedEvent } from "./unnumbered_events.ts";

/** How long after a failure that lasts the account tries again at the latest. */
const RETRY_MAX_MS = PROJECTION_RETRY_MAX_MS;

/** The list of webhooks, as the directory has it. */
export interface WebhookList {
  /** The copy, if it is at most a minute old; else null. */
  known(): readonly Webhook[] | null;
  /** The list, or an older copy while the directory is down. @throws if it was never read. */
  read(): Promise<readonly Webhook[]>;
}

/** The object that sends the account's events to one webhook. */
export interface Sender {
  wake(news: WebhookNews): Promise<boolean>;
  close(news: WebhookNews, last: LastEvent | null): Promise<boolean>;
}

interface WebhookOutboxParts extends EventSources {
  readonly list: WebhookList;
  readonly senderOf: (webhook: Webhook) => Sender;
}

/** The newest entry, and the newest event without one, that a sender was notified of. */
type Notified = Pick<WebhookPosition, "line" | "unnumbered">;

export class WebhookOutbox {
  readonly #parts: WebhookOutboxParts;
  /** The newest one when this instance woke. */
  readonly #woken_with: Notified;
  /** Whether an earlier instance may have left senders without a notification. The alarm that it set is then armed. */
  #may_be_behind: boolean;
  /** For each webhook, by its uid: the newest that this instance notified its sender of. */
  readonly #notified = new Map<string, Notified>();
  /** Frequent events of which it is not known yet whether a webhook wants them. */
  readonly #undecided: UnnumberedEvent[] = [];
  #failing_since_ms: number | null = null;

  /** `is_armed`: an alarm was set when the object woke. */
  constructor(parts: WebhookOutboxParts, is_armed: boolean) {
    this.#parts = parts;
    this.#woken_with = this.#newest();
    this.#may_be_behind = is_armed;
  }

  /**
   * Keeps a request that got 402, if a webhook of its app wants to know. Part of the request's transaction.
   * @returns whether it was kept.
   */
  keepRefused(app_slug: string, at_ms: number): boolean {
    const { store } = this.#parts;
    const newest = store.readNewestEntry();
    if (newest === null || store.readApp(app_slug)?.access !== "open") return false;
    const { line, balance_after: credits, reserved_after: held } = newest;
    const type = "credits.refused";
    const details_json = JSON.stringify({ line, credits, held });
    const event_id = crypto.randomUUID();
    return this.#keepOrDecide({ event_id, type, app_slug, line, details_json, at_ms });
  }

  /**
   * Keeps a step of a job, if a webhook of its app wants to know. Part of the step's transaction. A later step of the job
   * takes its place. @returns whether it was kept.
   */
  keepProgress(
    { id: job_id, app_slug, step, spent, done, message }: JobRow,
    at_ms: number,
  ): boolean {
    const line = this.#parts.store.readNewestEntry()?.line;
    if (line === undefined || app_slug === null) return false;
    const type = "job.progressed";
    const details_json = JSON.stringify({ job_id, step, spent, done, message });
    const event_id = `${job_id}.${step}.${type}`;
    return this.#keepOrDecide({ event_id, type, app_slug, line, details_json, at_ms });
  }

  /** Keeps a frequent event if a webhook wants it. Unless the list is known, `decide` does so later: most are not wanted. */
  #keepOrDecide(event: UnnumberedEvent): boolean {
    const webhooks = this.#parts.list.known();
    if (webhooks === null) {
      if (this.#undecided.length < REFUSALS_KEPT) this.#undecided.push(event);
      return false;
    }
    if (!isWanted(webhooks, event)) return false;
    this.#parts.unnumbered.add(event);
    return true;
  }

  /**
   * Keeps the news that what is left of a lot soon expires, for each app with the account open that could use it, unless it is
   * known that no webhook of the app wants it. @returns whether any was kept.
   */
  keepExpiring(lot: Lot, at_ms: number): boolean {
    if (lot.expires_at_ms === null) return false;
    const expires_at = timestamp(lot.expires_at_ms);
    const details = { lot_id: lot.id, expiring: lot.left, expires_at };
    return this.#keepForApps("credits.expiring", details, at_ms, (slug) => isUsableIn(lot, slug));
  }

  /** Keeps news of automatic top-up for each app with the account open. @returns whether any was kept. */
  keepTopUp({ type, ...details }: TopUpEvent, at_ms: number): boolean {
    return this.#keepForApps(type, details, at_ms, () => true);
  }

  /** Keeps an event with the balance for apps with the account open, unless it is known that no webhook of the app wants it. */
  #keepForApps(
    type: "credits.expiring" | TopUpEvent["type"],
    details: object,
    at_ms: number,
    concerns: (app_slug: string) => boolean,
  ): boolean {
    const { store, list, unnumbered } = this.#parts;
    const newest = store.readNewestEntry();
    if (newest === null) return false;
    const { line, balance_after: credits, reserved_after: held } = newest;
    const details_json = JSON.stringify({ line, credits, held, ...details });
    const events = store
      .listApps()
      .filter(({ slug, access }) => access === "open" && concerns(slug))
      .map(({ slug: app_slug }) => ({ type, app_slug, line, details_json, at_ms }) as const)
      .filter((event) => isWanted(list.known(), event));
    for (const event of events) unnumbered.add({ ...event, event_id: crypto.randomUUID() });
    return events.length > 0;
  }

  /**
   * Keeps an event about access, unless it is known that no webhook of its app wants it. Part of the transaction in which it
   * happened. `event_id`: a UUID. @returns whether it was kept.
   */
  keepAccessEvent(
    { type, app_slug, details }: AccessEvent,
    event_id: string,
    at_ms: number,
  ): boolean {
    const { store, list, unnumbered } = this.#parts;
    const newest = store.readNewestEntry();
    if (newest === null || app_slug === null) return false;
    const details_json = JSON.stringify(details);
    const event = { event_id, type, app_slug, line: newest.line, details_json, at_ms };
    if (!isWanted(list.known(), event)) return false;
    unnumbered.add(event);
    return true;
  }

  /** Reads the list for events that are not decided yet, and keeps those that a webhook wants. */
  async decide(alarm: Alarm): Promise<void> {
    if (this.#undecided.length === 0) return;
    const { list, unnumbered } = this.#parts;
    // If the list cannot be read, they are kept: then no event is lost, and only rows are wasted.
    const webhooks = await list.read().catch(() => null);
    const wanted = this.#undecided.splice(0).filter((event) => isWanted(webhooks, event));
    if (wanted.length === 0) return;
    for (const event of wanted) unnumbered.add(event);
    alarm.by(Date.now() + RETRY_MAX_MS);
    const again_at_ms = await this.flush("new");
    if (again_at_ms !== null) alarm.by(again_at_ms);
  }

  /**
   * Notifies the senders of all webhooks that have new events. `scope`: what this instance has written, or
   * also what an earlier instance may have left.
   * @returns when to call again, in milliseconds since the epoch; null: all are notified.
   */
  async flush(scope: "new" | "all"): Promise<number | null> {
    const { store, list, senderOf } = this.#parts;
    if (readableAccount(store) === null) return null;
    let webhooks: readonly Webhook[];
    try {
      webhooks = await list.read();
    } catch {
      // The list's read is logged where it fails. An alarm is usually armed for this time anyway.
      return Date.now() + RETRY_MAX_MS;
    }
    const now = this.#newest();
    const news = readNews(this.#parts);
    const tells_all = scope === "all" && this.#may_be_behind;
    const due = webhooks.filter(
      (webhook) => (tells_all && this.#isUsed(webhook)) || this.#hasNews(webhook),
    );
    const calls = due.map(async (webhook) => {
      await senderOf(webhook).wake(news);
      this.#notified.set(webhook.uid, now);
    });
    const failed = (await Promise.allSettled(calls)).find(({ status }) => status === "rejected");
    if (failed !== undefined) return this.#postpone(failed);
    this.#failing_since_ms = null;
    if (tells_all) this.#may_be_behind = false;
    return null;
  }

  /**
   * The account is deleted, and has all its entries. Hands `account.deleted` to the senders.
   * @returns whether everything before it was delivered. Never throws.
   */
  async close(deleted_at_ms: number): Promise<boolean> {
    try {
      return await this.#close(deleted_at_ms);
    } catch (error) {
      console.warn({ event: "webhook_wake_failed", reason: errorName(error) });
      return false;
    }
  }

  async #close(deleted_at_ms: number): Promise<boolean> {
    const { store, list, senderOf } = this.#parts;
    const account = readableAccount(store);
    const newest = store.readNewestEntry();
    if (account === null || newest === null) return true;
    const news = readNews(this.#parts);
    const { line, balance_after: credits, reserved_after: held } = newest;
    const data = { identity_id: account.identity_id, line, credits, held };
    const body = bodyOf("account.deleted", deleted_at_ms, data);
    // The account's own id: a UUID that is the same whenever this is repeated.
    const last = { id: account.id, line, body, at_ms: deleted_at_ms };
    const used = (await list.read()).filter((webhook) => this.#isUsed(webhook));
    const closed = await Promise.all(
      used.map(async (webhook) => {
        const is_wanted =
          webhook.events.includes("account.deleted") &&
          store.readApp(webhook.app_slug)?.access === "open";
        return senderOf(webhook).close(news, is_wanted ? last : null);
      }),
    );
    return closed.every(Boolean);
  }

  #newest(): Notified {
    const { store, unnumbered } = this.#parts;
    return { line: store.readNewestEntry()?.line ?? 0, unnumbered: unnumbered.newest_id };
  }

  /** Whether the account has the webhook's app, or events for it: an app whose client is connected may never be used. */
  #isUsed({ app_slug }: Webhook): boolean {
    const { store, unnumbered } = this.#parts;
    return store.readApp(app_slug) !== null || unnumbered.hasAny(app_slug);
  }

  /** Whether the webhook receives an event that its sender was not notified of. */
  #hasNews(webhook: Webhook): boolean {
    const { uid, app_slug, events, thresholds, created_at_ms: since_ms } = webhook;
    const notified = this.#notified.get(uid) ?? this.#woken_with;
    const after = { ...notified, low_left: false, balance_line: notified.line };
    const page = readEvents(this.#parts, { app_slug, events, thresholds, since_ms, after });
    const has_news = page !== null && (page.events.length > 0 || page.news === null);
    if (!has_news && page !== null) this.#notified.set(uid, page.position);
    return has_news;
  }

  #postpone({ reason }: PromiseSettledResult<unknown> & { readonly reason?: unknown }): number {
    const now_ms = Date.now();
    this.#failing_since_ms ??= now_ms;
    console.warn({ event: "webhook_wake_failed", reason: errorName(reason) });
    return now_ms + backOff(now_ms - this.#failing_since_ms, Math.random());
  }
}

/** Whether a webhook wants the event. `webhooks`: null if they are not known; then one may. */
function isWanted(
  webhooks: readonly Webhook[] | null,
  { app_slug, type }: { readonly app_slug: string; readonly type: SubscribableEvent },
): boolean {
  if (webhooks === null) return true;
  return webhooks.some((webhook) => webhook.app_slug === app_slug && webhook.events.includes(type));
}
