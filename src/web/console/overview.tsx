/** `GET /console[?days=&app=]`: the service's health, and totals of the last days. */
import * as z from "zod/mini";
import { utcDayOf } from "../../domain/calendar.ts";
import {
  MEASURES,
  OverviewPage,
  RANGES_DAYS,
  type DayTotals,
  type Totals,
} from "./overview_page.tsx";
import { readHealth } from "../../http/api/admin/read_health.ts";
import { readStats } from "../../http/api/admin/read_stats.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { appSlug, validOr } from "../../http/validation.ts";
import { timestamp } from "../../http/views.ts";
import { appFilter, nullIfUnreadable, readQuery } from "./queries.ts";

/** Apps in the console's totals: those with the most settled credits. */
const APPS_SHOWN_MAX = 50;

const overviewQuery = z.object({
  days: validOr("30", z.enum(RANGES_DAYS)),
  app: validOr(undefined, appSlug),
});

export const showOverview = factory.createHandlers(async (context) => {
  const { days: range, app = null } = readQuery(context, overviewQuery);
  const [filter, health, totals] = await Promise.all([
    appFilter(context, app),
    readHealth(context),
    nullIfUnreadable(readTotals(context, Number(range), app)),
  ]);
  return context.html(<OverviewPage {...{ range, app, health, totals }} {...filter} />);
});

/** The API's totals, with zeros for the days without activity. */
async function readTotals(context: AppContext, range: number, app: string | null): Promise<Totals> {
  const { read_model } = context.get("services");
  const to_day = utcDayOf(Date.now()) + 1;
  const from_day = to_day - range;
  const [{ series, as_of }, apps, newest_ms] = await Promise.all([
    readStats(context, { from: from_day, to: to_day, app: app ?? undefined }),
    read_model.readAppTotals(from_day, to_day, APPS_SHOWN_MAX),
    read_model.readNewest(),
  ]);
  const known = new Map<number, DayTotals>(
    series.map((totals) => [utcDayOf(Date.parse(totals.day)), totals]),
  );
  const days = Array.from({ length: range }, (_, at) => known.get(from_day + at) ?? EMPTY_DAY);
  const newest = newest_ms === null ? null : timestamp(newest_ms);
  return { from_day, days, apps, newest, as_of };
}

const EMPTY_DAY = Object.fromEntries(MEASURES.map((name) => [name, 0])) as unknown as DayTotals;
