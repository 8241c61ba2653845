/**
 * Lists of jobs, newest first. A page reads a bounded number of rows, however long the history is and however few rows
 * match. So a page may be short or even empty, and still have a next page.
 */
import { CLOCK_SKEW_MS } from "../../domain/limits.ts";
import { isAmong, type AccountDatabase } from "../sql/database.ts";
import { isKnownStarted } from "../sql/deadlines.ts";
import { isStartedBy } from "../sql/started_by.ts";
import type { JobRow, ListJobsRequest, Page } from "../contract.ts";
import type { Store } from "../sql/store.ts";

/** Rows that one page of a filtered list reads. The page may be short; its cursor continues after these rows. */
export const LIST_SCAN_ROWS = 2_000;

/** `visible_apps`: the only apps whose jobs are listed; undefined: all. */
export interface JobFilter extends ListJobsRequest {
  readonly visible_apps?: readonly string[] | undefined;
}

/** After every id: where a list begins. */
const END_OF_IDS = "~";

/** The ids that a page of a filtered list reads. `among`: a further condition. */
const scanned = (among: string): string => `select id, app_slug, status, created_at_ms,
    allowance_path, started_by_json from jobs
  where id >= ?1 and id < ?2 ${among} order by id desc limit ${LIST_SCAN_ROWS}`;

/** The rows among the scanned ones that match the filter. */
const found = (among: string): string => `where id in (
  select id from (${scanned(among)})
  where (?4 is null or app_slug = ?4) and (?5 is null or status = ?5)
    and (?6 is null or created_at_ms >= ?6) and (?7 is null or created_at_ms < ?7)
    and (?8 is null or ${isAmong("app_slug", "?8")}) and (?9 is null or ${isStartedBy("?9")})
  order by id desc limit ?10 + 0) order by id desc`;

/**
 * A page of jobs. Scans at most {@link LIST_SCAN_ROWS} jobs, scans them once more if the page is short, and reads the
 * page. A list of started jobs scans these (`OPEN_JOBS_MAX`) and the recent ones (`RECENT_JOBS_MAX`) instead.
 * `recent_after_id`: of the newest entry.
 */
export function listJobs(
  { database, store }: { readonly database: AccountDatabase; readonly store: Store },
  filter: JobFilter,
  recent_after_id: string | null,
): Page<JobRow, string> {
  const { app_slug = null, status = null, visible_apps, before_id = END_OF_IDS, limit } = filter;
  const { from_ms = null, to_ms = null, by = null } = filter;
  const idOf = (row: JobRow): string => row.id;
  const given = [app_slug, status, visible_apps ?? null, from_ms, to_ms, by];
  if (given.every((value) => value === null)) {
    // Without a filter, every scanned job is listed.
    const clauses = "where id < ? order by id desc limit ? + 0";
    const rows = database.rows("jobs", clauses, before_id, limit + 1);
    store.left.requireJobsBetween(rows[limit]?.id ?? "", before_id);
    return page(rows, limit, idOf, () => null);
  }
  const end_id = to_ms === null ? END_OF_IDS : firstIdAt(to_ms + CLOCK_SKEW_MS);
  const from_id = from_ms === null ? "" : firstIdAt(from_ms - CLOCK_SKEW_MS);
  const range = [from_id, before_id < end_id ? before_id : end_id];
  const apps_json = visible_apps === undefined ? null : JSON.stringify(visible_apps);
  const filters = [app_slug, status, from_ms, to_ms, apps_json, by];
  const after_id = recent_after_id ?? "";
  const [among, of_among] =
    status === "started" ? [`and ${isKnownStarted("?3")}`, [after_id]] : ["", []];
  const rows = database.rows("jobs", found(among), ...range, after_id, ...filters, limit + 1);
  const lastScanned = (): string | null => {
    const ids = database.all<Pick<JobRow, "id">>(scanned(among), ...range, ...of_among);
    return ids[LIST_SCAN_ROWS - 1]?.id ?? null;
  };
  const scanned_to = rows.length > limit ? null : lastScanned();
  // A started job never leaves.
  if (status !== "started") {
    const lowest_id = rows[limit]?.id ?? scanned_to ?? from_id;
    store.left.requireJobsBetween(lowest_id, range[1] ?? before_id);
  }
  return page(rows, limit, idOf, () => scanned_to);
}

/**
 * An id between those made before this moment and those made from it on: ids are UUIDv7, which begin with 48 bits of
 * milliseconds. If the clock went back, a job's id is later than its creation.
 */
export function firstIdAt(at_ms: number): string {
  const hex = Math.max(0, at_ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
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
