import { describe, expect, it } from "vitest";
import { isCurrency, moneyField, moneyText, readMoney } from "../../../src/domain/currency.ts";

describe("amounts of money", () => {
  it.each([
    [123_450, "eur", "1,234.50 EUR"],
    [5, "eur", "0.05 EUR"],
    [0, "EUR", "0.00 EUR"],
    [100_000_000, "usd", "1,000,000.00 USD"],
    [-99_900, "usd", "\u2212999.00 USD"],
    [1_234, "jpy", "1,234 JPY"],
    [0, "jpy", "0 JPY"],
    [1_234_567, "KWD", "1,234.567 KWD"],
  ])("%i in %s reads as %s", (amount_minor, currency, text) => {
    expect(moneyText(amount_minor, currency)).toBe(text);
  });

  it("a German amount has a point for thousands and a comma for decimals", () => {
    expect(moneyText(-123_450, "eur", "de")).toBe("\u22121.234,50 EUR");
    expect(moneyField(123_456_789, "eur", "de")).toBe("1234567,89");
    expect(readMoney("1.234,5", "eur", "de")).toBe(123_450);
    expect(readMoney("50,00", "eur", "de")).toBe(5_000);
    expect(readMoney("50.00", "eur", "de")).toBeNull();
  });

  it("a field of a form has no currency and no commas", () => {
    expect(moneyField(123_456_789, "eur")).toBe("1234567.89");
    expect(moneyField(1_234, "jpy")).toBe("1234");
  });

  it.each([
    ["20", "eur", 2_000],
    [" 1,234.5 ", "eur", 123_450],
    ["0.05", "eur", 5],
    ["20", "jpy", 20],
    ["1.234", "kwd", 1_234],
    ["999999999", "eur", 99_999_999_900],
  ])("%j in %s is read as %i", (text, currency, amount_minor) => {
    expect(readMoney(text, currency)).toBe(amount_minor);
  });

  it.each([
    ["1.234", "eur"],
    ["1.2", "jpy"],
    ["50,00", "eur"],
    ["1,2345", "eur"],
    ["1,234567", "eur"],
    [",123", "eur"],
    ["", "eur"],
    ["-1", "eur"],
    ["1.", "eur"],
    ["1234567890", "eur"],
    ["x", "eur"],
  ])("%j in %s is not an amount", (text, currency) => {
    expect(readMoney(text, currency)).toBeNull();
  });

  it("a currency is a known code in lower case", () => {
    expect(["eur", "jpy"].every(isCurrency)).toBe(true);
    expect(["EUR", "eu", "zzz", ""].some(isCurrency)).toBe(false);
  });
});
