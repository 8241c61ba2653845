/** The figures with which an operator closes a month, from the read model, also as lists in CSV. */
import * as z from "zod/mini";
import { DAY_MS, monthOf, readMonth, type Month } from "../domain/calendar.ts";
import { csvRow } from "../domain/csv.ts";
import { timestamp } from "../domain/wire.ts";
import type { OperatorServices } from "./acting.ts";
import { daysOf, is_period, period_fields } from "./read_stats.ts";

/** The lists that can be read as CSV. */
export const MONEY_LISTS = ["by_app", "revenue", "accounts", "month"] as const;
export type MoneyList = (typeof MONEY_LISTS)[number];

const NOT_A_MONTH = "must be a month such as 2026-11, and not in the future";

export const moneyQuery = z
  .object({
    ...period_fields,
    month: z.optional(
      z.string().check(
        z.refine((text) => {
          const month = readMonth(text);
          return month !== null && month.from_ms <= Date.now();
        }, NOT_A_MONTH),
      ),
    ),
    list: z.optional(z.enum(MONEY_LISTS, `must be one of ${MONEY_LISTS.join(", ")}`)),
  })
  .check(
    ...is_period,
    z.refine(
      ({ month, from, to }) => month === undefined || (from === undefined && to === undefined),
      {
        path: ["month"],
        message: "must be sent without from and to",
      },
    ),
    z.refine(({ list, month }) => list !== "month" || month !== undefined, {
      path: ["month"],
      message: "must name the month of the list",
    }),
  );

type Days = ReturnType<typeof daysOf>;

const daysOfMonth = ({ from_ms, to_ms }: Month): Days => ({
  from: from_ms / DAY_MS,
  to: to_ms / DAY_MS,
});

/** The days of a month, or of another period. */
export function moneyDays({ month, ...period }: Omit<z.output<typeof moneyQuery>, "list">): Days {
  const named = month === undefined ? null : readMonth(month);
  return named === null ? daysOf(period) : daysOfMonth(named);
}

/** The month that these days are; null if they are not one. */
export function wholeMonth({ from, to }: Days): Month | null {
  const month = monthOf(from * DAY_MS);
  return month.from_ms === from * DAY_MS && month.to_ms === to * DAY_MS ? month : null;
}

/** Bought credits that are left, and what was paid for them; a null currency: the price is unknown. */
interface LiabilityRow {
  readonly currency: string | null;
  readonly credits: number;
  readonly amount_minor: number | null;
}

/**
 * The credits that all people owned before and after a month, their changes, and what was paid for the bought ones that are
 * left. A running month is counted so far.
 */
export async function readMonthMoney({ read_model }: OperatorServices, month: Month) {
  const { from, to } = daysOfMonth(month);
  const as_of = timestamp(Date.now());
  const { owed, ...totals } = await read_model.readMonthTotals(from, to);
  const priced = owed.map(({ currency, credits, minor, nanos }): LiabilityRow => ({
    currency,
    credits,
    amount_minor: minor + Math.round(nanos / 1e9),
  }));
  const without_price = priced.reduce((rest, { credits }) => rest - credits, totals.closing.bought);
  const others = { currency: null, credits: without_price, amount_minor: null };
  const liability = without_price === 0 ? priced : [...priced, others];
  return { month: month.name, ...totals, liability, as_of };
}

export async function readMoney(services: OperatorServices, days: Days) {
  const as_of = timestamp(Date.now());
  const [outstanding, by_app, revenue] = await Promise.all([
    services.read_model.readOutstanding(),
    readByApp(services, days),
    readRevenue(services, days),
  ]);
  return { outstanding, by_app, revenue, as_of };
}

async function readByApp({ read_model }: OperatorServices, { from, to }: Days) {
  const totals = await read_model.readAppTotals(from, to, APPS_MAX);
  return totals.map(({ app_slug: app, granted, settled, refunded, job_refunded }) => {
    return { app, granted, settled, refunded, job_refunded };
  });
}

