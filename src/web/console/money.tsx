/** `GET /console/money[?month=][?first=&last=]`: the figures of a month or another period; `.csv?list=`: one list. */
import * as z from "zod/mini";
import { DAY_MS, monthOf, readMonth } from "../../domain/calendar.ts";
import {
  dayName,
  moneyDays,
  moneyQuery,
  readMoney,
  readMonthMoney,
  sendMoneyList,
  wholeMonth,
  type MoneyList,
} from "../../http/api/admin/read_money.ts";
import { daysOf } from "../../http/api/admin/read_stats.ts";
import { factory } from "../../http/context.ts";
import { appNames } from "../account/apps.ts";
import { MoneyPage } from "./money_page.tsx";
import { nullIfUnreadable, readQuery } from "./queries.ts";

const day = z.optional(z.iso.date());
const pageQuery = z.object({ month: z.optional(z.string()), first: day, last: day });

/** The first day and the day after the last one. A period that the API refuses becomes this month. */
function periodOf({ month = "", first, last }: z.output<typeof pageQuery>) {
  const { from_ms, to_ms } = readMonth(month) ?? monthOf(Date.now());
  const whole = { from: from_ms / DAY_MS, to: to_ms / DAY_MS };
  if (first === undefined || last === undefined) return whole;
  const to = dayName(Date.parse(last) / DAY_MS + 1);
  const checked = moneyQuery.safeParse({ from: first, to });
  return checked.success ? daysOf(checked.data) : whole;
}

export const showMoneyPage = factory.createHandlers(async (context) => {
  const days = periodOf(readQuery(context, pageQuery));
  const now = monthOf(Date.now());
  const whole = wholeMonth(days);
  const month = whole === null || whole.from_ms > now.from_ms ? null : whole;
  const [money, month_money, appName] = await Promise.all([
    nullIfUnreadable(readMoney(context, days)),
    month === null ? null : nullIfUnreadable(readMonthMoney(context, month)),
    appNames(context),
  ]);
  const months = [now, monthOf(now.from_ms - 1)];
  return context.html(<MoneyPage {...{ ...days, months, money, month_money, appName }} />);
});

/** A list that the API would refuse is the list of accounts. */
export const downloadMoney = factory.createHandlers((context) => {
  const { list = "accounts" satisfies MoneyList, ...period } = readQuery(context, moneyQuery);
  return sendMoneyList(context, list, moneyDays(period));
});
