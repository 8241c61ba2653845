/**
 * Lists of jobs, newest first. A page reads a bounded number of rows, however long the history is and however few rows
 * match. So a page may be short or even empty, and still have a next page.
 */
import { and, desc, gte, inArray, lt, type SQL } from "drizzle-orm";
import type { JobStatus } from "../../domain/job.ts";
import { CLOCK_SKEW_MS } from "../../domain/limits.ts";
import { isKnownStarted } from "../sql/queries.ts";
import { arrayJson, atMost, ifGiven, isAmong, matchesIfGiven, value } from "../sql/parameters.ts";
import { jobs } from "../sql/schema.ts";
import { query, type AccountDatabase, type Builder } from "../sql/query.ts";
import type { JobRow, Page } from "../contract.ts";

/** Rows that one page of a filtered list reads. The page may be short; its cursor continues after these rows. */
export const LIST_SCAN_ROWS = 2_000;

/** `before_id` is exclusive. `visible_apps`: the only apps whose jobs are listed; undefined: all. */
export interface JobFilter {
  readonly visible_apps?: readonly string[] | undefined;
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** Jobs created from this moment on, and before `to_ms`. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}

/** After every id: where a list begins. */
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
   * A page of jobs. Scans at most {@link LIST_SCAN_ROWS} jobs, scans them once more if the page is short, and reads the
   * page. A list of started jobs scans these (`OPEN_JOBS_MAX`) and the recent ones (`RECENT_JOBS_MAX`) instead.
   * `recent_after_id`: of the newest entry.
   */
  return (filter: JobFilter, recent_after_id: string | null): Page<JobRow, string> => {
    const { app_slug = null, status = null, visible_apps, before_id = END_OF_IDS, limit } = filter;
    const { from_ms = null, to_ms = null } = filter;
    const idOf = (row: JobRow): string => row.id;
    const is_timed = from_ms !== null || to_ms !== null;
    if (app_slug === null && status === null && visible_apps === undefined && !is_timed) {
      // Without a filter, every scanned job is listed.
      const rows = whole_list(database).all({ before_id, scan_rows: limit + 1 });
      return page(rows, limit, idOf, () => null);
    }
    const { scan, found } = status === "started" ? of_started : of_all;
    const end_id = to_ms === null ? END_OF_IDS : firstIdAt(to_ms + CLOCK_SKEW_MS);
    const range = {
      from_id: from_ms === null ? "" : firstIdAt(from_ms - CLOCK_SKEW_MS),
      before_id: before_id < end_id ? before_id : end_id,
      scan_rows: LIST_SCAN_ROWS,
      recent_after_id: recent_after_id ?? "",
    };
    const filters = { app_slug, status, from_ms, to_ms, apps_json: arrayJson(visible_apps) };
    const rows = found(database).all({ ...range, ...filters, page_rows: limit + 1 });
    const lastScanned = (): string | null =>
      scan(database).all(range)[LIST_SCAN_ROWS - 1]?.id ?? null;
    return page(rows, limit, idOf, lastScanned);
  };
}

export type JobLists = ReturnType<typeof openJobLists>;

/**
 * An id between those made before this moment and those made from it on: ids are UUIDv7, which begin with 48 bits of
 * milliseconds. If the clock went back, a job's id is later than its creation.
 */
export function firstIdAt(at_ms: number): string {
  const hex = Math.max(0, at_ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** `scan`: the ids that a page reads; `found`: the rows among them that match the filter. */
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
    const scanned_rows = scanned(database).as("scanned_rows");
    const shown = database
      .select({ id: scanned_rows.id })
      .from(scanned_rows)
      .where(
        and(
          matchesIfGiven(scanned_rows.app_slug),
          matchesIfGiven(scanned_rows.status),
          ifGiven("from_ms", (given) => gte(scanned_rows.created_at_ms, given)),
          ifGiven("to_ms", (given) => lt(scanned_rows.created_at_ms, given)),
          ifGiven("apps_json", (given) => isAmong(scanned_rows.app_slug, given)),
        ),
      )
      .orderBy(desc(scanned_rows.id))
      .limit(atMost("page_rows"));
    return database.select().from(jobs).where(inArray(id, shown)).orderBy(desc(id));
  });
  return { scan: query(scanned), found };
}

/** `rows` may have one more than the limit. `lastScanned`: null if no row is left. */
function page<Row, Key>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => Key,
  lastScanned: () => Key | null,
): Page<Row, Key> {
  const last = rows[limit - 1];
  if (rows.length > limit && last !== undefined)
    return { rows: rows.slice(0, limit), next: keyOf(last) };
  return { rows, next: lastScanned() };
}
