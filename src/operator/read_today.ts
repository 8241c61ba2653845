/** What is spent now: today beside yesterday until the same minute, or the last 24 hours beside the 24 hours before. */
import { DAY_MS, minuteOf, utcDayOf } from "../domain/calendar.ts";
import type { DayMark } from "../readmodel/queries.ts";
import type { OperatorServices } from "./acting.ts";

export const NOW_RANGES = ["today", "24h"] as const;
export type NowRange = (typeof NOW_RANGES)[number];

/** Apps of one response: those with the highest cost. */
const APPS_READ_MAX = 50;

/** The end of a day, as a minute of it, and the starts of its hours. */
const DAY_END = 1440;
const HOURS = Array.from({ length: 25 }, (_, hour) => hour * 60);

/** `spent` is the cost of jobs that ended in that time, without what operators gave back in it. */
interface Sums {
  readonly spent: number;
  readonly jobs: number;
  readonly failed: number;
}

const NONE: Sums = { spent: 0, jobs: 0, failed: 0 };

/** `spent_before`: in the time that the range is compared with. */
export interface AppNow extends Sums {
  readonly app_slug: string;
  readonly spent_before: number;
}

export interface HourNow extends Sums {
  /** When the hour began, in milliseconds since the epoch. */
  readonly from_ms: number;
}

export type Today = Awaited<ReturnType<typeof readToday>>;

/** `app`: null for all apps. Rejects if the read model cannot be read. */
export async function readToday(
  { read_model }: OperatorServices,
  range: NowRange,
  app: string | null,
) {
  const now_ms = Date.now();
  const today = utcDayOf(now_ms);
  const now = minuteOf(now_ms);
  const days = [today - 2, today - 1, today];
  const of_apps = { app_slug: app, limit: APPS_READ_MAX };
  const [of_app, of_hour, top_accounts] = await Promise.all([
    read_model.readMarks({ ...of_apps, days, minutes: [now, DAY_END], by_app: true }),
    read_model.readMarks({ ...of_apps, days: days.slice(1), minutes: HOURS, by_app: false }),
    app === null ? null : read_model.readTopSpenders(app),
  ]);
  const slugs = [...new Set(of_app.map(({ app_slug }) => app_slug))];
  const apps = slugs
    .map((slug) => appNow(slug, range, readerOf(of_app, slug), { today, now }))
    .filter(({ spent, spent_before, jobs }) => spent !== 0 || spent_before !== 0 || jobs > 0)
    .toSorted((one, other) => other.spent - one.spent);
  return {
    range,
    now_ms,
    time: timeOf(range, now_ms),
    apps,
    hours: hoursOf(range, readerOf(of_hour, ""), now_ms),
    top_accounts,
  };
}

/** In milliseconds since the epoch; the end is excluded. */
function timeOf(range: NowRange, now_ms: number) {
  const to_ms = now_ms + 1;
  return { from_ms: range === "today" ? now_ms - (now_ms % DAY_MS) : now_ms - DAY_MS, to_ms };
}

/** The sums of a day up to a minute of it; zeros if nothing is known of that day. */
type ReadSums = (day: number, minute: number) => Sums;

function readerOf(marks: readonly DayMark[], app_slug: string): ReadSums {
  const known = new Map(
    marks
      .filter((mark) => mark.app_slug === app_slug)
      .map((mark) => [`${mark.day} ${mark.minute}`, mark]),
  );
  return (day, minute) => known.get(`${day} ${minute}`) ?? NONE;
}

interface Now {
  readonly today: number;
  /** The minute of the day. */
  readonly now: number;
}

function appNow(app_slug: string, range: NowRange, read: ReadSums, { today, now }: Now): AppNow {
  if (range === "today") {
    const { spent, jobs, failed } = read(today, DAY_END);
    return { app_slug, spent, jobs, failed, spent_before: read(today - 1, now).spent };
  }
  /** The 24 hours until this minute of a day. Today ends now. */
  const until = (day: number, minute: number): Sums =>
    sum(read(day, minute), minus(read(day - 1, DAY_END), read(day - 1, now)));
  return { app_slug, ...until(today, DAY_END), spent_before: until(today - 1, now).spent };
}

/** The hours of the range, oldest first. The last one is not over. */
function hoursOf(range: NowRange, read: ReadSums, now_ms: number): readonly HourNow[] {
  const today = utcDayOf(now_ms);
  const hour = Math.floor(minuteOf(now_ms) / 60);
  const count = range === "today" ? hour + 1 : 24;
  return Array.from({ length: count }, (_, at) => {
    const index = hour - count + 1 + at;
    const day = index < 0 ? today - 1 : today;
    const start = ((index + 24) % 24) * 60;
    const sums = minus(read(day, start + 60), read(day, start));
    return { from_ms: day * DAY_MS + start * 60_000, ...sums };
  });
}

function minus(one: Sums, other: Sums): Sums {
  return {
    spent: one.spent - other.spent,
    jobs: one.jobs - other.jobs,
    failed: one.failed - other.failed,
  };
}

function sum(one: Sums, other: Sums): Sums {
  return {
    spent: one.spent + other.spent,
    jobs: one.jobs + other.jobs,
    failed: one.failed + other.failed,
  };
}
