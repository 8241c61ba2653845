/**
 * Requests that got 402, for the event `credits.refused`. They have no entry, so the newest ones are kept in a table of
 * their own, and only if a webhook of the app wants them.
 */
import { desc, gt, lte, asc } from "drizzle-orm";
import { REFUSALS_KEPT } from "../../domain/limits.ts";
import { webhookRefusals, type WebhookRefusalRow } from "../sql/schema.ts";
import type { AccountDatabase } from "../sql/query.ts";

export type Refusal402 = Omit<WebhookRefusalRow, "id" | "event_id">;

export class Refusals {
  readonly #database: AccountDatabase;
  /** Undefined: not read yet. */
  #newest_id: number | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** The number of the newest one; 0: there are no refusals. */
  get newest_id(): number {
    this.#newest_id ??=
      this.#database
        .select({ id: webhookRefusals.id })
        .from(webhookRefusals)
        .orderBy(desc(webhookRefusals.id))
        .limit(1)
        .get()?.id ?? 0;
    return this.#newest_id;
  }

  /** Those after `id`, oldest first. */
  listAfter(id: number): WebhookRefusalRow[] {
    if (this.newest_id <= id) return [];
    return this.#database
      .select()
      .from(webhookRefusals)
      .where(gt(webhookRefusals.id, id))
      .orderBy(asc(webhookRefusals.id))
      .all();
  }

  /** Keeps one, and forgets the oldest if there are too many. */
  add(refusal: Refusal402): void {
    const id = this.newest_id + 1;
    // After a roll-back, the number is read again.
    this.#newest_id = undefined;
    const event_id = crypto.randomUUID();
    this.#database
      .insert(webhookRefusals)
      .values({ id, event_id, ...refusal })
      .run();
    if (id <= REFUSALS_KEPT) return;
    this.#database
      .delete(webhookRefusals)
      .where(lte(webhookRefusals.id, id - REFUSALS_KEPT))
      .run();
  }
}
