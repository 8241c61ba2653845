/** The prices of the packages for sale, as text for buttons. */
import { moneyText } from "../domain/currency.ts";
import type { CreditPackage } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { errorName, type Result } from "../domain/result.ts";
import type { Price } from "./stripe_objects.ts";

/** How long a page waits for prices that are not known yet. It reads its account meanwhile, which takes about as long. */
const PRICES_WAIT_MS = 300;

/** The pause after a try that did not bring every price. */
const PRICES_RETRY_MS = 60_000;

/** The texts by the package's id. Without an entry, the price is not known now. */
type PriceTexts = ReadonlyMap<string, string>;

/**
 * Returns a function that gives the texts: those of the settings, and the others from Stripe. It never rejects. An amount
 * of a Stripe price never changes, so this isolate reads it once. Only the request that starts a read waits for it, and
 * `keepAlive` lets the read continue after the response.
 */
export function createPriceTexts(
  packages: readonly CreditPackage[],
  readPrice: (price: string) => Promise<Result<Price, Refusal>>,
): (keepAlive: (work: Promise<unknown>) => void) => Promise<PriceTexts> {
  // Null: Stripe has no fixed price for it, so asking again is useless.
  const texts = new Map<string, string | null>();
  for (const { id, price_text } of packages)
    if (price_text !== undefined) texts.set(id, price_text);
  let next_read_ms = 0;

  const read = async ({ id, price }: CreditPackage): Promise<void> => {
    try {
      const found = await readPrice(price);
      if (found.ok) texts.set(id, textOf(found.value));
      else if (found.refusal.code === "payments_refused") texts.set(id, null);
    } catch (error) {
      console.warn({ event: "price_unreadable", package: id, reason: errorName(error) });
    }
  };
  return async (keepAlive) => {
    const missing = packages.filter(({ id }) => !texts.has(id));
    if (missing.length > 0 && Date.now() >= next_read_ms) {
      next_read_ms = Date.now() + PRICES_RETRY_MS;
      const reading = Promise.all(missing.map(read));
      keepAlive(reading);
      await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PRICES_WAIT_MS))]);
    }
    return new Map(
      [...texts].flatMap(([id, text]) => (text === null ? [] : [[id, text] as const])),
    );
  };
}

function textOf({ active, type, unit_amount, currency }: Price): string | null {
  if (!active || type !== "one_time" || unit_amount === null) return null;
  return moneyText(unit_amount, currency);
}
