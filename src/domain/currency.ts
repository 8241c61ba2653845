/** Amounts of money as text. Pure. */

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

/** "1,234.50 EUR" for 123450 and "eur"; a negative amount has a minus sign. */
export function moneyText(amount_minor: number, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = String(Math.abs(amount_minor)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = decimals === 0 ? "" : `.${digits.slice(-decimals)}`;
  return `${amount_minor < 0 ? "\u2212" : ""}${whole}${fraction} ${currency.toUpperCase()}`;
}

/** The amount of a text such as "1,234.5" or "20" in the currency's smallest unit; null: it is not one. */
export function readMoney(text: string, currency: string): number | null {
  const [, whole, fraction = ""] =
    /^(\d{1,9})(?:\.(\d+))?$/.exec(text.trim().replaceAll(",", "")) ?? [];
  const decimals = decimalsOf(currency);
  if (whole === undefined || fraction.length > decimals) return null;
  return Number(`${whole}${fraction.padEnd(decimals, "0")}`);
}

/** The amount without its currency, for a field of a form: "20.00". */
export function moneyField(amount_minor: number, currency: string): string {
  return moneyText(amount_minor, currency).split(" ")[0]?.replaceAll(",", "") ?? "";
}
