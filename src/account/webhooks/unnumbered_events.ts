/**
 * Events for webhooks that have no ledger entry: requests that got 402 (`credits.refused`), credits that soon expire, and what changed about access.
 * They are kept in a table of their own, and only if a webhook of their app wants them.
 */
import { ACCESS_EVENTS_KEPT, REFUSALS_KEPT } from "../../domain/limits.ts";
import type { UnnumberedEventRow } from "../sql/schema.ts";
import type { AccountDatabase } from "../sql/database.ts";

export type UnnumberedEvent = Omit<UnnumberedEventRow, "id">;

export class UnnumberedEvents {
  readonly #database: AccountDatabase;
  /** Undefined: not read yet. */
  #newest_id: number | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** The number of the newest row; 0: the table is empty. */
  get newest_id(): number {
    this.#newest_id ??=
      this.#database.row("unnumbered_events", "order by id desc limit 1")?.id ?? 0;
    return this.#newest_id;
  }

  /** Those after `id`, oldest first. */
  listAfter(id: number): UnnumberedEventRow[] {
    if (this.newest_id <= id) return [];
    return this.#database.rows("unnumbered_events", "where id > ? order by id", id);
  }

  hasAny(app_slug: string): boolean {
    if (this.newest_id === 0) return false;
    return this.#database.row("unnumbered_events", "where app_slug = ? limit 1", app_slug) !== null;
  }

  /**
   * Keeps one, and forgets the oldest of its app if there are too many. Refused requests are counted apart, because a client
   * in a loop sends many.
   */
  add(event: UnnumberedEvent): void {
    const id = this.newest_id + 1;
    // After a roll-back, the number is read again.
    this.#newest_id = undefined;
    this.#database.insert("unnumbered_events", { id, ...event });
    const is_refusal = event.type === "credits.refused";
    this.#database.run(
      `delete from unnumbered_events where id in (
         select id from unnumbered_events where app_slug = ? and (type = 'credits.refused') = ?
         order by id desc limit -1 offset ? + 0)`,
      event.app_slug,
      is_refusal ? 1 : 0,
      is_refusal ? REFUSALS_KEPT : ACCESS_EVENTS_KEPT,
    );
  }
}
