/**
 * The work that follows the commit of a transaction, in this order:
 *
 * 1. Streams get the new entries, and then events that have no entry. Those whose credential ended with it are closed.
 * 2. The read model gets the new entries.
 * 3. The senders of webhooks are notified of new events.
 *
 * In an account that was quiet, 2 and 3 begin at once, after the response. The alarm that was set in the transaction is
 * then only a guarantee, 15 minutes later. Most jobs end before it, and need no alarm of their own. In a busy account, the
 * alarm delivers once a second. A deleted account has its erasure instead of 2 and 3.
 */
import type { AccessEvent } from "../domain/access_event.ts";
import { PROJECTION_RETRY_MAX_MS } from "../domain/back_off.ts";
import type { Lot } from "../domain/lots.ts";
import { reportError } from "../domain/error_report.ts";
import { requestFields } from "../domain/request_origin.ts";
import type { Erasure } from "./deletion/erasure.ts";
import type { ProgressedJobEvent, StreamedAccessEvent } from "./events/messages.ts";
import type { Streams } from "./events/streams.ts";
import type { Alarm } from "./sync/alarm.ts";
import type { JobRow } from "./sql/schema.ts";
import type { Outbox } from "./sync/outbox.ts";
import { DELIVERY_DELAY_MS } from "./sync/repair.ts";
import type { Announcements, StreamsToClose, TopUpEvent } from "./transaction.ts";
import type { WebhookOutbox } from "./webhooks/outbox.ts";

interface Followers {
  readonly alarm: Alarm;
  readonly streams: Streams;
  readonly outbox: Outbox;
  readonly webhooks: WebhookOutbox;
  readonly erasure: Erasure;
}

export class AfterCommit implements Announcements {
  readonly #followers: Followers;
  #streams_are_behind = false;
  #streams_to_close: StreamsToClose | null = null;
  /** For the streams, which get them only now. */
  #access_events: StreamedAccessEvent[] = [];
  #progressed_jobs: ProgressedJobEvent[] = [];
  #delivers_at_once = false;
  /** When this instance's last delivery to the read model began. */
  #began_at_ms = Number.NEGATIVE_INFINITY;
  /** When a delivery is due whose alarm was dropped, because it failed too often; null: none. */
  #left_due_at_ms: number | null = null;

  /**
   * While jobs are started, an alarm is always armed. If it is missing, it was dropped, maybe together with a delivery.
   */
  constructor(followers: Followers, has_started_jobs: () => boolean) {
    this.#followers = followers;
    const { alarm, outbox } = followers;
    if (alarm.armed_at_ms !== null) return;
    this.#left_due_at_ms = outbox.due_at_ms ?? (has_started_jobs() ? Date.now() : null);
  }

  /** Before a transaction: announcements of one that was rolled back count no more. */
  begin(): void {
    this.#streams_are_behind = false;
    this.#streams_to_close = null;
    this.#access_events = [];
    this.#progressed_jobs = [];
  }

  entryAdded(now_ms: number): void {
    this.#streams_are_behind = true;
    this.#announceDelivery(now_ms);
  }

  jobProgressed(job: JobRow, has_entry: boolean, now_ms: number): void {
    // Streams send an entry's job with the entry.
    if (!has_entry) this.#progressed_jobs.push({ id: crypto.randomUUID(), job, at_ms: now_ms });
    if (this.#followers.webhooks.keepProgress(job, now_ms)) this.#announceDelivery(now_ms);
  }

  requestRefused(app_slug: string, now_ms: number): void {
    if (this.#followers.webhooks.keepRefused(app_slug, now_ms)) this.#announceDelivery(now_ms);
  }

  creditsExpiring(lot: Lot, now_ms: number): void {
    if (this.#followers.webhooks.keepExpiring(lot, now_ms)) this.#announceDelivery(now_ms);
  }

  topUpChanged(event: TopUpEvent, now_ms: number): void {
    if (this.#followers.webhooks.keepTopUp(event, now_ms)) this.#announceDelivery(now_ms);
  }

  accessChanged(event: AccessEvent, now_ms: number): void {
    const id = crypto.randomUUID();
    this.#access_events.push({ ...event, id, at_ms: now_ms });
    if (this.#followers.webhooks.keepAccessEvent(event, id, now_ms)) this.#announceDelivery(now_ms);
  }

  credentialsEnded(): void {
    this.#streams_are_behind = true;
  }

  streamsEnded(which: StreamsToClose): void {
    this.#streams_to_close = which;
  }

  /** Sets the alarm in the transaction, so that everything new has one. */
  #announceDelivery(now_ms: number): void {
    const { alarm } = this.#followers;
    if (now_ms - this.#began_at_ms < DELIVERY_DELAY_MS) {
      return alarm.by(now_ms + DELIVERY_DELAY_MS);
    }
    alarm.by(now_ms + PROJECTION_RETRY_MAX_MS);
    this.#delivers_at_once = true;
  }

  /** The transaction is committed. Never throws. */
  run(): void {
    const { alarm, streams, webhooks, erasure } = this.#followers;
    // After the commit, so that no stream sends an entry that was rolled back.
    if (this.#streams_are_behind) streams.publish();
    if (this.#access_events.length > 0) streams.tell(this.#access_events);
    for (const progressed of this.#progressed_jobs) streams.tellProgress(progressed);
    if (this.#streams_to_close !== null) streams.close(this.#streams_to_close);
    if (erasure.has_begun) return erasure.ensureAlarm(alarm);
    if (this.#left_due_at_ms !== null) alarm.by(this.#left_due_at_ms);
    this.#left_due_at_ms = null;
    this.#inBackground(webhooks.decide(alarm));
    if (!this.#delivers_at_once) return;
    this.#inBackground(this.deliver());
    this.#inBackground(webhooks.flush("new"));
  }

  /** Sends the read model what it lacks, as {@link Outbox.flush}. */
  async deliver(): Promise<number | null> {
    this.#delivers_at_once = false;
    this.#left_due_at_ms = null;
    this.#began_at_ms = Date.now();
    return this.#followers.outbox.flush();
  }

  #inBackground(work: Promise<number | null | void>): void {
    const request = requestFields();
    void work.then(
      (at_ms) => typeof at_ms === "number" && this.#followers.alarm.by(at_ms),
      // The alarm retries.
      (error: unknown) =>
        console.warn({ event: "delivery_failed", ...request, ...reportError(error) }),
    );
  }
}
