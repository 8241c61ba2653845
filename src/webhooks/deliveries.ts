/**
 * The deliveries of one webhook that wait, and how its deliveries go: a Durable Object with the webhook's `uid` as name. A
 * receiver that fails makes writes here for each account and attempt, and at most one a minute in D1 `DIRECTORY`, where
 * people sign in. The senders decide about their deliveries, and this list may be seconds late.
 */
import { DurableObject } from "cloudflare:workers";
import { reportError } from "../domain/error_report.ts";
import { DAY_MS } from "../domain/calendar.ts";
import { assertInvariant } from "../domain/result.ts";
import type { ActiveAccount, ActiveSince, WebhookOutcome } from "../domain/webhook_delivery.ts";
import { shownAt, withAttempt, type RecordedAttempt } from "./attempts.ts";
import type {
  DeliveryPageRequest,
  ListedDelivery,
  WebhookDeliveriesOperations,
} from "./deliveries_contract.ts";
import { DeliveryStore } from "./delivery_store.ts";
import { beginReplay, replayAfter, type Replay } from "./replay.ts";
import type { Webhook } from "./sender_contract.ts";

/** How long a delivery is listed after its last attempt. */
const DELIVERY_KEPT_MS = 30 * DAY_MS;

/** How much later than planned a retry is before its sender has lost its alarm. */
const OVERDUE_MS = 15 * 60_000;

/** Senders that are woken, and a portion of the deliveries that are deleted, at once. */
const SENDERS_WOKEN = 100;
const DELETED_AT_ONCE = 1_000;

/** Rows of active accounts that one round of a replay looks at. */
const ACCOUNTS_REPLAYED = 100;

/** How often a round calls an account or a sender that cannot be reached. */
const ATTEMPTS_MAX = 3;

/** How often overdue and old deliveries are looked for. */
const CHECK_MS = 10 * 60_000;

/**
 * How late the directory may know how deliveries go. It knows at once that they begin to fail, or succeed again, if nothing
 * was noted within this time.
 */
const NOTED_WITHIN_MS = 60_000;

/** The pause after a round that failed. */
const RETRY_MS = 30_000;

/** The precision of the time of the last success. */
const SUCCESS_PRECISION_MS = 60_000;

export interface DeliveriesParts {
  /** Null: the webhook was deleted. @throws if the directory cannot be reached. */
  findWebhook(uid: string): Promise<Webhook | null>;
  /** Notes in the directory how deliveries go. @throws if it cannot be reached. */
  saveOutcome(uid: string, outcome: WebhookOutcome): Promise<void>;
  /** The next accounts of a walk. @throws if the read model cannot be reached. */
  listActive(after: ActiveSince, limit: number): Promise<readonly ActiveAccount[]>;
  /** Sends the events of an account since a time again. @throws if the account or its sender cannot be reached. */
  replay(webhook: Webhook, identity_id: string, since_ms: number): Promise<void>;
  /** Calls the sender of an account's events. @returns whether an event waits there. @throws if it cannot be reached. */
  callSender(how: "wake" | "resume", uid: string, identity_id: string): Promise<boolean>;
}

const ATTEMPTS = "attempts";
const OUTCOME = "outcome";
/** When the directory was told last, in milliseconds since the epoch. */
const NOTED = "noted_at_ms";
/** Present: the directory does not know the outcome yet. Another one has another value. */
const UNNOTED = "unnoted";
/** Present: a {@link Replay} goes on. */
const REPLAY = "replay";
/** Present: a {@link Resumption} goes on, because the webhook is active again. */
const RESUMED = "resumed";

/** The senders after an identity are to be woken. Each begin has another id. */
interface Resumption {
  readonly id: string;
  readonly after_identity_id: string;
}

const KEYS = [ATTEMPTS, OUTCOME, NOTED, UNNOTED, RESUMED, REPLAY];

const NO_OUTCOME: WebhookOutcome = {
  last_success_at_ms: null,
  last_error: null,
  last_error_at_ms: null,
  failing_since_ms: null,
};

/** `worker.ts` extends it with its parts. */
export abstract class Deliveries extends DurableObject<Env> implements WebhookDeliveriesOperations {
  /** @throws if the settings are wrong. */
  protected abstract openParts(): DeliveriesParts;

  readonly #deliveries = new DeliveryStore(this.ctx.storage.sql);

  save(delivery: ListedDelivery): Promise<void> {
    this.#deliveries.save(delivery);
    return this.#alarmBy(Date.now() + CHECK_MS);
  }

