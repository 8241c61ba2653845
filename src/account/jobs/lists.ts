/**
 * The SQL of what an account's owner lists, newest first. However long the history and however few rows
 * match, a page looks at a bounded number of them: it may be short, even empty, and says where to go on.
 */
import { and, desc, gte, inArray, lt, type SQL } from "drizzle-orm";
import type { JobStatus } from "../../domain/job.ts";
import { LEDGER_CLOCK_SKEW_MS } from "../../domain/limits.ts";
import { isKnownStarted } from "../sql/queries.ts";
import { arrayJson, atMost, ifGiven, isAmong, matchesIfGiven, value } from "../sql/parameters.ts";
import { jobs } from "../sql/schema.ts";
import { query, type AccountDatabase, type Builder } from "../sql/query.ts";
import type { JobRow, Page } from "../contract.ts";

/** Rows that one page of a filtered list reads. The page may be short; its cursor continues after these rows. */
export const LIST_SCAN_ROWS = 2_000;

/** Which jobs a list wants: `before_id` is exclusive; `visible_apps`, where given, are all it may see. */
export interface JobFilter {
  readonly visible_apps?: readonly string[] | undefined;
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** Created at this moment or later, and before that one. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}

/** Before any id there is: a list's beginning, where none is given. */
const END_OF_IDS = "~";

const whole_list = query((database) =>
  database
    .select()
    .from(jobs)
    .where(lt(jobs.id, value("before_id")))
    .orderBy(desc(jobs.id))
    .limit(atMost("scan_rows")),
);
const of_all = filtered(() => undefined);
const of_started = filtered(() => isKnownStarted(value("recent_after_id")));

/** Lists jobs over a migrated database. */
export function openJobLists(database: AccountDatabase) {
  /**
   * A page of jobs. Looks at {@link LIST_SCAN_ROWS} jobs at most, counts them once more where the page
   * is short, and reads the page; a list of started jobs reads those (`OPEN_JOBS_MAX`) and the recent
   * ones (`RECENT_JOBS_MAX`) besides. `recent_after_id`: as the newest ledger line has it.
   */
  return (filter: JobFilter, recent_after_id: string | null): Page<JobRow, string> => {
    const { app_slug = null, status = null, visible_apps, before_id = END_OF_IDS, limit } = filter;
    const { from_ms = null, to_ms = null } = filter;
    const idOf = (row: JobRow): string => row.id;
    const is_timed = from_ms !== null || to_ms !== null;
    if (app_slug === null && status === null && visible_apps === undefined && !is_timed) {
      // Without a filter every job that is looked at is shown.
      const rows = whole_list(database).all({ before_id, scan_rows: limit + 1 });
      return page(rows, limit, idOf, () => null);
    }
    const { scan, found } = status === "started" ? of_started : of_all;
    const end_id = to_ms === null ? END_OF_IDS : firstIdAt(to_ms + LEDGER_CLOCK_SKEW_MS);
    const looked_at = {
      from_id: from_ms === null ? "" : firstIdAt(from_ms - LEDGER_CLOCK_SKEW_MS),
      before_id: before_id < end_id ? before_id : end_id,
      scan_rows: LIST_SCAN_ROWS,
      recent_after_id: recent_after_id ?? "",
    };
    const filters = { app_slug, status, from_ms, to_ms, apps_json: arrayJson(visible_apps) };
    const rows = found(database).all({ ...looked_at, ...filters, page_rows: limit + 1 });
    const lastLookedAt = (): string | null =>
      scan(database).all(looked_at)[LIST_SCAN_ROWS - 1]?.id ?? null;
    return page(rows, limit, idOf, lastLookedAt);
  };
}

export type JobLists = ReturnType<typeof openJobLists>;

/**
 * An id before all that were made at this moment, and after all made before it: ids are UUIDv7, which begin with
 * 48 bits of milliseconds. A job's id is later than its creation where the clock went back.
 */
export function firstIdAt(at_ms: number): string {
  const hex = Math.max(0, at_ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** `scan`: the ids that a page looks at; `found`: the rows among them that a filter lets through. */
function filtered(among: () => SQL | undefined) {
  const { id, app_slug, status, created_at_ms } = jobs;
  const scanned = (database: Builder) =>
    database
      .select({ id, app_slug, status, created_at_ms })
      .from(jobs)
      .where(and(gte(id, value("from_id")), lt(id, value("before_id")), among()))
      .orderBy(desc(id))
      .limit(atMost("scan_rows"));
  const found = query((database) => {
    const looked_at = scanned(database).as("looked_at");
    const shown = database
      .select({ id: looked_at.id })
      .from(looked_at)
      .where(
        and(
          matchesIfGiven(looked_at.app_slug),
          matchesIfGiven(looked_at.status),
          ifGiven("from_ms", (given) => gte(looked_at.created_at_ms, given)),
          ifGiven("to_ms", (given) => lt(looked_at.created_at_ms, given)),
          ifGiven("apps_json", (given) => isAmong(looked_at.app_slug, given)),
        ),
      )
      .orderBy(desc(looked_at.id))
      .limit(atMost("page_rows"));
    return database.select().from(jobs).where(inArray(id, shown)).orderBy(desc(id));
  });
  return { scan: query(scanned), found };
}

/** `rows` may hold one more than the limit; `lastLookedAt`: null where nothing is left to look at. */
function page<Row, Key>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => Key,
  lastLookedAt: () => Key | null,
): Page<Row, Key> {
  const last = rows[limit - 1];
  if (rows.length > limit && last !== undefined)
    return { rows: rows.slice(0, limit), next: keyOf(last) };
  return { rows, next: lastLookedAt() };
}
