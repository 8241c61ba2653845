/** The list of all webhooks: D1's `webhooks`, copied to memory for a minute. One copy for each isolate. */
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { reportError } from "../domain/error_report.ts";
import type { SubscribableEvent } from "../domain/webhook.ts";
import { webhooks } from "./schema.ts";
import { COPY_FRESH_MS, createSharedCopy } from "./shared_copy.ts";

export interface Webhook {
  /** Permanent. A webhook that is deleted and created again under its id has another one. */
  readonly uid: string;
  readonly app_slug: string;
  readonly id: string;
  readonly url: string;
  readonly events: readonly SubscribableEvent[];
  /** For `credits.low`, in ascending order. */
  readonly thresholds: readonly number[];
  readonly created_at_ms: number;
  /** Since when nothing is delivered, and why. Null: it is active. The reason of a pause by its owner is null. */
  readonly paused_at_ms: number | null;
  readonly paused_reason: string | null;
  /** The minute of the last successful delivery; null: none. */
  readonly last_success_at_ms: number | null;
  readonly last_error: string | null;
  readonly last_error_at_ms: number | null;
  /** Increases with each save, from 1. */
  readonly version: number;
  /** The audit entry of the last save. */
  readonly last_audit_id: string;
}

export interface WebhookList {
  /** The copy, if it is at most a minute old; else null. */
  known(): readonly Webhook[] | null;
  /**
   * All webhooks, also paused ones, as of at most a minute ago; while D1 is unavailable, the last that were read.
   * @throws if D1 cannot be reached and nothing was read yet.
   */
  read(): Promise<readonly Webhook[]>;
  /**
   * One webhook. It may be a copy, unless the copy has no such webhook or says that it is paused. Null: it was deleted.
   * @throws if D1 cannot be reached.
   */
  find(uid: string): Promise<Webhook | null>;
  /** Clears the copy after a change in this isolate. */
  forget(): void;
}

export function createWebhookList(binding: D1Database): WebhookList {
  const database = drizzle(binding);
  const copy = createSharedCopy({
    read: async () => (await database.select().from(webhooks)).map(webhookOf),
    // Deliveries continue, however long the directory is unavailable.
    stale_max_ms: Number.POSITIVE_INFINITY,
    logFailure: (error) => console.warn({ event: "webhooks_read_failed", ...reportError(error) }),
  });
  const known = (): readonly Webhook[] | null => {
    const newest = copy.known();
    return newest !== null && Date.now() - newest.read_at_ms < COPY_FRESH_MS ? newest.value : null;
  };

  return {
    known,
    async read() {
      const usable = await copy.recall();
      if (usable === null) throw new Error("the list of webhooks cannot be read");
      return usable.value;
    },
    async find(uid) {
      const recent = known()?.find((webhook) => webhook.uid === uid);
      if (recent !== undefined && recent.paused_at_ms === null) return recent;
      const [row] = await database.select().from(webhooks).where(eq(webhooks.uid, uid));
      return row === undefined ? null : webhookOf(row);
    },
    forget: () => copy.forget(),
  };
}

/** One list for each database and isolate, so that all objects of the isolate share its copy. */
export function webhookListOf(database: D1Database): WebhookList {
  const list = lists.get(database) ?? createWebhookList(database);
  lists.set(database, list);
  return list;
}

const lists = new WeakMap<D1Database, WebhookList>();

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
    created_at_ms: row.created_at_ms,
    paused_at_ms: row.paused_at_ms,
    paused_reason: row.paused_reason,
    last_success_at_ms: row.last_success_at_ms,
    last_error: row.last_error,
    last_error_at_ms: row.last_error_at_ms,
    version: row.version,
    last_audit_id: row.last_audit_id,
  };
}

/** For an account without webhooks: nothing is read. */
export const noWebhooks: Pick<WebhookList, "known" | "read"> = {
  known: () => [],
  read: () => Promise.resolve([]),
};
