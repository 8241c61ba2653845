/** An account's automatic top-up: what its holder chose, and the newest top-ups. */
import type { InspectedAccount } from "../../account/contract.ts";
import { moneyText } from "../../domain/currency.ts";
import { credits, number } from "../layout/labels.ts";
import { Time } from "../layout/time.tsx";
import {
  TOP_UP_FAILURES,
  TOP_UP_OUTCOME_TEXTS,
  TOP_UP_STATE_TEXTS,
} from "../layout/top_up_texts.ts";
import { Panel } from "./panel.tsx";
import type { PurchasesPanelProps } from "./purchases_panel.tsx";
import { Table } from "./table.tsx";

interface TopUpsPanelProps extends Pick<PurchasesPanelProps, "paymentUrl"> {
  readonly inspected: InspectedAccount;
}

export function TopUpsPanel({ inspected: { topup, top_ups }, paymentUrl }: TopUpsPanelProps) {
  if (topup === null) return null;
  const { plan, month_spent_minor, state, card } = topup;
  const { currency } = plan;
  return (
    <Panel id="top-ups" title="Automatic top-up">
      <p>
        {TOP_UP_STATE_TEXTS[state].title} {plan.package_name} when fewer than{" "}
        {credits(plan.threshold)} are available, {card}. {moneyText(month_spent_minor, currency)} of
        at most {moneyText(plan.month_limit_minor, currency)} in this month.
      </p>
      <Table
        label="Automatic top-ups"
        columns={["Top-up", { amount: "Credits" }, { amount: "Amount" }, "When", "Payment"]}
        rows={top_ups.map((it) => [
          <>
            {TOP_UP_OUTCOME_TEXTS[it.outcome]}
            {it.failure === null ? null : (
              <span class="hint below">{TOP_UP_FAILURES[it.failure]}</span>
            )}
          </>,
          number(it.credits),
          moneyText(it.amount_minor, it.currency),
          <Time at_ms={it.created_at_ms} />,
          it.payment_intent_id === null ? (
            "none yet"
          ) : paymentUrl === null ? (
            <code>{it.payment_intent_id}</code>
          ) : (
            <a href={paymentUrl(it.payment_intent_id)} rel="noreferrer">
              <code>{it.payment_intent_id}</code>
            </a>
          ),
        ])}
        empty="No top-up was due yet."
      />
    </Panel>
  );
}