  drop(identity_id: string): void {
    this.#deliveries.drop(identity_id);
  }

  list(page: DeliveryPageRequest): ReturnType<WebhookDeliveriesOperations["list"]> {
    const replays_since_ms = this.#replay()?.since_ms ?? null;
    const looked_at_to = this.#deliveries.lastLookedAt(page);
    return { deliveries: this.#deliveries.list(page), looked_at_to, replays_since_ms };
  }

  forget(identity_id: string): void {
    this.drop(identity_id);
    this.#keepAttempts((one) => one.identity_id !== identity_id);
  }

  attempts(): readonly RecordedAttempt[] {
    const known = this.ctx.storage.kv.get<readonly RecordedAttempt[]>(ATTEMPTS) ?? [];
    return shownAt(known, Date.now());
  }

  async record(attempt: RecordedAttempt): Promise<void> {
    this.ctx.storage.kv.put(ATTEMPTS, withAttempt(this.attempts(), attempt));
    const { reason } = attempt;
    const outcome = this.#outcome();
    const was_failing = outcome.failing_since_ms !== null;
    const now_ms = Date.now();
    if (reason === null) {
      const last_success_at_ms = now_ms - (now_ms % SUCCESS_PRECISION_MS);
      if (!was_failing && outcome.last_success_at_ms === last_success_at_ms) return;
      const succeeded = { last_success_at_ms, failing_since_ms: null };
      return this.#keep({ ...outcome, ...succeeded }, was_failing);
    }
    const failing_since_ms = outcome.failing_since_ms ?? now_ms;
    const failed = { last_error: reason, last_error_at_ms: now_ms };
    return this.#keep({ ...outcome, ...failed, failing_since_ms }, !was_failing);
  }

  async resume(): Promise<void> {
    this.ctx.storage.kv.put(RESUMED, { id: crypto.randomUUID(), after_identity_id: "" });
    await this.#alarmBy(Date.now());
    await this.#resumeSome();
  }

  async replay(since_ms: number): Promise<void> {
    const known_ms = this.#replay()?.since_ms ?? since_ms;
    const begun = beginReplay(Math.min(since_ms, known_ms));
    this.ctx.storage.kv.put(REPLAY, begun);
    await this.#alarmBy(Date.now());
  }

  async check(): Promise<void> {
    if (this.#hasWork()) await this.#alarmBy(Date.now() + CHECK_MS);
  }

  override async alarm(): Promise<void> {
    let next_ms = RETRY_MS;
    try {
      next_ms = await this.#round();
    } catch (error) {
      console.warn({ event: "webhook_deliveries_failed", ...reportError(error) });
    }
    if (this.#hasWork()) await this.#alarmBy(Date.now() + next_ms);
    // Without work it only looks whether the webhook was deleted, because a response of its receiver is stored here.
    else if (this.ctx.storage.kv.get(OUTCOME) !== undefined)
      await this.#alarmBy(Date.now() + DAY_MS);
  }

  /** @returns the time until the next round */
  async #round(): Promise<number> {
    const parts = this.openParts();
    const webhook = await parts.findWebhook(this.#uid);
    if (webhook === null) {
      this.#deliveries.deleteOlder(Number.MAX_SAFE_INTEGER, DELETED_AT_ONCE);
      for (const key of KEYS) this.ctx.storage.kv.delete(key);
      return 0;
    }
    await this.#note();
    const now_ms = Date.now();
    this.#deliveries.deleteOlder(now_ms - DELIVERY_KEPT_MS, DELETED_AT_ONCE);
    this.#keepAttempts(() => true);
    if (await this.#resumeSome()) return 0;
    if (await this.#replaySome(webhook)) return 0;
    const overdue = this.#deliveries.listDueBefore(now_ms - OVERDUE_MS, SENDERS_WOKEN);
    await this.#call("wake", overdue);
    return overdue.length < SENDERS_WOKEN ? CHECK_MS : RETRY_MS;
  }

  /** Wakes a portion of the senders that a resumption wakes. @returns whether there are more. */
  async #resumeSome(): Promise<boolean> {
    const { kv } = this.ctx.storage;
    const resumed = kv.get<Resumption>(RESUMED);
    if (resumed === undefined) return false;
    const { id, after_identity_id } = resumed;
    const page = { status: null, after_identity_id, limit: SENDERS_WOKEN };
    const portion = this.#deliveries.list(page);
    await this.#call("resume", portion);
    const now = kv.get<Resumption>(RESUMED);
    // Another call may have gone on, or begun again.
    if (now?.id === id && now.after_identity_id === after_identity_id) {
      const last = portion.length < SENDERS_WOKEN ? undefined : portion.at(-1);
      if (last === undefined) kv.delete(RESUMED);
      else kv.put(RESUMED, { id, after_identity_id: last.identity_id });
    }
    return kv.get(RESUMED) !== undefined;
  }

  /** Sends a portion of a replay. @returns whether there is more. @throws if the read model cannot be reached. */
  async #replaySome(webhook: Webhook): Promise<boolean> {
    const replay = this.#replay();
    // A paused webhook goes on with it when it is active again.
    if (replay === null || webhook.paused_at_ms !== null) return false;
    const parts = this.openParts();
    const portion = await parts.listActive(replay, ACCOUNTS_REPLAYED);
    const people = portion.flatMap(({ identity_id, is_known }) =>
      is_known || identity_id === null ? [] : [identity_id],
    );
    await this.#each(people, (identity_id) => parts.replay(webhook, identity_id, replay.since_ms));
    const { kv } = this.ctx.storage;
    // Another replay may have begun.
    if (this.#replay()?.id === replay.id) {
      const last = portion.length < ACCOUNTS_REPLAYED ? undefined : portion.at(-1);
      if (last === undefined) kv.delete(REPLAY);
      else kv.put(REPLAY, replayAfter(replay, last));
    }
    return this.#replay() !== null;
  }

  #replay(): Replay | null {
    return this.ctx.storage.kv.get<Replay>(REPLAY) ?? null;
  }

  async #call(how: "wake" | "resume", portion: readonly ListedDelivery[]): Promise<void> {
    const parts = this.openParts();
    await this.#each(portion, async (delivery) => {
      const waits = await parts.callSender(how, this.#uid, delivery.identity_id);
      // The event was delivered, but its row could not be deleted.
      if (!waits) this.#deliveries.dropUnchanged(delivery);
    });
  }

