/**
 * Deliveries to webhooks that wait, for operators and for the resumption of a paused webhook: D1's `webhook_deliveries`.
 * A sender delivers in order, so it has at most one. The sender decides, and this list may be seconds late.
 */
import { and, asc, eq, gt, isNotNull, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { webhookDeliveries } from "./schema.ts";

/** How long a delivery is listed after its last attempt. */
const DELIVERY_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** How much later than planned a retry is before its sender has lost its alarm. */
const OVERDUE_MS = 15 * 60_000;

export type WebhookDelivery = typeof webhookDeliveries.$inferSelect;

/** The sender of a delivery. `resumes`: its webhook is active again. */
export interface WaitingSender {
  readonly webhook_uid: string;
  readonly identity_id: string;
  readonly resumes: boolean;
}

/** Each method rejects if D1 cannot be reached. */
export interface WebhookDeliveries {
  save(delivery: WebhookDelivery): Promise<void>;
  /** The delivery succeeded, or will never be tried again. */
  drop(webhook_uid: string, identity_id: string): Promise<void>;
  /** As {@link drop}, unless the sender has saved another retry meanwhile. */
  dropOverdue(webhook_uid: string, identity_id: string, now_ms: number): Promise<void>;
  /** The deliveries of a webhook by identity, after `after_identity_id`. */
  list(
    webhook_uid: string,
    page: {
      readonly status: WebhookDelivery["status"] | null;
      readonly after_identity_id: string;
      readonly limit: number;
    },
  ): Promise<readonly WebhookDelivery[]>;
  /** The webhook is active again: its senders are overdue now. */
  resume(webhook_uid: string): Promise<void>;
  /** Senders whose retry is overdue. */
  listOverdue(now_ms: number, limit: number): Promise<readonly WaitingSender[]>;
  /** Deletes old deliveries, and those of deleted webhooks. */
  deleteOld(now_ms: number): Promise<number>;
}

/** The time of a retry that a resumption waits for. */
const RESUMED_MS = 0;

export function createWebhookDeliveries(binding: D1Database): WebhookDeliveries {
  const database = drizzle(binding);
  const { webhook_uid, identity_id, retry_at_ms, status, at_ms } = webhookDeliveries;
  const of = (uid: string, identity: string) =>
    and(eq(webhook_uid, uid), eq(identity_id, identity));
  const isOverdue = (now_ms: number) =>
    and(isNotNull(retry_at_ms), lt(retry_at_ms, now_ms - OVERDUE_MS));
  return {
    async save(delivery) {
      await database
        .insert(webhookDeliveries)
        .values(delivery)
        .onConflictDoUpdate({ target: [webhook_uid, identity_id], set: delivery });
    },
    async drop(uid, identity) {
      await database.delete(webhookDeliveries).where(of(uid, identity));
    },
    async dropOverdue(uid, identity, now_ms) {
      await database.delete(webhookDeliveries).where(and(of(uid, identity), isOverdue(now_ms)));
    },
    async list(uid, { status: wanted, after_identity_id, limit }) {
      return database
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
    },
    async resume(uid) {
      await database
        .update(webhookDeliveries)
        .set({ status: "pending", retry_at_ms: RESUMED_MS })
        .where(eq(webhook_uid, uid));
    },
    async listOverdue(now_ms, limit) {
      const rows = await database
        .select({ webhook_uid, identity_id, retry_at_ms })
        .from(webhookDeliveries)
        .where(isOverdue(now_ms))
        .orderBy(asc(retry_at_ms))
        .limit(limit);
      return rows.map(({ retry_at_ms: due_ms, ...sender }) => ({
        ...sender,
        resumes: due_ms === RESUMED_MS,
      }));
    },
    async deleteOld(now_ms) {
      const { meta } = await database.run(sql`
        delete from ${webhookDeliveries} where ${at_ms} < ${now_ms - DELIVERY_KEPT_MS}
          or ${webhook_uid} not in (select uid from webhooks)`);
      return meta.changes;
    },
  };
}
