/** The prices of the packages for sale, for buttons. */
import type { CreditPackage, PackagePrice, PackagePrices } from "../domain/purchases.ts";
import type { Refusal } from "../domain/refusals.ts";
import { errorName, type Result } from "../domain/result.ts";
import type { Price } from "./stripe_objects.ts";

/** How long a page waits for prices that are not known yet. It reads its account meanwhile, which takes about as long. */
const PRICES_WAIT_MS = 300;

/** The pause after a try that did not bring every price. */
const PRICES_RETRY_MS = 60_000;

/**
 * Returns a function that gives the prices: those of the settings, and the others from Stripe. It never rejects. An amount
 * of a Stripe price never changes, so this isolate reads it once. Only the request that starts a read waits for it, and
 * `keepAlive` lets the read continue after the response.
 */
export function createPrices(
  packages: readonly CreditPackage[],
  readPrice: (price: string) => Promise<Result<Price, Refusal>>,
): (keepAlive: (work: Promise<unknown>) => void) => Promise<PackagePrices> {
  // Null: Stripe has no fixed price for it, so asking again is useless.
  const prices = new Map<string, PackagePrice | null>();
  for (const { id, price_text } of packages)
    if (price_text !== undefined) prices.set(id, price_text);
  let next_read_ms = 0;

  const read = async ({ id, price }: CreditPackage): Promise<void> => {
    try {
      const found = await readPrice(price);
      if (found.ok) prices.set(id, amountOf(found.value));
      else if (found.refusal.code === "payments_refused") prices.set(id, null);
    } catch (error) {
      console.warn({ event: "price_unreadable", package: id, reason: errorName(error) });
    }
  };
  return async (keepAlive) => {
    const missing = packages.filter(({ id }) => !prices.has(id));
    if (missing.length > 0 && Date.now() >= next_read_ms) {
      next_read_ms = Date.now() + PRICES_RETRY_MS;
      const reading = Promise.all(missing.map(read));
      keepAlive(reading);
      await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PRICES_WAIT_MS))]);
    }
    return new Map(
      [...prices].flatMap(([id, price]) => (price === null ? [] : [[id, price] as const])),
    );
  };
}

function amountOf({ active, type, unit_amount, currency }: Price): PackagePrice | null {
  if (!active || type !== "one_time" || unit_amount === null) return null;
  return { amount_minor: unit_amount, currency };
}