  /** Does something with each one. One that still fails after some attempts is left out, so that it stops no other. */
  async #each<One>(all: readonly One[], work: (one: One) => Promise<void>): Promise<void> {
    let left = all;
    let reason: unknown = null;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const tried = await Promise.allSettled(left.map(work));
      left = left.filter((_, at) => tried[at]?.status === "rejected");
      [reason] = tried.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    }
    if (left.length === 0) return;
    console.warn({ event: "webhook_calls_failed", calls: left.length, ...reportError(reason) });
  }

  get #uid(): string {
    const { name } = this.ctx.id;
    assertInvariant(name !== undefined, "the deliveries of a webhook are reached by name");
    return name;
  }

  #keepAttempts(isKept: (attempt: RecordedAttempt) => boolean): void {
    const { kv } = this.ctx.storage;
    const known = kv.get<readonly RecordedAttempt[]>(ATTEMPTS) ?? [];
    const kept = shownAt(known, Date.now()).filter(isKept);
    if (kept.length < known.length) kv.put(ATTEMPTS, kept);
  }

  #outcome(): WebhookOutcome {
    return this.ctx.storage.kv.get<WebhookOutcome>(OUTCOME) ?? NO_OUTCOME;
  }

  async #keep(outcome: WebhookOutcome, is_noted_now: boolean): Promise<void> {
    const { kv } = this.ctx.storage;
    kv.put(OUTCOME, outcome);
    kv.put(UNNOTED, crypto.randomUUID());
    const now_ms = Date.now();
    await this.#alarmBy(now_ms + NOTED_WITHIN_MS);
    const noted_ms = kv.get<number>(NOTED) ?? -Infinity;
    if (is_noted_now && now_ms - noted_ms >= NOTED_WITHIN_MS) await this.#note();
  }

  async #note(): Promise<void> {
    const { kv } = this.ctx.storage;
    const unnoted = kv.get(UNNOTED);
    if (unnoted === undefined) return;
    kv.put(NOTED, Date.now());
    await this.openParts().saveOutcome(this.#uid, this.#outcome());
    if (kv.get(UNNOTED) === unnoted) kv.delete(UNNOTED);
  }

  #hasWork(): boolean {
    const { kv } = this.ctx.storage;
    if ([UNNOTED, RESUMED, REPLAY].some((key) => kv.get(key) !== undefined)) return true;
    return !this.#deliveries.isEmpty;
  }

  /** Sets the alarm, unless it fires earlier. */
  async #alarmBy(at_ms: number): Promise<void> {
    const known_ms = await this.ctx.storage.getAlarm();
    if (known_ms === null || known_ms > at_ms) await this.ctx.storage.setAlarm(at_ms);
  }
}
