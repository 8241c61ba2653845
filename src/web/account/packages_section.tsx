/** The credit packages, each with a button to its checkout. */
import type { CreditPackage } from "../../domain/purchases.ts";
import { number } from "../layout/labels.ts";

export function BuyCredits({ packages }: { packages: readonly CreditPackage[] }) {
  if (packages.length === 0) return null;
  return (
    <section class="panel" id="buy" aria-labelledby="buy-name">
      <h2 id="buy-name">Buy credits</h2>
      <ul class="packages">
        {packages.map(({ id, name, credits }) => (
          <li>
            <form method="post" action="/account/buy">
              <input type="hidden" name="package" value={id} />
              <h3 id={`package-${id}`}>{name}</h3>
              <p id={`credits-${id}`} class="package-credits">
                {number(credits)} <small>credits</small>
              </p>
              <button type="submit" class="small" aria-describedby={`package-${id} credits-${id}`}>
                Buy
              </button>
            </form>
          </li>
        ))}
      </ul>
      <p class="hint">
        Stripe shows the price and takes the payment. Your credits arrive as soon as the payment is
        confirmed.
      </p>
    </section>
  );
}
