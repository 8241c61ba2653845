/** The credit packages, each with a button to its checkout. */
import type { CreditPackage, PackagePrice, PackagePrices } from "../../domain/purchases.ts";
import { rich, t } from "../language/text.tsx";
import { counted, nameFromSlug, number } from "../layout/labels.ts";
import { BackTo } from "../layout/back_link.tsx";
import { priceText } from "./money.ts";
import type { PurchaseReturn } from "./purchase_return.ts";

interface BuyCreditsProps {
  readonly packages: readonly CreditPackage[];
  /** By the package's id; without an entry, Stripe shows the price. */
  readonly prices: PackagePrices;
  /** The page that the buyer came from; null: none. */
  readonly back: PurchaseReturn | null;
}

export function BuyCredits({ packages, prices, back }: BuyCreditsProps) {
  if (packages.length === 0) return null;
  return (
    <section class="panel" id="buy" aria-labelledby="buy-name">
      <div class="panel-head">
        <h2 id="buy-name">{t("Buy credits")}</h2>
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
                {number(credits)} <small>{t("credits")}</small>
              </p>
              <PackageTerms {...terms} />
              <button type="submit" aria-describedby={`package-${id} credits-${id}`}>
                {buttonText(prices.get(id))}
              </button>
            </form>
          </li>
        ))}
      </ul>
      <p class="hint">
        {packages.every(({ id }) => prices.has(id))
          ? t("Stripe takes the payment; taxes may be added there.")
          : t("Stripe shows the price and takes the payment.")}{" "}
        {t("Your credits arrive as soon as the payment is confirmed.")}{" "}
        {rich("{top_up} buys them before they run out.", {
          top_up: <a href="/account/top-up">{t("Automatic top-up")}</a>,
        })}
      </p>
    </section>
  );
}

const buttonText = (price: PackagePrice | undefined): string =>
  price === undefined ? t("Buy") : t("Buy for {price}", { price: priceText(price) });

/** When a package's credits expire, and where they can be used; nothing if it has no terms. */
function PackageTerms({
  expires_after_days,
  app_slugs,
}: Pick<CreditPackage, "expires_after_days" | "app_slugs">) {
  const texts = [
    expires_after_days === undefined
      ? null
      : t("usable for {days}", { days: counted(expires_after_days, "day", "days") }),
    app_slugs === undefined
      ? null
      : t("only in {apps}", { apps: app_slugs.map(nameFromSlug).join(", ") }),
  ].filter((text) => text !== null);
  return texts.length === 0 ? null : <p class="hint">{texts.join(", ")}</p>;
}
