/** The credits that a person bought: the newest on the account page, and all of them on a page of their own. */
import type { PurchaseRecord } from "../../account/contract.ts";
import { t } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";
import { credits } from "../layout/labels.ts";
import { SomethingWrong } from "../layout/support.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { money } from "./money.ts";

interface PurchasesProps {
  readonly purchases: readonly PurchaseRecord[];
  /** Whether Stripe can be asked for receipts. */
  readonly has_receipts: boolean;
}

/** `has_more`: whether there are older purchases. */
export function Purchases(props: PurchasesProps & { readonly has_more: boolean }) {
  if (props.purchases.length === 0) return null;
  return (
    <section class="panel" id="purchases" aria-labelledby="purchases-name">
      <div class="panel-head">
        <h2 id="purchases-name">{t("Purchases")}</h2>
        {props.has_more ? <a href="/account/purchases">{t("All purchases")}</a> : null}
      </div>
      <Rows {...props} />
    </section>
  );
}

/** `older_path`: the next page; null: this is the last one. */
export function PurchasesPage(props: PurchasesProps & { readonly older_path: string | null }) {
  return (
    <Page title={t("Purchases")} section="account" scripts={["times.js"]}>
      <h1>{t("Purchases")}</h1>
      <section class="panel">
        {props.purchases.length === 0 ? (
          <p class="empty">{t("No purchases.")}</p>
        ) : (
          <Rows {...props} />
        )}
      </section>
      <nav class="pages" aria-label={t("Pages")}>
        <a href="/account">{t("Your account")}</a>
        {props.older_path === null ? null : (
          <a href={props.older_path} rel="next">
            {t("Older purchases")}
          </a>
        )}
      </nav>
      <Zone />
    </Page>
  );
}

function Rows({ purchases, has_receipts }: PurchasesProps) {
  return (
    <ul class="rows">
      {purchases.map((it) => (
        <li>
          <span>
            <strong>+{credits(it.credits)}</strong> {it.package_name}
            <span class="hint below">
              <Time at_ms={it.created_at_ms} />
              {it.taken_back === 0
                ? null
                : ` · ${t("refunded, {credits} taken back", { credits: credits(it.taken_back) })}`}
            </span>
          </span>
          <span class="paid">
            {money(it.paid_minor, it.currency)}
            {has_receipts ? (
              <a href={`/account/receipt?payment=${it.payment_intent_id}`}>
                {t("Receipt")}
                <span class="unseen">{` ${t("for {name}", { name: it.package_name })}`}</span>
              </a>
            ) : null}
            <SomethingWrong kind="purchase" id={it.payment_intent_id} name={it.package_name} />
          </span>
        </li>
      ))}
    </ul>
  );
}
