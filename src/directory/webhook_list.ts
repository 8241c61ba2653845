/** The list of all webhooks: D1's `webhooks`, copied to memory for a minute. One copy for each isolate. */
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { reportError } from "../domain/error_report.ts";
import { webhooks } from "./schema.ts";
import { COPY_FRESH_MS, SharedCopy } from "./shared_copy.ts";

type WebhookRow = typeof webhooks.$inferSelect;

export type Webhook = ReturnType<typeof webhookOf>;

export function createWebhookList(binding: D1Database) {
  const database = drizzle(binding);
  const copy = new SharedCopy({
    read: async () => {
      const rows = await database.select().from(webhooks);
      return { webhooks: rows.map(webhookOf), rows: new Map(rows.map((row) => [row.uid, row])) };
    },
    // Deliveries continue, however long the directory is unavailable.
    stale_max_ms: Number.POSITIVE_INFINITY,
    logFailure: (error) => console.warn({ event: "webhooks_read_failed", ...reportError(error) }),
  });
  const known = (): readonly Webhook[] | null => {
    const newest = copy.known();
    const is_fresh = newest !== null && Date.now() - newest.read_at_ms < COPY_FRESH_MS;
    return is_fresh ? newest.value.webhooks : null;
  };

  return {
    /** The copy, if it is at most a minute old; else null. */
    known,
    /**
     * All webhooks, also paused ones, as of at most a minute ago; while D1 is unavailable, the last that were read.
     * @throws if D1 cannot be reached and nothing was read yet.
     */
    async read(): Promise<readonly Webhook[]> {
      const usable = await copy.recall();
      if (usable === null) throw new Error("the list of webhooks cannot be read");
      return usable.value.webhooks;
    },
    /**
     * One webhook with its sealed secrets, as of at most a minute ago; while D1 is unavailable, as it was read last. If the
     * copy has no such webhook, or says that it is paused, it is read now. Null: it was deleted.
     * @throws if D1 cannot be reached then.
     */
    async findRow(uid: string): Promise<WebhookRow | null> {
      const copied = (await copy.recall())?.value.rows.get(uid);
      if (copied !== undefined && copied.paused_at_ms === null) return copied;
      const [row] = await database.select().from(webhooks).where(eq(webhooks.uid, uid));
      return row ?? null;
    },
    /** Clears the copy after a change in this isolate. */
    forget: (): void => copy.forget(),
  };
}

export type WebhookList = ReturnType<typeof createWebhookList>;

/** One list for each database and isolate, so that all objects of the isolate share its copy. */
export function webhookListOf(database: D1Database): WebhookList {
  const list = lists.get(database) ?? createWebhookList(database);
  lists.set(database, list);
  return list;
}

const lists = new WeakMap<D1Database, WebhookList>();

/** A row without its secrets. */
export function webhookOf(row: WebhookRow) {
  const { secret_key_id: _, secret_sealed: __, rotated_audit_id: ___, ...rest } = row;
  const {
    previous_key_id: ____,
    previous_sealed: _____,
    previous_until_ms: ______,
    ...webhook
  } = rest;
  return webhook;
}

/** For an account without webhooks: nothing is read. */
export const noWebhooks: Pick<WebhookList, "known" | "read"> = {
  known: () => [],
  read: () => Promise.resolve([]),
};