/** More than any deployment has. */
const APPS_MAX = 100_000;

async function readRevenue({ read_model }: OperatorServices, { from, to }: Days) {
  const revenue = await read_model.readRevenue(from, to);
  return revenue.map(({ package_id, ...money }) => ({
    package: package_id === "" ? null : package_id,
    ...money,
  }));
}

/** In the order of their columns. */
const MONTH_FIGURES = [
  "opening",
  "granted",
  "purchased",
  "adjusted",
  "spent",
  "job_refunded",
  "expired",
  "taken_back",
  "forfeited",
  "closing",
] as const;

/** A month as one row. */
async function readMonthRow(services: OperatorServices, month: Month): Promise<object> {
  const money = await readMonthMoney(services, month);
  const cells = MONTH_FIGURES.flatMap((name) => [
    [`${name}_bought`, money[name].bought],
    [`${name}_given`, money[name].given],
  ]);
  const liability = money.liability.flatMap(({ currency, credits, amount_minor }) =>
    currency === null
      ? [["liability_unpriced_credits", credits]]
      : [
          [`liability_${currency}_credits`, credits],
          [`liability_${currency}_minor`, amount_minor],
        ],
  );
  return { month: money.month, ...Object.fromEntries([...cells, ...liability]) };
}

const COLUMNS = {
  by_app: ["app", "granted", "settled", "refunded", "job_refunded"],
  revenue: ["package", "currency", "purchases", "amount_minor", "refunded_minor"],
  accounts: ["identity_id", "credits", "held"],
} as const;

/** The rows of a list, in portions. */
async function* rowsOf(
  services: OperatorServices,
  list: MoneyList,
  days: Days,
): AsyncGenerator<readonly object[]> {
  if (list === "month") {
    const month = wholeMonth(days);
    return yield month === null ? [] : [await readMonthRow(services, month)];
  }
  if (list !== "accounts") {
    return yield await (list === "by_app" ? readByApp : readRevenue)(services, days);
  }
  const { read_model } = services;
  for (let after: string | null = ""; after !== null;) {
    const { accounts, next }: Awaited<ReturnType<typeof read_model.listHoldings>> =
      await read_model.listHoldings(after);
    yield accounts;
    after = next;
  }
}

/** A CSV file that is sent while it is read. */
interface CsvFile {
  readonly name: string;
  readonly body: ReadableStream<Uint8Array>;
}

/**
 * A list as a CSV file, sent while it is read. If the read model fails meanwhile, the connection breaks, so that a part is
 * not taken for the whole.
 */
export async function readMoneyList(
  services: OperatorServices,
  list: MoneyList,
  days: Days,
): Promise<CsvFile> {
  const portions = rowsOf(services, list, days);
  // Read first, so that an unreachable read model is a proper refusal.
  let next = await portions.next();
  // A month has columns for each currency.
  const columns = list === "month" ? Object.keys(next.value?.[0] ?? {}) : COLUMNS[list];
  const encoder = new TextEncoder();
  const write = (rows: readonly (readonly (string | number)[])[]) =>
    encoder.encode(rows.map(csvRow).join(""));
  const cells = (row: object) =>
    columns.map((name) => (Reflect.get(row, name) ?? "") as string | number);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(write([columns])),
    async pull(controller) {
      if (next.done === true) return controller.close();
      controller.enqueue(write(next.value.map(cells)));
      next = await portions.next();
    },
  });
  const period =
    list === "accounts"
      ? dayName(Date.now() / DAY_MS)
      : `${dayName(days.from)}-${dayName(days.to)}`;
  return { name: `${list}-${period}.csv`, body };
}

/** A day such as 2026-11-21. */
export function dayName(day: number): string {
  return timestamp(Math.floor(day) * DAY_MS).slice(0, 10);
}
