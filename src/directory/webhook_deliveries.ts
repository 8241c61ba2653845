/**
 * Deliveries to webhooks that wait, for operators and for the resumption of a paused webhook: D1's `webhook_deliveries`.
 * A sender delivers in order, so it has at most one. The sender decides, and this list may be seconds late.
 */
import { and, asc, eq, gt, isNotNull, lt, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { webhookDeliveries } from "./schema.ts";

/** How long a delivery is listed after its last attempt. */
const DELIVERY_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** How much later than planned a retry is before its sender has lost its alarm. */
const OVERDUE_MS = 15 * 60_000;

export type WebhookDelivery = typeof webhookDeliveries.$inferSelect;

/** The sender of a delivery. `resumes`: its webhook is active again. */
interface WaitingSender {
  readonly webhook_uid: string;
  readonly identity_id: string;
  readonly resumes: boolean;
}

const { webhook_uid, identity_id, retry_at_ms, status, at_ms } = webhookDeliveries;

const of = (uid: string, identity: string) => and(eq(webhook_uid, uid), eq(identity_id, identity));
const isOverdue = (now_ms: number) =>
  and(isNotNull(retry_at_ms), lt(retry_at_ms, now_ms - OVERDUE_MS));

/** The time of a retry that a resumption waits for. */
const RESUMED_MS = 0;

/** Each method rejects if D1 cannot be reached. */
export class WebhookDeliveries {
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database) {
    this.#database = drizzle(binding);
  }

  async save(delivery: WebhookDelivery): Promise<void> {
    await this.#database
      .insert(webhookDeliveries)
      .values(delivery)
      .onConflictDoUpdate({ target: [webhook_uid, identity_id], set: delivery });
  }

  /** The delivery succeeded, or will never be tried again. */
  async drop(uid: string, identity: string): Promise<void> {
    await this.#database.delete(webhookDeliveries).where(of(uid, identity));
  }

  /** As {@link drop}, unless the sender has saved another retry meanwhile. */
  async dropOverdue(uid: string, identity: string, now_ms: number): Promise<void> {
    await this.#database.delete(webhookDeliveries).where(and(of(uid, identity), isOverdue(now_ms)));
  }

  /** The deliveries of a webhook by identity, after `after_identity_id`. */
  async list(
    uid: string,
    {
      status: wanted,
      after_identity_id,
      limit,
    }: {
      readonly status: WebhookDelivery["status"] | null;
      readonly after_identity_id: string;
      readonly limit: number;
    },
  ): Promise<readonly WebhookDelivery[]> {
    return this.#database
      .select()
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhook_uid, uid),
          gt(identity_id, after_identity_id),
          wanted === null ? undefined : eq(status, wanted),
        ),
      )
      .orderBy(asc(identity_id))
      .limit(limit);
  }

  /** The webhook is active again: its senders are overdue now. */
  async resume(uid: string): Promise<void> {
    await this.#database
      .update(webhookDeliveries)
      .set({ status: "pending", retry_at_ms: RESUMED_MS })
      .where(eq(webhook_uid, uid));
  }

  /** Senders whose retry is overdue. */
  async listOverdue(now_ms: number, limit: number): Promise<readonly WaitingSender[]> {
    const rows = await this.#database
      .select({ webhook_uid, identity_id, retry_at_ms })
      .from(webhookDeliveries)
      .where(isOverdue(now_ms))
      .orderBy(asc(retry_at_ms))
      .limit(limit);
    return rows.map(({ retry_at_ms: due_ms, ...sender }) => ({
      ...sender,
      resumes: due_ms === RESUMED_MS,
    }));
  }

  /** Deletes old deliveries, and those of deleted webhooks. */
  async deleteOld(now_ms: number): Promise<number> {
    const { meta } = await this.#database.run(sql`
        delete from ${webhookDeliveries} where ${at_ms} < ${now_ms - DELIVERY_KEPT_MS}
          or ${webhook_uid} not in (select uid from webhooks)`);
    return meta.changes;
  }
}
