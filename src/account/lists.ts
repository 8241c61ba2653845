/**
 * The SQL of what an account's owner lists, newest first. However long the history and however few rows
 * match, a page looks at a bounded number of them: it may be short, even empty, and says where to go on.
 */
import { and, desc, eq, inArray, lt, sql, type SQL } from "drizzle-orm";
import type { JobStatus } from "../domain/job.ts";
import { LIST_SCAN_ROWS } from "../domain/limits.ts";
import { jobs, longJobs } from "./schema.ts";
import type { AccountDatabase, JobRow } from "./store.ts";

/** A page of rows, and the key after which the next one begins; null: there are no more. */
export interface Page<Row, Key> {
  readonly rows: readonly Row[];
  readonly next: Key | null;
}

/** Which jobs a list wants: `before_id` is exclusive; `visible_apps`, where given, are all it may see. */
export interface JobFilter {
  readonly visible_apps?: readonly string[] | undefined;
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}

/**
 * A page of jobs. Looks at {@link LIST_SCAN_ROWS} jobs at most, counts them once more where the page is
 * short, and reads the page; a list of started jobs reads those (`OPEN_JOBS_MAX`) and the recent ones
 * (`RECENT_JOBS_MAX`) besides. `recent_after_id`: as the newest ledger line has it.
 */
export function listJobs(
  database: AccountDatabase,
  filter: JobFilter,
  recent_after_id: string | null,
): Page<JobRow, string> {
  const { app_slug, status, visible_apps, before_id, limit } = filter;
  const unfiltered = app_slug === undefined && status === undefined && visible_apps === undefined;
  // Without a filter every job that is looked at is shown.
  const scan_rows = unfiltered ? limit + 1 : LIST_SCAN_ROWS;
  const { id, app_slug: app, status: state } = jobs;
  const scan = database
    .select({ id, app_slug: app, status: state })
    .from(jobs)
    .where(
      and(
        before_id === undefined ? undefined : lt(id, before_id),
        status === "started" ? isKnownStarted(recent_after_id ?? "") : undefined,
      ),
    )
    .orderBy(desc(id))
    .limit(scan_rows);
  const looked_at = scan.as("looked_at");
  const shown = database
    .select({ id: looked_at.id })
    .from(looked_at)
    .where(
      and(
        app_slug === undefined ? undefined : eq(looked_at.app_slug, app_slug),
        status === undefined ? undefined : eq(looked_at.status, status),
        visible_apps === undefined ? undefined : inArray(looked_at.app_slug, [...visible_apps]),
      ),
    )
    .orderBy(desc(looked_at.id))
    .limit(limit + 1);
  const rows = database.select().from(jobs).where(inArray(id, shown)).orderBy(desc(id)).all();
  const lastLookedAt = (): string | null => scan.all()[scan_rows - 1]?.id ?? null;
  return page(rows, limit, (row) => row.id, lastLookedAt);
}

/** The ids of started jobs, wherever they are known; see `open_jobs.ts`. */
function isKnownStarted(recent_after_id: string): SQL {
  return sql`${jobs.id} in (
    select ${longJobs.job_id} from ${longJobs}
    union all select id from jobs where id > ${recent_after_id} and status = 'started'
    union all select job_id from stuck_jobs)`;
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
