/** The credit packages, each with a button to its checkout. */
import type { CreditPackage } from "../../domain/purchases.ts";
import { number } from "../layout/labels.ts";
import { BackTo } from "../layout/back_link.tsx";
import type { PurchaseReturn } from "./purchase_return.ts";

interface BuyCreditsProps {
  readonly packages: readonly CreditPackage[];
  /** By the package's id; without an entry, Stripe shows the price. */
  readonly prices: ReadonlyMap<string, string>;
  /** The page that the buyer came from; null: none. */
  readonly back: PurchaseReturn | null;
}

export function BuyCredits({ packages, prices, back }: BuyCreditsProps) {
  if (packages.length === 0) return null;
  return (
    <section class="panel" id="buy" aria-labelledby="buy-name">
      <div class="panel-head">
        <h2 id="buy-name">Buy credits</h2>
        <BackTo back={back} result={null} />
      </div>
      <ul class="packages">
        {packages.map(({ id, name, credits }) => (
          <li>
            <form method="post" action="/account/buy">
              <input type="hidden" name="package" value={id} />
              {Object.entries(back?.fields ?? {}).map(([name, value]) => (
                <input type="hidden" name={name} value={value} />
              ))}
              <h3 id={`package-${id}`}>{name}</h3>
              <p id={`credits-${id}`} class="package-credits">
                {number(credits)} <small>credits</small>
              </p>
              <button type="submit" aria-describedby={`package-${id} credits-${id}`}>
                {prices.has(id) ? `Buy for ${prices.get(id)}` : "Buy"}
              </button>
            </form>
          </li>
        ))}
      </ul>
      <p class="hint">
        {packages.every(({ id }) => prices.has(id))
          ? "Stripe takes the payment; taxes may be added there."
          : "Stripe shows the price and takes the payment."}{" "}
        Your credits arrive as soon as the payment is confirmed.
      </p>
    </section>
  );
}
