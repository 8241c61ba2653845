/** The list of all webhooks: D1's `webhooks`, copied to memory for a minute. One copy for each isolate. */
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SubscribableEvent } from "../domain/webhook.ts";
import { webhooks } from "./schema.ts";

/** How long an isolate uses its copy of the webhooks without reading it again. */
const WEBHOOKS_CACHE_MS = 60_000;

/** The pause after a failed read, so that not every delivery waits for a time-out. */
const WEBHOOKS_RETRY_MS = 5_000;

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
  let remembered: { readonly all: readonly Webhook[]; readonly read_at_ms: number } | null = null;
  let failed_at_ms = Number.NEGATIVE_INFINITY;
  let forgotten_at_ms = Number.NEGATIVE_INFINITY;

  const refresh = async (): Promise<readonly Webhook[]> => {
    const read_at_ms = Date.now();
    const rows = await database.select().from(webhooks);
    const all = rows.map(webhookOf);
    // A slow read must not restore rows that a later read no longer had.
    const is_newest = read_at_ms >= Math.max(remembered?.read_at_ms ?? 0, forgotten_at_ms);
    if (is_newest) remembered = { all, read_at_ms };
    return all;
  };
  const known = (): readonly Webhook[] | null => {
    const is_young = remembered !== null && Date.now() - remembered.read_at_ms < WEBHOOKS_CACHE_MS;
    return is_young ? (remembered?.all ?? null) : null;
  };

  return {
    known,
    async read() {
      const is_pausing = Date.now() - failed_at_ms < WEBHOOKS_RETRY_MS;
      const usable = known() ?? (is_pausing ? remembered?.all : undefined);
      if (usable !== undefined) return usable;
      try {
        return await refresh();
      } catch (error) {
        failed_at_ms = Date.now();
        console.warn({ event: "webhooks_read_failed" });
        if (remembered === null) throw error;
        return remembered.all;
      }
    },
    async find(uid) {
      const copy = known()?.find((webhook) => webhook.uid === uid);
      if (copy !== undefined && copy.paused_at_ms === null) return copy;
      const [row] = await database.select().from(webhooks).where(eq(webhooks.uid, uid));
      return row === undefined ? null : webhookOf(row);
    },
    forget() {
      remembered = null;
      forgotten_at_ms = Date.now();
    },
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
  };
}

/** For an account without webhooks: nothing is read. */
export const noWebhooks: Pick<WebhookList, "known" | "read"> = {
  known: () => [],
  read: () => Promise.resolve([]),
};
