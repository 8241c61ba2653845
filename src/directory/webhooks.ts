/**
 * The webhooks of apps for the engine that delivers to them: D1's `webhooks`, cached in memory for a minute, their
 * secrets, and the outcome of deliveries. `webhook_records.ts` saves webhooks.
 */
import { and, eq, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import type { PausedWebhook } from "../domain/health.ts";
import { webhooks } from "./schema.ts";
import { createWebhookList, type Webhook, type WebhookList } from "./webhook_list.ts";
import type { WebhookSecrets } from "./webhook_secrets.ts";

export type { Webhook } from "./webhook_list.ts";

/** The precision of the time of the last success: one written row a minute at most. */
const SUCCESS_PRECISION_MS = 60_000;

/** The longest reason of a pause or text of an error, in UTF-16 code units. */
const WEBHOOK_TEXT_MAX_LENGTH = 300;

export class Webhooks {
  readonly #secrets: WebhookSecrets;
  readonly #list: WebhookList;
  readonly #database: DrizzleD1Database;
  /** The last recorded minute of each webhook in this isolate. */
  readonly #succeeded_at_ms = new Map<string, number>();

  constructor(
    binding: D1Database,
    secrets: WebhookSecrets,
    list: WebhookList = createWebhookList(binding),
  ) {
    this.#secrets = secrets;
    this.#list = list;
    this.#database = drizzle(binding);
  }

  /**
   * All webhooks, also paused ones, as of at most a minute ago; while D1 is unavailable, the last that were read.
   * @throws if D1 cannot be reached and nothing was read yet.
   */
  readAll(): Promise<readonly Webhook[]> {
    return this.#list.read();
  }

  /**
   * The secrets that sign, newest first: one, or two within a day of a rotation. None if the webhook was deleted or the
   * key that sealed them was retired. Not cached. @throws if D1 cannot be reached.
   */
  async secretsOf(uid: string): Promise<readonly string[]> {
    const [row] = await this.#database.select().from(webhooks).where(eq(webhooks.uid, uid));
    if (row === undefined) return [];
    const sealed = { key_id: row.secret_key_id, sealed: row.secret_sealed };
    const secret = await this.#secrets.open(uid, sealed);
    const renewed = secret === null ? null : await this.#secrets.renew(uid, secret, sealed);
    if (renewed !== null) {
      await this.#database
        .update(webhooks)
        .set({ secret_key_id: renewed.key_id, secret_sealed: renewed.sealed })
        .where(and(eq(webhooks.uid, uid), eq(webhooks.secret_sealed, sealed.sealed)));
    }
    const { previous_key_id, previous_sealed, previous_until_ms } = row;
    const has_previous = previous_key_id !== null && previous_sealed !== null;
    const previous =
      has_previous && (previous_until_ms ?? 0) > Date.now()
        ? await this.#secrets.open(uid, { key_id: previous_key_id, sealed: previous_sealed })
        : null;
    return [secret, previous].filter((it) => it !== null);
  }

  /** Pauses an active webhook. @throws if D1 cannot be reached. */
  async pause(uid: string, reason: string): Promise<void> {
    await this.#database
      .update(webhooks)
      .set({ paused_at_ms: Date.now(), paused_reason: shortened(reason) })
      .where(and(eq(webhooks.uid, uid), isNull(webhooks.paused_at_ms)));
    this.#list.forget();
  }

  /** The webhooks that {@link pause} paused. @throws if D1 cannot be reached. */
  async listPaused(): Promise<readonly PausedWebhook[]> {
    const rows = await this.#database
      .select()
      .from(webhooks)
      .where(isNotNull(webhooks.paused_reason));
    return rows.map(({ app_slug, id, paused_at_ms }) => ({
      app_slug,
      id,
      paused_at_ms: paused_at_ms ?? 0,
    }));
  }

  /** Records a delivery that succeeded, to the minute. @throws if D1 cannot be reached. */
  async recordSuccess(uid: string): Promise<void> {
    const now_ms = Date.now();
    const minute_ms = now_ms - (now_ms % SUCCESS_PRECISION_MS);
    if (this.#succeeded_at_ms.get(uid) === minute_ms) return;
    const { last_success_at_ms, failing_since_ms } = webhooks;
    const is_older = or(isNull(last_success_at_ms), lt(last_success_at_ms, minute_ms));
    await this.#database
      .update(webhooks)
      .set({ last_success_at_ms: minute_ms, failing_since_ms: null })
      .where(and(eq(webhooks.uid, uid), or(is_older, isNotNull(failing_since_ms))));
    this.#succeeded_at_ms.set(uid, minute_ms);
  }

  /** Records why a delivery failed: no secret and no content of a response. @throws if D1 cannot be reached. */
  async recordError(uid: string, error: string): Promise<void> {
    const now_ms = Date.now();
    // A success of the same minute is then recorded again.
    this.#succeeded_at_ms.delete(uid);
    await this.#database
      .update(webhooks)
      .set({
        last_error: shortened(error),
        last_error_at_ms: now_ms,
        failing_since_ms: sql`coalesce(${webhooks.failing_since_ms}, ${now_ms})`,
      })
      .where(eq(webhooks.uid, uid));
  }

  /** Clears the cache after a change in this isolate. */
  forget(): void {
    return this.#list.forget();
  }
}

const shortened = (text: string): string => text.slice(0, WEBHOOK_TEXT_MAX_LENGTH);
