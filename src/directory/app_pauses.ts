/**
 * Operators' pauses of apps: two columns of D1's `apps`, and the events that the app's webhooks receive, in the same
 * transaction. The registry's copies show a pause within a minute.
 */
import { and, asc, eq, gt, gte, lt, sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { timestamp } from "../domain/wire.ts";
import { EVENTS_KEPT_MS, type AppEvent } from "../domain/webhook.ts";
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import type { AppRecord } from "./app_records.ts";
import { appEvents, apps } from "./schema.ts";

/** Events of one page, and so the most that one alarm of a sender sends. */
const PAGE_EVENTS = 40;

const NOTHING_READ = { line: 0, low_left: false, unnumbered: 0, balance_line: 0 };

type AppEventRow = typeof appEvents.$inferSelect;

/** Each method rejects if D1 cannot be reached; the change may have happened or not. `changed` is called after each change. */
export class AppPauses {
  readonly #changed: () => void;
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database, changed: () => void) {
    this.#changed = changed;
    this.#database = drizzle(binding);
  }

  /**
   * Pauses the app, or changes the message of its pause, which keeps its beginning. Changes nothing if it is paused with
   * this message. Null: the app is not registered.
   */
  async pause(slug: string, message: string, audit_id: string): Promise<AppRecord | null> {
    const now_ms = Date.now();
    const paused_at_ms = sql`coalesce(${apps.paused_at_ms}, ${now_ms})`;
    return this.#change(slug, {
      type: "app.paused",
      audit_id,
      now_ms,
      isChanged: sql`${apps.pause_message} is not ${message}`,
      columns: { paused_at_ms, pause_message: sql`${message}` },
    });
  }

  /** The app may start jobs again. Changes nothing if it is not paused. Null: the app is not registered. */
  async continue(slug: string, audit_id: string): Promise<AppRecord | null> {
    return this.#change(slug, {
      type: "app.continued",
      audit_id,
      now_ms: Date.now(),
      isChanged: sql`${apps.paused_at_ms} is not null`,
      columns: { paused_at_ms: sql`null`, pause_message: sql`null` },
    });
  }

  /** The app's own events for one webhook, as an account gives its events. Their numbers are their ids. */
  async readEvents({
    app_slug,
    events,
    since_ms,
    after,
  }: WebhookEventsRequest): Promise<WebhookEvents> {
    const begin = after ?? NOTHING_READ;
    const rows = await this.#database
      .select()
      .from(appEvents)
      .where(
        and(
          eq(appEvents.app_slug, app_slug),
          gt(appEvents.id, begin.line),
          gte(appEvents.at_ms, since_ms),
        ),
      )
      .orderBy(asc(appEvents.id))
      .limit(PAGE_EVENTS);
    const position = { ...begin, line: rows.at(-1)?.id ?? begin.line };
    return {
      events: rows.filter(({ type }) => events.includes(type)).map(outgoing),
      begin,
      position,
      news: rows.length < PAGE_EVENTS ? `${position.line}.0` : null,
      has_app: true,
    };
  }

  async #change(slug: string, change: Change): Promise<AppRecord | null> {
    const { type, audit_id, now_ms, isChanged, columns } = change;
    const is_app = eq(apps.slug, slug);
    // One transaction. The event comes first, because it needs the app as it was. A retry has the same audit entry.
    const [, , [app]] = await this.#database.batch([
      this.#database
        .insert(appEvents)
        .select(
          sql`select null, ${slug}, ${audit_id}, ${type}, ${columns.paused_at_ms},
              ${columns.pause_message}, ${now_ms}
            from ${apps} where ${and(is_app, isChanged)}`,
        )
        .onConflictDoNothing(),
      this.#database.delete(appEvents).where(lt(appEvents.at_ms, now_ms - EVENTS_KEPT_MS)),
      this.#database.update(apps).set(columns).where(is_app).returning(),
    ]);
    this.#changed();
    return app ?? null;
  }
}

interface Change {
  readonly type: AppEvent;
  readonly audit_id: string;
  readonly now_ms: number;
  /** SQL: whether the app's row is about to change. */
  readonly isChanged: SQL;
  readonly columns: { readonly paused_at_ms: SQL; readonly pause_message: SQL };
}

function outgoing({ id, event_id, type, app_slug, paused_at_ms, message, at_ms }: AppEventRow) {
  const paused = paused_at_ms === null ? null : { since: timestamp(paused_at_ms), message };
  const data = { app: app_slug, paused };
  return {
    id: event_id,
    type,
    line: id,
    body: JSON.stringify({ type, timestamp: timestamp(at_ms), data }),
    position: { ...NOTHING_READ, line: id },
  };
}
