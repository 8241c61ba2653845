/** `passbook admin money`: outstanding credits, and the credits and money of a period. */
import {
  moneyText,
  type Admin,
  type Money,
  type MoneyList,
  type MoneyPeriod,
  type MonthMoney,
} from "../client/index.ts";
import { more, print, table, writePieces } from "./output.ts";
import type { GlobalOptions } from "./session.ts";

export interface MoneyOptions extends MoneyPeriod {
  readonly month?: string;
  readonly csv?: MoneyList;
}

export async function showMoney(
  admin: Admin,
  options: GlobalOptions,
  { csv, month, ...period }: MoneyOptions,
): Promise<void> {
  if (csv !== undefined) {
    return writePieces(
      admin.moneyCsv(csv, { ...period, ...(month === undefined ? {} : { month }) }),
    );
  }
  if (month !== undefined) {
    const money = await admin.moneyOfMonth(month);
    return print(options, money, () => textOfMonth(money));
  }
  const money = await admin.money(period);
  return print(options, money, () => textOf(money));
}

function textOfMonth(money: MonthMoney): string {
  const figures = Object.entries(money).filter(([, value]) => typeof value === "number");
  return table(
    ["CREDITS", "CHANGE"],
    figures.map(([name, credits]) => [name, String(credits)]),
  );
}

function textOf({ outstanding: { credits, held, accounts }, by_app, revenue }: Money): string {
  const parts = [`Outstanding now: ${credits} credits, and ${held} held, in ${accounts} accounts.`];
  if (by_app.length > 0) {
    const rows = by_app.map((it) =>
      [it.app, it.granted, it.settled, it.refunded, it.job_refunded].map(String),
    );
    parts.push(table(["APP", "GRANTED", "SETTLED", "REFUNDED", "OF IT BY OPERATORS"], rows));
  }
  if (revenue.length > 0) {
    const rows = revenue.map((it) => [
      it.package,
      String(it.purchases),
      moneyText(it.amount_minor, it.currency),
      moneyText(it.refunded_minor, it.currency),
    ]);
    parts.push(table(["PACKAGE", "PURCHASES", "PAID", "REFUNDED"], rows));
  }
  return parts.join("\n\n");
}

export interface PurchaseOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

export async function showPurchases(
  admin: Admin,
  options: GlobalOptions,
  identity: string,
  filter: PurchaseOptions,
): Promise<void> {
  const page = await admin.accountPurchases(identity, filter);
  print(options, page, () => {
    const rows = page.purchases.map((it) => [
      it.at,
      it.package,
      String(it.credits),
      moneyText(it.amount_minor, it.currency),
      moneyText(it.refunded_minor, it.currency),
      it.payment_url ?? it.payment_intent_id,
    ]);
    const names = ["AT", "PACKAGE", "CREDITS", "PAID", "REFUNDED", "PAYMENT"];
    return rows.length === 0 ? "No purchases." : table(names, rows) + more(page.next_cursor);
  });
}
