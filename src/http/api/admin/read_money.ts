/** `GET /api/admin/money`: what an operator needs to close a month, from the read model, as JSON or CSV. */
import * as z from "zod/mini";
import { DAY_MS } from "../../../domain/calendar.ts";
import { factory, type AppContext } from "../../context.ts";
import { csvRow } from "../../csv.ts";
import { refuse } from "../../refusals.ts";
import { validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";
import { daysOf, is_period, period_fields } from "./read_stats.ts";

/** The lists that can be read as CSV. */
export const MONEY_LISTS = ["by_app", "revenue", "accounts"] as const;
export type MoneyList = (typeof MONEY_LISTS)[number];

/** Accounts that one query of the list of accounts reads. One download may make 1,000 queries. */
const ACCOUNTS_AT_ONCE = 5_000;

export const moneyQuery = z
  .object({
    ...period_fields,
    list: z.optional(z.enum(MONEY_LISTS, `must be one of ${MONEY_LISTS.join(", ")}`)),
  })
  .check(...is_period);

type Days = ReturnType<typeof daysOf>;

export async function readMoney(context: AppContext, days: Days) {
  const { read_model } = context.get("services");
  const as_of = timestamp(Date.now());
  const [outstanding, by_app, revenue] = await Promise.all([
    read_model.readOutstanding(),
    readByApp(context, days),
    readRevenue(context, days),
  ]);
  return { outstanding, by_app, revenue, as_of };
}

async function readByApp(context: AppContext, { from, to }: Days) {
  const totals = await context.get("services").read_model.readAppTotals(from, to, APPS_MAX);
  return totals.map(({ app_slug: app, granted, settled, refunded, job_refunded }) => {
    return { app, granted, settled, refunded, job_refunded };
  });
}

/** More than any deployment has. */
const APPS_MAX = 100_000;

async function readRevenue(context: AppContext, { from, to }: Days) {
  const revenue = await context.get("services").read_model.readRevenue(from, to);
  return revenue.map(({ package_id, ...money }) => ({ package: package_id, ...money }));
}

const COLUMNS = {
  by_app: ["app", "granted", "settled", "refunded", "job_refunded"],
  revenue: ["package", "currency", "purchases", "amount_minor", "refunded_minor"],
  accounts: ["identity_id", "credits", "held"],
} as const;

/** The rows of a list, in portions. */
async function* rowsOf(
  context: AppContext,
  list: MoneyList,
  days: Days,
): AsyncGenerator<readonly object[]> {
  if (list !== "accounts") {
    return yield await (list === "by_app" ? readByApp : readRevenue)(context, days);
  }
  const { read_model } = context.get("services");
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = await read_model.listHoldings(after, ACCOUNTS_AT_ONCE);
    yield page;
    after = page.length < ACCOUNTS_AT_ONCE ? undefined : page.at(-1)?.id;
  }
}

/**
 * A list as a CSV file, sent while it is read. If the read model fails meanwhile, the connection breaks, so that a part is
 * not taken for the whole.
 */
export async function sendMoneyList(
  context: AppContext,
  list: MoneyList,
  days: Days,
): Promise<Response> {
  const portions = rowsOf(context, list, days);
  // Read first, so that an unreachable read model is a proper refusal.
  let next = await portions.next();
  const encoder = new TextEncoder();
  const write = (rows: readonly (readonly (string | number)[])[]) =>
    encoder.encode(rows.map(csvRow).join(""));
  const cells = (row: object) =>
    COLUMNS[list].map((name) => Reflect.get(row, name) as string | number);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(write([COLUMNS[list]])),
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
  return context.body(body, 200, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="${list}-${period}.csv"`,
  });
}

/** A day such as 2026-11-21. */
export function dayName(day: number): string {
  return timestamp(Math.floor(day) * DAY_MS).slice(0, 10);
}

const LIST_AND_CSV = `For CSV, send Accept: text/csv and list, which is one of ${MONEY_LISTS.join(", ")}. Otherwise send neither.`;

export const showMoney = factory.createHandlers(validQuery(moneyQuery), async (context) => {
  const { list, ...period } = context.req.valid("query");
  const is_csv = (context.req.header("Accept") ?? "").includes("text/csv");
  if (is_csv !== (list !== undefined)) {
    return refuse(context, { code: "invalid_request", detail: LIST_AND_CSV });
  }
  const days = daysOf(period);
  return list === undefined
    ? context.json(await readMoney(context, days))
    : sendMoneyList(context, list, days);
});
