/** Packages of credits, each one press from the checkout. */
import { number } from "../layout/account_words.ts";

export interface ShownPackage {
  readonly id: string;
  readonly name: string;
  readonly credits: number;
}

export function BuyCredits({ packages }: { packages: readonly ShownPackage[] }) {
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
        You see the price and pay at Stripe, then come back here. Credits arrive as soon as the
        payment is confirmed.
      </p>
    </section>
  );
}
