/**
 * The webhooks of apps for the engine that delivers to them: D1's `webhooks`, cached in memory for a minute, their
 * secrets, and the outcome of deliveries. `webhook_records.ts` saves webhooks.
 */
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import type { PausedWebhook } from "../domain/health.ts";
import type { WebhookOutcome } from "../domain/webhook_delivery.ts";
import { webhooks } from "./schema.ts";
import { createWebhookList, webhookOf, type Webhook, type WebhookList } from "./webhook_list.ts";
import type { WebhookSecrets } from "./webhook_secrets.ts";

export type { Webhook } from "./webhook_list.ts";

/** The longest reason of a pause or text of an error, in UTF-16 code units. */
const WEBHOOK_TEXT_MAX_LENGTH = 300;

export class Webhooks {
  readonly #secrets: WebhookSecrets;
  readonly #list: WebhookList;
  readonly #database: DrizzleD1Database;

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
   * One webhook, as of at most a minute ago, unless it is paused or unknown then; while D1 is unavailable, as it was read
   * last. Null: it was deleted. @throws if it must be read and D1 cannot be reached.
   */
  async find(uid: string): Promise<Webhook | null> {
    const row = await this.#list.findRow(uid);
    return row === null ? null : webhookOf(row);
  }

  /**
   * The secrets that sign, newest first: one, or two within a day of a rotation. None if the webhook was deleted or the
   * key that sealed them was retired. They are as old as those of {@link find}.
   */
  async secretsOf(uid: string): Promise<readonly string[]> {
    const row = await this.#list.findRow(uid);
    if (row === null) return [];
    const sealed = { key_id: row.secret_key_id, sealed: row.secret_sealed };
    const secret = await this.#secrets.open(uid, sealed);
    const renewed = secret === null ? null : await this.#secrets.renew(uid, secret, sealed);
    if (renewed !== null) {
      await this.#database
        .update(webhooks)
        .set({ secret_key_id: renewed.key_id, secret_sealed: renewed.sealed })
        .where(and(eq(webhooks.uid, uid), eq(webhooks.secret_sealed, sealed.sealed)));
      this.#list.forget();
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

  /** Notes how the deliveries of a webhook go. @throws if D1 cannot be reached. */
  async saveOutcome(uid: string, outcome: WebhookOutcome): Promise<void> {
    const { last_error } = outcome;
    const columns = { ...outcome, last_error: last_error === null ? null : shortened(last_error) };
    await this.#database.update(webhooks).set(columns).where(eq(webhooks.uid, uid));
  }

  /** Clears the cache after a change in this isolate. */
  forget(): void {
    return this.#list.forget();
  }
}

const shortened = (text: string): string => text.slice(0, WEBHOOK_TEXT_MAX_LENGTH);
