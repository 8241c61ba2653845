/** The page that a buyer returns to: paid, waiting for the confirmation, or cancelled. */
import type { ListedPurchase } from "../../account/contract.ts";
import { buyPath, type PurchaseReturn } from "./purchase_return.ts";
import { BackTo } from "../layout/back_link.tsx";
import { t } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";
import { CHECKOUT_TEXTS, credits as creditText, number } from "../layout/labels.ts";

interface CheckoutPageProps extends ListedPurchase {
  readonly state: "paid" | "waiting" | "cancelled";
  /** The path of this page, to check again without a script. */
  readonly reload_path: string;
  /** The page that the buyer came from; null: none. */
  readonly back: PurchaseReturn | null;
}

/** While it waits, it follows the account's stream, and screen readers announce the change. */
export function CheckoutPage(props: CheckoutPageProps) {
  const { state, line, reload_path, back } = props;
  return (
    <Page
      title={t(CHECKOUT_TEXTS[state].title)}
      section="account"
      scripts={state === "waiting" ? ["live.js"] : []}
    >
      <section class="panel checkout" {...(state === "waiting" ? { "data-live-after": line } : {})}>
        <div role="status">
          <div id="checkout" data-live>
            <State {...props} />
          </div>
        </div>
        <div class="acts" id="checkout-acts" data-live>
          <BackTo back={back} result={state === "paid" ? "bought" : null} button />
          <a class={back === null ? "button" : "button quiet"} href="/account#purchases">
            {t("Go to your account")}
          </a>
          {state === "waiting" ? (
            <a class="button quiet" href={reload_path}>
              {t("Check again")}
            </a>
          ) : null}
          {state === "cancelled" ? (
            <a class="button quiet" href={buyPath(back)}>
              {t("Choose a package")}
            </a>
          ) : null}
        </div>
      </section>
    </Page>
  );
}

function State({ state, purchase, credits, taken_back }: CheckoutPageProps) {
  const { title, text } = CHECKOUT_TEXTS[state];
  return (
    <>
      <p class={`checkout-sign is-${state}`} aria-hidden="true"></p>
      <h1>{t(title)}</h1>
      {purchase === null ? null : (
        <p class="checkout-amount">
          +{creditText(purchase.credits)} <span class="hint">{purchase.package_name}</span>
        </p>
      )}
      <p>
        {t(taken_back > 0 ? "The payment was refunded later, and credits were taken back." : text)}
      </p>
      <p class="hint">{t("Your balance is {count}.", { count: number(credits) })}</p>
    </>
  );
}
