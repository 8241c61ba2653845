/**
 * The last hours: totals of an app's UTC day at the minutes of it. A mark of a
 * minute is what its first delivery found, so an app has at most one written row a minute, whatever it does.
 */
import { utcDayOf } from "../domain/calendar.ts";

/** The sums that a mark keeps. */
const MARKED = ["settled", "job_refunded", "jobs", "failed"] as const;

/** Marks are read for today and the two days before. */
const MARKS_KEPT_DAYS = 3;

/**
 * Marks the minute of a delivery's first entry in each app. It must run before the entries are counted. `counted`: the CTE
 * with the entries.
 */
export function markMinutes(counted: string): string {
  const columns = MARKED.map((name) => `coalesce(total.${name}, 0)`).join(", ");
  return `${counted} insert into day_minutes (day, app_slug, minute, ${MARKED.join(", ")})
    select first.day, first.app_slug, first.minute, ${columns}
      from (select day, app_slug, min(minute) as minute from counted
        where app_slug <> '' group by day, app_slug) as first
      left join daily_totals as total on total.day = first.day and total.app_slug = first.app_slug
      where true
    on conflict do nothing`;
}

/** Deletes the marks that no page reads any more. */
export const DELETE_MARKS = "delete from day_minutes where day < ?1";

export const firstMarkedDay = (now_ms: number): number => utcDayOf(now_ms) - MARKS_KEPT_DAYS;

/**
 * The totals of a day, up to and excluding a minute of it; 1440: all of them. `spent`: net of what operators gave back
 * in that time.
 */
export interface DayMark {
  readonly day: number;
  /** "": all of these apps. */
  readonly app_slug: string;
  readonly minute: number;
  readonly spent: number;
  readonly jobs: number;
  readonly failed: number;
}

export interface MarksRequest {
  /** Whole days since the epoch. */
  readonly days: readonly number[];
  readonly minutes: readonly number[];
  /** Null: the apps with the highest cost in these days, at most `limit`. */
  readonly app_slug: string | null;
  readonly limit: number;
  /** Whether each app has its own rows, or they are added up. */
  readonly by_app: boolean;
}

const marks = (by_app: boolean): string => {
  const at = (name: (typeof MARKED)[number]): string => `coalesce(mark.${name}, total.${name})`;
  return `with top as (select app_slug from daily_totals
      where day in (select value from json_each(?1)) and app_slug not in ('', '*')
        and (?3 is null or app_slug = ?3)
      group by app_slug order by sum(settled) desc, app_slug limit ?4)
    select total.day, ${by_app ? "total.app_slug" : "'' as app_slug"}, asked.value as minute,
      sum(${at("settled")} - ${at("job_refunded")}) as spent, sum(${at("jobs")}) as jobs,
      sum(${at("failed")}) as failed
    from daily_totals as total cross join json_each(?2) as asked
    left join day_minutes as mark on mark.day = total.day and mark.app_slug = total.app_slug
      and mark.minute = (select min(next.minute) from day_minutes as next
        where next.day = total.day and next.app_slug = total.app_slug and next.minute >= asked.value)
    where total.day in (select value from json_each(?1)) and total.app_slug in top
    group by 1, 2, 3`;
};
const MARKS = { by_app: marks(true), all: marks(false) };

/** Reads one mark for each app, day and minute. A day of which nothing is known has no rows. */
export async function readMarks(
  database: D1Database,
  { days, minutes, app_slug, limit, by_app }: MarksRequest,
): Promise<readonly DayMark[]> {
  const { results } = await database
    .prepare(MARKS[by_app ? "by_app" : "all"])
    .bind(JSON.stringify(days), JSON.stringify(minutes), app_slug, limit)
    .all<DayMark>();
  return results;
}
