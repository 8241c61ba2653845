/** `GET /console[?days=&app=]`: what happened over some days. */
import * as z from "zod/mini";
import { utcDayOf } from "../../domain/calendar.ts";
import {
  OVERVIEW_MEASURES,
  OverviewPage,
  RANGES_DAYS,
  type ShownDay,
  type ShownTotals,
} from "./overview_page.tsx";
import { readStats } from "../../http/api/admin/read_stats.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { appSlug, validOr } from "../../http/validation.ts";
import { timestamp } from "../../http/views.ts";
import { appChoices, askedFor, ifReadable } from "./asked.ts";

/** Apps in the console's totals: those with the most settled credits. */
const APPS_SHOWN_MAX = 50;

const overviewQuery = z.object({
  days: validOr("30", z.enum(RANGES_DAYS)),
  app: validOr(undefined, appSlug),
});

export const showOverview = factory.createHandlers(async (context) => {
  const { days: range, app = null } = askedFor(context, overviewQuery);
  const [choices, totals] = await Promise.all([
    appChoices(context, app),
    ifReadable(readTotals(context, Number(range), app)),
  ]);
  return context.html(<OverviewPage {...{ range, app, totals }} {...choices} />);
});

/** The same totals as the API's, with the days on which nothing happened. */
async function readTotals(
  context: AppContext,
  range: number,
  app: string | null,
): Promise<ShownTotals> {
  const { read_model } = context.get("services");
  const to_day = utcDayOf(Date.now()) + 1;
  const from_day = to_day - range;
  const [{ series, as_of }, apps, newest_ms] = await Promise.all([
    readStats(context, { from: from_day, to: to_day, app: app ?? undefined }),
    read_model.readAppTotals(from_day, to_day, APPS_SHOWN_MAX),
    read_model.readNewest(),
  ]);
  const known = new Map<number, ShownDay>(
    series.map((totals) => [utcDayOf(Date.parse(totals.day)), totals]),
  );
  const days = Array.from({ length: range }, (_, at) => known.get(from_day + at) ?? QUIET_DAY);
  const newest = newest_ms === null ? null : timestamp(newest_ms);
  return { from_day, days, apps, newest, as_of };
}

const QUIET_DAY = Object.fromEntries(
  OVERVIEW_MEASURES.map((name) => [name, 0]),
) as unknown as ShownDay;
