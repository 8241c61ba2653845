/** Amounts of money in the language of the page. */
import { moneyText } from "../../domain/currency.ts";
import type { PackagePrice } from "../../domain/purchases.ts";
import { currentShell } from "../layout/shell.ts";

export function money(amount_minor: number, currency: string): string {
  return moneyText(amount_minor, currency, currentShell().language);
}

export function priceText(price: PackagePrice): string {
  return typeof price === "string" ? price : money(price.amount_minor, price.currency);
}
