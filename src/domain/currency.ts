/** Amounts of money as text. Pure. */
import { LANGUAGES, type Language } from "./language.ts";

/**
 * Currencies whose smallest unit is not a hundredth, as the payment service counts them (Stripe's docs, "Supported
 * currencies"). It counts ISK and UGX in hundredths, which ISO 4217 and `Intl` do not.
 */
const NO_DECIMALS = "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf".split(" ");
const THREE_DECIMALS = ["bhd", "jod", "kwd", "omr", "tnd"];

/** Whether it is the code of a currency as payment services write it, such as "eur". */
export function isCurrency(code: string): boolean {
  return code === code.toLowerCase() && CODES.has(code.toUpperCase());
}

const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

function decimalsOf(currency: string): number {
  const code = currency.toLowerCase();
  if (NO_DECIMALS.includes(code)) return 0;
  return THREE_DECIMALS.includes(code) ? 3 : 2;
}

/** The signs of thousands and of decimals are the other way round in some languages. */
function signsFor(language: Language, text: string): string {
  return LANGUAGES[language].decimal_sign === "."
    ? text
    : text.replace(/[.,]/g, (sign) => (sign === "," ? "." : ","));
}

/** "1,234.50 EUR" for 123450 and "eur"; a negative amount has a minus sign. */
export function moneyText(
  amount_minor: number,
  currency: string,
  language: Language = "en",
): string {
  const decimals = decimalsOf(currency);
  const digits = String(Math.abs(amount_minor)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = decimals === 0 ? "" : `.${digits.slice(-decimals)}`;
  const sign = amount_minor < 0 ? "\u2212" : "";
  return `${sign}${signsFor(language, whole + fraction)} ${currency.toUpperCase()}`;
}

/**
 * The amount of a text such as "1,234.5" or "20" in the currency's smallest unit; null: it is not one. A sign of thousands
 * stands before three digits, so "50,00" is not read as 5000.
 */
export function readMoney(
  text: string,
  currency: string,
  language: Language = "en",
): number | null {
  const [, whole, fraction = ""] =
    /^(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.(\d+))?$/.exec(signsFor(language, text.trim())) ?? [];
  const decimals = decimalsOf(currency);
  if (whole === undefined || fraction.length > decimals) return null;
  return Number(`${whole.replaceAll(",", "")}${fraction.padEnd(decimals, "0")}`);
}

/** The amount without its currency, for a field of a form: "20.00". */
export function moneyField(
  amount_minor: number,
  currency: string,
  language: Language = "en",
): string {
  const text = moneyText(amount_minor, currency).split(" ")[0]?.replaceAll(",", "") ?? "";
  return signsFor(language, text);
}
