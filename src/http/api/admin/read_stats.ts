/** `GET /api/admin/stats`: totals by UTC day, from the read model. */
import * as z from "zod/mini";
import { DAY_MS, utcDayOf } from "../../../domain/calendar.ts";
import { factory, type AppContext } from "../../context.ts";
import { appSlug, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";

/** The most days that one response with statistics spans. */
const STATS_DAYS_MAX = 366;

const DEFAULT_DAYS = 30;

/** A UTC day as whole days since the epoch. */
const day = z.pipe(
  z.iso.date("must be a day such as 2026-11-21"),
  z.transform((text) => Date.parse(text) / DAY_MS),
);

export const readStatsQuery = z
  .object({ from: z.optional(day), to: z.optional(day), app: z.optional(appSlug) })
  .check(
    z.refine(({ from, to }) => from === undefined || to === undefined || from < to, {
      path: ["to"],
      message: "must be after from",
    }),
    z.refine(({ from, to }) => !from || !to || to - from <= STATS_DAYS_MAX, {
      path: ["to"],
      message: `must be at most ${STATS_DAYS_MAX} days after from`,
    }),
  );

/** The days from `from` up to and excluding `to`; by default the last 30, including today. */
export async function readStats(context: AppContext, query: z.output<typeof readStatsQuery>) {
  const tomorrow = utcDayOf(Date.now()) + 1;
  const to = query.to ?? (query.from === undefined ? tomorrow : Math.max(tomorrow, query.from + 1));
  const from = Math.max(query.from ?? to - DEFAULT_DAYS, to - STATS_DAYS_MAX);
  const as_of = timestamp(Date.now());
  const { read_model } = context.get("services");
  return { series: await read_model.readDailyTotals(from, to, query.app ?? null), as_of };
}

export const listStats = factory.createHandlers(validQuery(readStatsQuery), async (context) =>
  context.json(await readStats(context, context.req.valid("query"))),
);
