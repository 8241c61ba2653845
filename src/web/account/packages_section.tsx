/** The credit packages, each with a button to its checkout. */
import type { CreditPackage } from "../../domain/purchases.ts";
import { counted, nameFromSlug, number } from "../layout/labels.ts";
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
        {packages.map(({ id, name, credits, ...terms }) => (
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
              <PackageTerms {...terms} />
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
        Your credits arrive as soon as the payment is confirmed.{" "}
        <a href="/account/top-up">Automatic top-up</a> buys them before they run out.
      </p>
    </section>
  );
}

/** When a package's credits expire, and where they can be used; nothing if it has no terms. */
function PackageTerms({
  expires_after_days,
  app_slugs,
}: Pick<CreditPackage, "expires_after_days" | "app_slugs">) {
  const texts = [
    expires_after_days === undefined
      ? null
      : `usable for ${counted(expires_after_days, "day", "days")}`,
    app_slugs === undefined ? null : `only in ${app_slugs.map(nameFromSlug).join(", ")}`,
  ].filter((text) => text !== null);
  return texts.length === 0 ? null : <p class="hint">{texts.join(", ")}</p>;
}
