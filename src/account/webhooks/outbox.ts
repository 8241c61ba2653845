/**
 * Notifies the senders of webhooks that the account has new events. The senders read them from here, so a receiver delays
 * nothing here. The alarm that each entry's transaction sets guarantees that every sender is notified.
 *
 * The list of webhooks is a copy of at most a minute. An account whose apps have no webhook writes nothing, and makes no
 * call.
 */
import { backOff, PROJECTION_RETRY_MAX_MS } from "../../domain/back_off.ts";
import { REFUSALS_KEPT } from "../../domain/limits.ts";
import { errorName } from "../../domain/result.ts";
import type { WebhookNews, WebhookPosition } from "../../domain/webhook_delivery.ts";
import type { Alarm } from "../sync/alarm.ts";
import type { LastEvent, Webhook } from "../../webhooks/contract.ts";
import { bodyOf } from "./events.ts";
import { readableAccount, readEvents, readNews, type EventSources } from "./pages.ts";
import type { Refusal402 } from "./refusals.ts";

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

export interface WebhookOutboxParts extends EventSources {
  readonly list: WebhookList;
  readonly senderOf: (webhook: Webhook) => Sender;
}

/** The newest entry and refused request that a sender was notified of. */
type Notified = Pick<WebhookPosition, "line" | "refusal">;

export class WebhookOutbox {
  readonly #parts: WebhookOutboxParts;
  /** What the account had when this instance woke. */
  readonly #woken_with: Notified;
  /** Whether an earlier instance may have left senders without a notification. The alarm that it set is then armed. */
  #may_be_behind: boolean;
  /** What this instance notified the sender of each webhook of, by the webhook's uid. */
  readonly #notified = new Map<string, Notified>();
  /** Refused requests of which it is not known yet whether a webhook wants them. */
  readonly #undecided: Refusal402[] = [];
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
  noteRefusal(app_slug: string, at_ms: number): boolean {
    const { store, list, refusals } = this.#parts;
    const newest = store.readNewestEntry();
    if (newest === null || store.readApp(app_slug)?.access !== "open") return false;
    const { line, balance_after: credits, reserved_after: held } = newest;
    const refusal = { app_slug, line, credits, held, at_ms };
    const webhooks = list.known();
    if (webhooks === null) {
      if (this.#undecided.length < REFUSALS_KEPT) this.#undecided.push(refusal);
      return false;
    }
    if (!wantsRefusals(webhooks, app_slug)) return false;
    refusals.add(refusal);
    return true;
  }

  /** Reads the list for refused requests that are not decided yet, and keeps those that a webhook wants. */
  async decide(alarm: Alarm): Promise<void> {
    if (this.#undecided.length === 0) return;
    const { list, refusals } = this.#parts;
    // If the list cannot be read, they are kept: then no event is lost, and only rows are wasted.
    const webhooks = await list.read().catch(() => null);
    const wanted = this.#undecided
      .splice(0)
      .filter(({ app_slug }) => webhooks === null || wantsRefusals(webhooks, app_slug));
    if (wanted.length === 0) return;
    for (const refusal of wanted) refusals.add(refusal);
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
    const { store, refusals } = this.#parts;
    return { line: store.readNewestEntry()?.line ?? 0, refusal: refusals.newest_id };
  }

  /** Whether the account has the webhook's app. */
  #isUsed({ app_slug }: Webhook): boolean {
    return this.#parts.store.readApp(app_slug) !== null;
  }

  /** Whether the webhook receives an event that its sender was not notified of. */
  #hasNews(webhook: Webhook): boolean {
    const { uid, app_slug, events, thresholds, created_at_ms: since_ms } = webhook;
    const notified = this.#notified.get(uid) ?? this.#woken_with;
    const after = { ...notified, low_left: false };
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

function wantsRefusals(webhooks: readonly Webhook[], app_slug: string): boolean {
  return webhooks.some(
    (webhook) => webhook.app_slug === app_slug && webhook.events.includes("credits.refused"),
  );
}
