/** Totals by UTC day, from the read model. */
import * as z from "zod/mini";
import { DAY_MS, utcDayOf } from "../domain/calendar.ts";
import { timestamp } from "../domain/wire.ts";
import { appSlug } from "../fields.ts";
import type { OperatorServices } from "./acting.ts";

/** The most days that one response with statistics spans. */
const STATS_DAYS_MAX = 366;

const DEFAULT_DAYS = 30;

/** A UTC day as whole days since the epoch. */
const day = z.pipe(
  z.iso.date("must be a day such as 2026-11-21"),
  z.transform((text) => Date.parse(text) / DAY_MS),
);

/** The fields of a period of days, `to` excluded. */
export const period_fields = { from: z.optional(day), to: z.optional(day) };

const tomorrow = (): number => utcDayOf(Date.now()) + 1;

interface Period {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const isTooLong = ({ from, to = tomorrow() }: Period): boolean =>
  from !== undefined && to - from > STATS_DAYS_MAX;

export const is_period = [
  z.refine<Period>(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ["to"],
    message: "must be after from",
  }),
  z.refine<Period>((period) => period.to === undefined || !isTooLong(period), {
    path: ["to"],
    message: `must be at most ${STATS_DAYS_MAX} days after from`,
  }),
  // The sums of a shorter period than the requested one would look complete.
  z.refine<Period>((period) => period.to !== undefined || !isTooLong(period), {
    path: ["from"],
    message: `must be at most ${STATS_DAYS_MAX} days before to, which is tomorrow by default`,
  }),
] as const;

export const readStatsQuery = z
  .object({ ...period_fields, app: z.optional(appSlug) })
  .check(...is_period);

/** The days from `from` up to and excluding `to`; by default the last 30, including today. */
export function daysOf(period: Period): { readonly from: number; readonly to: number } {
  const to = period.to ?? Math.max(tomorrow(), (period.from ?? 0) + 1);
  return { from: period.from ?? to - DEFAULT_DAYS, to };
}

export async function readStats(
  { read_model }: OperatorServices,
  query: z.output<typeof readStatsQuery>,
) {
  const { from, to } = daysOf(query);
  const as_of = timestamp(Date.now());
  return { series: await read_model.readDailyTotals(from, to, query.app ?? null), as_of };
}
