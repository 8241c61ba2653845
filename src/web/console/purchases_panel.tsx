/** An account's purchases, each with a link to the payment service. */
import { moneyText } from "../../domain/currency.ts";
import type { PurchaseRecord } from "../../account/contract.ts";
import { number } from "../layout/labels.ts";
import { Time } from "../layout/time.tsx";
import { Panel } from "./panel.tsx";
import { Table } from "./table.tsx";

export interface PurchasesPanelProps {
  /** The newest ones. */
  readonly purchases: readonly PurchaseRecord[];
  /** The page of a payment at the payment service; null: this deployment does not sell credits. */
  readonly paymentUrl: ((payment_intent_id: string) => string) | null;
}

export function PurchasesPanel({ purchases, paymentUrl }: PurchasesPanelProps) {
  if (purchases.length === 0) return null;
  return (
    <Panel id="purchases" title="Purchases">
      <Table
        label="Purchases"
        columns={["Package", { amount: "Credits" }, { amount: "Paid" }, "When", "Payment"]}
        rows={purchases.map((it) => [
          it.package_name,
          <>
            {number(it.credits)}
            {it.taken_back === 0 ? null : (
              <span class="hint below">{number(it.taken_back)} taken back</span>
            )}
          </>,
          <>
            {moneyText(it.paid_minor, it.currency)}
            {it.refunded_minor === 0 ? null : (
              <span class="hint below">{moneyText(it.refunded_minor, it.currency)} returned</span>
            )}
          </>,
          <Time at_ms={it.created_at_ms} style="day" />,
          paymentUrl === null ? (
            <code>{it.payment_intent_id}</code>
          ) : (
            <a href={paymentUrl(it.payment_intent_id)} rel="noreferrer">
              <code>{it.payment_intent_id}</code>
            </a>
          ),
        ])}
        empty=""
      />
    </Panel>
  );
}
