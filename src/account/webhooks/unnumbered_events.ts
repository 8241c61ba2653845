/**
 * Events for webhooks that have no ledger entry: requests that got 402 (`credits.refused`), the progress of jobs, credits
 * that soon expire, and what changed about access. They are kept in a table of their own, and only if a webhook of their
 * app wants them.
 */
import { ACCESS_EVENTS_KEPT, PROGRESS_KEPT, REFUSALS_KEPT } from "../../domain/limits.ts";
import type { UnnumberedEventRow } from "../sql/schema.ts";
import type { AccountDatabase } from "../sql/database.ts";

export type UnnumberedEvent = Omit<UnnumberedEventRow, "id">;

const KEPT = {
  "credits.refused": REFUSALS_KEPT,
  "job.progressed": PROGRESS_KEPT,
  "": ACCESS_EVENTS_KEPT,
} as const;

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
   * Keeps one, and forgets the oldest of its app if there are too many. Refused requests and progress are counted apart,
   * because there can be many.
   */
  add(event: UnnumberedEvent): void {
    const id = this.newest_id + 1;
    // After a roll-back, the number is read again.
    this.#newest_id = undefined;
    this.#database.insert("unnumbered_events", { id, ...event });
    if (event.type === "job.progressed") this.#forgetEarlierSteps(event);
    const { app_slug, type } = event;
    const counted = type === "credits.refused" || type === "job.progressed" ? type : "";
    this.#database.run(
      `delete from unnumbered_events where id in (
         select id from unnumbered_events where app_slug = ?
           and case when type in ('credits.refused', 'job.progressed') then type else '' end = ?
         order by id desc limit -1 offset ? + 0)`,
      app_slug,
      counted,
      KEPT[counted],
    );
  }

  /** A newer step takes the place of a job's earlier ones. Their ids begin with that of the job, a UUID. */
  #forgetEarlierSteps({ event_id }: UnnumberedEvent): void {
    this.#database.run(
      `delete from unnumbered_events
       where type = 'job.progressed' and event_id like substr(?1, 1, 37) || '%' and event_id <> ?1`,
      event_id,
    );
  }
}
