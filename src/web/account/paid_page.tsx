/** The page a buyer comes back to: paid, waiting for the payment's word, or called off. */
import { Page } from "../layout/layout.tsx";
import { CHECKOUT_WORDS, credits as creditWords, number } from "../layout/account_words.ts";

export interface CheckoutPageProps {
  readonly state: "paid" | "waiting" | "cancelled";
  readonly purchase: { readonly package_name: string; readonly credits: number } | null;
  readonly was_taken_back: boolean;
  /** The balance of now, and the line of the passbook that the page follows from. */
  readonly credits: number;
  readonly line: number;
  /** This very page, to look again without a script. */
  readonly again: string;
}

/** While it waits it follows the account's stream; what changes is told to screen readers too. */
export function CheckoutPage(props: CheckoutPageProps) {
  const { state, line, again } = props;
  const { title } = CHECKOUT_WORDS[state];
  return (
    <Page title={title} section="account" scripts={state === "waiting" ? ["live.js"] : []}>
      <section class="panel checkout" {...(state === "waiting" ? { "data-live-after": line } : {})}>
        <div role="status">
          <div id="checkout" data-live>
            <State {...props} />
          </div>
        </div>
        <div class="acts" id="checkout-acts" data-live>
          <a class="button" href="/account">
            Go to your account
          </a>
          {state === "waiting" ? (
            <a class="button quiet" href={again}>
              Look again
            </a>
          ) : null}
          {state === "cancelled" ? (
            <a class="button quiet" href="/account#buy">
              Choose a package
            </a>
          ) : null}
        </div>
      </section>
    </Page>
  );
}

function State({ state, purchase, credits, was_taken_back }: CheckoutPageProps) {
  const { title, text } = CHECKOUT_WORDS[state];
  return (
    <>
      <p class={`checkout-sign is-${state}`} aria-hidden="true"></p>
      <h1>{title}</h1>
      {purchase === null ? null : (
        <p class="checkout-amount">
          +{creditWords(purchase.credits)} <span class="hint">{purchase.package_name}</span>
        </p>
      )}
      <p>{was_taken_back ? "Since then the payment went back, and credits with it." : text}</p>
      <p class="hint">Your balance is {number(credits)}.</p>
    </>
  );
}
