/**
 * The webhooks of apps for the engine that delivers to them: D1's `webhooks`, cached in memory for a minute, their
 * secrets, and the outcome of deliveries. `webhook_records.ts` saves webhooks.
 */
import { and, eq, isNull, lt, or } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SubscribableEvent } from "../domain/webhook.ts";
import { webhooks } from "./schema.ts";
import type { WebhookSecrets } from "./webhook_secrets.ts";

/** How long an isolate uses its copy of the webhooks without reading it again. */
const WEBHOOKS_CACHE_MS = 60_000;

/** The pause after a failed read, so that not every delivery waits for a time-out. */
const WEBHOOKS_RETRY_MS = 5_000;

/** The precision of the time of the last success: one written row a minute at most. */
const SUCCESS_PRECISION_MS = 60_000;

/** The longest reason of a pause or text of an error, in UTF-16 code units. */
const WEBHOOK_TEXT_MAX_LENGTH = 300;

export interface Webhook {
  /** Permanent. A webhook that is deleted and created again under its id has another one. */
  readonly uid: string;
  readonly app_slug: string;
  readonly id: string;
  readonly url: string;
  readonly events: readonly SubscribableEvent[];
  /** For `credits.low`, in ascending order. */
  readonly thresholds: readonly number[];
  /** Since when nothing is delivered, and why. Null: it is active. The reason of a pause by its owner is null. */
  readonly paused_at_ms: number | null;
  readonly paused_reason: string | null;
  /** The minute of the last successful delivery; null: none. */
  readonly last_success_at_ms: number | null;
  readonly last_error: string | null;
  readonly last_error_at_ms: number | null;
  readonly created_at_ms: number;
}

export interface Webhooks {
  /**
   * All webhooks, also paused ones, as of at most a minute ago; while D1 is unavailable, the last that were read.
   * @throws if D1 cannot be reached and nothing was read yet.
   */
  readAll(): Promise<readonly Webhook[]>;
  /**
   * The secrets that sign, newest first: one, or two within a day of a rotation. None if the webhook was deleted or the
   * key that sealed them was retired. Not cached. @throws if D1 cannot be reached.
   */
  secretsOf(uid: string): Promise<readonly string[]>;
  /** Pauses an active webhook. @throws if D1 cannot be reached. */
  pause(uid: string, reason: string): Promise<void>;
  /** Records a delivery that succeeded, to the minute. @throws if D1 cannot be reached. */
  recordSuccess(uid: string): Promise<void>;
  /** Records why a delivery failed: no secret and no content of a response. @throws if D1 cannot be reached. */
  recordError(uid: string, error: string): Promise<void>;
  /** Clears the cache after a change in this isolate. */
  forget(): void;
}

export function createWebhooks(binding: D1Database, secrets: WebhookSecrets): Webhooks {
  const database = drizzle(binding);
  let remembered: { readonly all: readonly Webhook[]; readonly read_at_ms: number } | null = null;
  let failed_at_ms = Number.NEGATIVE_INFINITY;
  let forgotten_at_ms = Number.NEGATIVE_INFINITY;
  /** The last recorded minute of each webhook in this isolate. */
  const succeeded_at_ms = new Map<string, number>();

  const refresh = async (): Promise<readonly Webhook[]> => {
    const read_at_ms = Date.now();
    const rows = await database.select().from(webhooks);
    const all = rows.map(webhookOf);
    // A slow read must not restore rows that a later read no longer had.
    const is_newest = read_at_ms >= Math.max(remembered?.read_at_ms ?? 0, forgotten_at_ms);
    if (is_newest) remembered = { all, read_at_ms };
    return all;
  };
  const set = (uid: string, values: Partial<typeof webhooks.$inferInsert>) =>
    database.update(webhooks).set(values).where(eq(webhooks.uid, uid));
  const forget = (): void => {
    remembered = null;
    forgotten_at_ms = Date.now();
  };

  return {
    async readAll() {
      const now_ms = Date.now();
      const is_fresh = remembered !== null && now_ms - remembered.read_at_ms < WEBHOOKS_CACHE_MS;
      const is_pausing = now_ms - failed_at_ms < WEBHOOKS_RETRY_MS;
      if (remembered !== null && (is_fresh || is_pausing)) return remembered.all;
      try {
        return await refresh();
      } catch (error) {
        failed_at_ms = Date.now();
        console.warn({ event: "webhooks_read_failed" });
        if (remembered === null) throw error;
        return remembered.all;
      }
    },
    async secretsOf(uid) {
      const [row] = await database.select().from(webhooks).where(eq(webhooks.uid, uid));
      if (row === undefined) return [];
      const sealed = { key_id: row.secret_key_id, sealed: row.secret_sealed };
      const secret = await secrets.open(uid, sealed);
      const renewed = secret === null ? null : await secrets.renew(uid, secret, sealed);
      if (renewed !== null) {
        await database
          .update(webhooks)
          .set({ secret_key_id: renewed.key_id, secret_sealed: renewed.sealed })
          .where(and(eq(webhooks.uid, uid), eq(webhooks.secret_sealed, sealed.sealed)));
      }
      const { previous_key_id, previous_sealed, previous_until_ms } = row;
      const has_previous = previous_key_id !== null && previous_sealed !== null;
      const previous =
        has_previous && (previous_until_ms ?? 0) > Date.now()
          ? await secrets.open(uid, { key_id: previous_key_id, sealed: previous_sealed })
          : null;
      return [secret, previous].filter((it) => it !== null);
    },
    async pause(uid, reason) {
      await database
        .update(webhooks)
        .set({ paused_at_ms: Date.now(), paused_reason: shortened(reason) })
        .where(and(eq(webhooks.uid, uid), isNull(webhooks.paused_at_ms)));
      forget();
    },
    async recordSuccess(uid) {
      const now_ms = Date.now();
      const minute_ms = now_ms - (now_ms % SUCCESS_PRECISION_MS);
      if (succeeded_at_ms.get(uid) === minute_ms) return;
      const { last_success_at_ms } = webhooks;
      const is_older = or(isNull(last_success_at_ms), lt(last_success_at_ms, minute_ms));
      await database
        .update(webhooks)
        .set({ last_success_at_ms: minute_ms })
        .where(and(eq(webhooks.uid, uid), is_older));
      succeeded_at_ms.set(uid, minute_ms);
    },
    async recordError(uid, error) {
      await set(uid, { last_error: shortened(error), last_error_at_ms: Date.now() });
    },
    forget,
  };
}

const shortened = (text: string): string => text.slice(0, WEBHOOK_TEXT_MAX_LENGTH);

/** A row without its secrets. */
export function webhookOf(row: typeof webhooks.$inferSelect): Webhook {
  return {
    uid: row.uid,
    app_slug: row.app_slug,
    id: row.id,
    url: row.url,
    // The table has checked that both are JSON arrays, and `webhook_records.ts` what they contain.
    events: JSON.parse(row.events_json) as SubscribableEvent[],
    thresholds: JSON.parse(row.thresholds_json) as number[],
    paused_at_ms: row.paused_at_ms,
    paused_reason: row.paused_reason,
    last_success_at_ms: row.last_success_at_ms,
    last_error: row.last_error,
    last_error_at_ms: row.last_error_at_ms,
    created_at_ms: row.created_at_ms,
  };
}
