/**
 * When the read model receives a new entry. In an account that was quiet, it is sent at once, after the response. The
 * alarm that was set in the entry's transaction is then only a guarantee, 15 minutes later. Most jobs end before it,
 * and need no alarm of their own. In a busy account, the alarm delivers once a second.
 */
import { reportError } from "../../domain/error_report.ts";
import { requestFields } from "../../domain/request_origin.ts";
import { PROJECTION_RETRY_MAX_MS } from "../../domain/back_off.ts";
import type { Alarm } from "./alarm.ts";
import type { Outbox } from "./outbox.ts";

/** Tells the senders of webhooks what is new; see `webhooks/outbox.ts`. */
interface WebhookNotices {
  flush(scope: "new" | "all"): Promise<number | null>;
  decide(alarm: Alarm): Promise<void>;
}

/**
 * The shortest time between two deliveries of one account to the read model. The entries of an account that is
 * used rarely are sent at once; a busy account sends one batch a second.
 */
export const PROJECTION_DELAY_MS = 1_000;

export class Delivery {
  readonly #alarm: Alarm;
  readonly #outbox: Outbox;
  readonly #webhooks: WebhookNotices;
  /** When this instance's last delivery began. */
  #began_at_ms = Number.NEGATIVE_INFINITY;
  #is_owed = false;
  /** When a delivery is due whose alarm was dropped, because it failed too often; null: none. */
  #left_due_at_ms: number | null = null;

  /**
   * While jobs are started, an alarm is always armed. If it is missing, it was dropped, maybe together with a delivery.
   */
  constructor(
    alarm: Alarm,
    outbox: Outbox,
    webhooks: WebhookNotices,
    has_started_jobs: () => boolean,
  ) {
    this.#alarm = alarm;
    this.#outbox = outbox;
    this.#webhooks = webhooks;
    if (alarm.armed_at_ms !== null) return;
    this.#left_due_at_ms = outbox.due_at_ms ?? (has_started_jobs() ? Date.now() : null);
  }

  /** An entry was written. Called inside its transaction, so that every entry has an alarm. */
  owe(now_ms: number): void {
    if (now_ms - this.#began_at_ms < PROJECTION_DELAY_MS) {
      return this.#alarm.by(now_ms + PROJECTION_DELAY_MS);
    }
    this.#alarm.by(now_ms + PROJECTION_RETRY_MAX_MS);
    this.#is_owed = true;
  }

  /** After a transaction: sends at once if {@link owe} decided so, and arms the alarm that was dropped. */
  start(): void {
    if (this.#left_due_at_ms !== null) this.#alarm.by(this.#left_due_at_ms);
    this.#left_due_at_ms = null;
    this.#inBackground(this.#webhooks.decide(this.#alarm));
    if (!this.#is_owed) return;
    this.#inBackground(this.flush());
    this.#inBackground(this.#webhooks.flush("new"));
  }

  #inBackground(work: Promise<number | null | void>): void {
    const request = requestFields();
    void work.then(
      (at_ms) => typeof at_ms === "number" && this.#alarm.by(at_ms),
      // The alarm retries.
      (error: unknown) =>
        console.warn({ event: "delivery_failed", ...request, ...reportError(error) }),
    );
  }

  /** As {@link Outbox.flush}. */
  async flush(): Promise<number | null> {
    this.#is_owed = false;
    this.#left_due_at_ms = null;
    this.#began_at_ms = Date.now();
    return this.#outbox.flush();
  }
}
