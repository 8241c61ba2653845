/** The webhooks of apps for operators and the apps' own servers: they save, list, rotate and delete them. */
import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import type { FailingWebhook } from "../domain/health.ts";
import { limitReached } from "../domain/limit_reached.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { PREVIOUS_SECRET_MS, WEBHOOKS_PER_APP_MAX } from "../domain/webhook.ts";
import type { SubscribableEvent } from "../domain/webhook.ts";
import { isRegistered } from "./app_records.ts";
import { webhooks } from "./schema.ts";
import { webhookOf, type Webhook } from "./webhook_list.ts";
import type { WebhookSecrets } from "./webhook_secrets.ts";

/** Valid settings. An undefined one gets its default in a new webhook and does not change in another. */
export interface WebhookSettings {
  readonly url: string;
  readonly events: readonly SubscribableEvent[];
  /** By default none. */
  readonly thresholds?: readonly number[] | undefined;
  /** By default true. */
  readonly active?: boolean | undefined;
}

/** The app and the id of a webhook. */
export interface WebhookKey {
  readonly app_slug: string;
  readonly id: string;
}

export interface SavedWebhook {
  readonly record: Webhook;
  /** Only when this call created it. */
  readonly secret: string | null;
}

/** Each method rejects if D1 cannot be reached; the change may have happened or not. `changed` is called after each change. */
export class WebhookRecords {
  readonly #secrets: WebhookSecrets;
  readonly #changed: () => void;
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database, secrets: WebhookSecrets, changed: () => void) {
    this.#secrets = secrets;
    this.#changed = changed;
    this.#database = drizzle(binding);
  }

  /** The app's webhooks by id. Refused as `app_not_found`. */
  async list(app_slug: string): Promise<Result<readonly Webhook[], Refusal>> {
    const rows = await this.#database
      .select()
      .from(webhooks)
      .where(eq(webhooks.app_slug, app_slug))
      .orderBy(asc(webhooks.id));
    if (rows.length > 0 || (await isRegistered(this.#database, app_slug)))
      return accepted(rows.map(webhookOf));
    return refused({ code: "app_not_found" });
  }

  /** Active webhooks whose last delivery failed, by app: those that fail for the longest time, at most `limit`. */
  async listFailing(limit: number): Promise<readonly FailingWebhook[]> {
    const { app_slug, id, failing_since_ms } = webhooks;
    const rows = await this.#database
      .select({ app_slug, id, failing_since_ms })
      .from(webhooks)
      .where(and(isNotNull(failing_since_ms), isNull(webhooks.paused_at_ms)))
      .orderBy(asc(failing_since_ms))
      .limit(limit);
    return rows.map((row) => ({ ...row, failing_since_ms: row.failing_since_ms ?? 0 }));
  }

  /** Refused as `webhook_not_found`. */
  async find(app_slug: string, id: string): Promise<Result<Webhook, Refusal>> {
    const row = await this.#read(app_slug, id);
    return row === null ? refused({ code: "webhook_not_found" }) : accepted(webhookOf(row));
  }

  /**
   * Creates a webhook if there was none before, else changes the version that was read. Null: there is another version, and
   * nothing was changed. Refused as `app_not_found` or `limit_reached`.
   */
  async save(
    { app_slug, id }: WebhookKey,
    settings: WebhookSettings,
    { before, audit_id }: { readonly before: Webhook | null; readonly audit_id: string },
  ): Promise<Result<SavedWebhook | null, Refusal>> {
    if (before !== null) return this.#change(before, settings, audit_id);
    const uid = crypto.randomUUID();
    const now_ms = Date.now();
    const { secret, sealed } = await this.#secrets.create(uid);
    const { url, events, thresholds = [], active = true } = settings;
    // One query decides, so that concurrent requests cannot exceed the limit, and none is refused without need.
    const [row] = await this.#database
      .insert(webhooks)
      .select(
        sql`
          select ${uid}, ${app_slug}, ${id}, ${url}, ${JSON.stringify(events)},
            ${JSON.stringify(thresholds)}, ${active ? null : now_ms}, null, null, null, null, null, ${now_ms},
            ${sealed.key_id}, ${sealed.sealed}, null, null, null, ${audit_id}, null, 1
          where exists (select 1 from apps where slug = ${app_slug})
            and (select count(*) from webhooks where app_slug = ${app_slug}) < ${WEBHOOKS_PER_APP_MAX}`,
      )
      .onConflictDoNothing()
      .returning();
    this.#changed();
    if (row !== undefined) return accepted({ record: webhookOf(row), secret });
    if ((await this.#read(app_slug, id)) !== null) return accepted(null);
    return (await isRegistered(this.#database, app_slug))
      ? refused(limitReached("webhooks"))
      : refused({ code: "app_not_found" });
  }

  /**
   * Replaces the secret. The previous one signs too for {@link PREVIOUS_SECRET_MS}. Null instead of the secret if the
   * same audit record rotated it before. Refused as `webhook_not_found`.
   */
  async rotate(
    app_slug: string,
    id: string,
    audit_id: string,
  ): Promise<Result<string | null, Refusal>> {
    const row = await this.#read(app_slug, id);
    if (row === null) return refused({ code: "webhook_not_found" });
    if (row.rotated_audit_id === audit_id) return accepted(null);
    const { secret, sealed } = await this.#secrets.create(row.uid);
    const { meta } = await this.#database
      .update(webhooks)
      .set({
        secret_key_id: sealed.key_id,
        secret_sealed: sealed.sealed,
        previous_key_id: row.secret_key_id,
        previous_sealed: row.secret_sealed,
        previous_until_ms: Date.now() + PREVIOUS_SECRET_MS,
        rotated_audit_id: audit_id,
      })
      // Only the secret that was read becomes the previous one.
      .where(and(eq(webhooks.uid, row.uid), eq(webhooks.secret_sealed, row.secret_sealed)));
    this.#changed();
    return meta.changes > 0 ? accepted(secret) : this.rotate(app_slug, id, audit_id);
  }

  /** Refused as `webhook_not_found`. */
  async remove(app_slug: string, id: string): Promise<Result<null, Refusal>> {
    const { meta } = await this.#database.delete(webhooks).where(isOf(app_slug, id));
    this.#changed();
    return meta.changes > 0 ? accepted(null) : refused({ code: "webhook_not_found" });
  }

  async #read(app_slug: string, id: string) {
    const [row] = await this.#database.select().from(webhooks).where(isOf(app_slug, id));
    return row ?? null;
  }

  async #change(
    { uid, version }: Webhook,
    { url, events, thresholds, active }: WebhookSettings,
    audit_id: string,
  ): Promise<Result<SavedWebhook | null, Refusal>> {
    const [row] = await this.#database
      .update(webhooks)
      .set({
        url,
        events,
        thresholds,
        ...(active === true ? { paused_at_ms: null, paused_reason: null } : {}),
        // A webhook that is already paused keeps its time and reason.
        ...(active === false
          ? { paused_at_ms: sql`coalesce(${webhooks.paused_at_ms}, ${Date.now()})` }
          : {}),
        version: version + 1,
        last_audit_id: audit_id,
      })
      .where(and(eq(webhooks.uid, uid), eq(webhooks.version, version)))
      .returning();
    this.#changed();
    return accepted(row === undefined ? null : { record: webhookOf(row), secret: null });
  }
}

const isOf = (app_slug: string, id: string) =>
  and(eq(webhooks.app_slug, app_slug), eq(webhooks.id, id));
