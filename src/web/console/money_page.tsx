/** Month end: outstanding credits, credits by app, and money by package and currency. */
import { moneyText } from "../../domain/currency.ts";
import { DAY_MS, type Month } from "../../domain/calendar.ts";
import {
  dayName,
  type MoneyList,
  type readMoney,
  type readMonthMoney,
} from "../../http/api/admin/read_money.ts";
import { counted, number, signed } from "../layout/labels.ts";
import { Page } from "../layout/layout.tsx";
import { Panel } from "./panel.tsx";
import { AsOf, consolePath, DayFilter, FilterForm, ReadModelUnavailable, Table } from "./table.tsx";

export interface MoneyPageProps {
  /** Whole UTC days since the epoch; `to` is excluded. */
  readonly from: number;
  readonly to: number;
  /** This month and the last one. */
  readonly months: readonly Month[];
  /** Null if the read model cannot be read. */
  readonly money: Awaited<ReturnType<typeof readMoney>> | null;
  /** Null also if the period is not a month. */
  readonly month_money: MonthMoney | null;
  readonly appName: (slug: string | null) => string;
}

type MonthMoney = Awaited<ReturnType<typeof readMonthMoney>>;

const amount = (name: string) => ({ amount: name });

export function MoneyPage(props: MoneyPageProps) {
  const { from, to, months, money } = props;
  const [first, last] = [dayName(from), dayName(to - 1)];
  return (
    <Page title="Money" section="money" scripts={["times.js"]}>
      <div class="page-head">
        <h1>Money</h1>
        <FilterForm path="/console/money">
          <DayFilter name="first" label="First day" value={first} />
          <DayFilter name="last" label="Last day" value={last} />
        </FilterForm>
      </div>
      <nav class="sorts" aria-label="Months">
        {months.map(({ name, from_ms, to_ms }, at) => (
          <a
            href={consolePath("/console/money", { month: name })}
            aria-current={
              from === from_ms / DAY_MS && to === to_ms / DAY_MS ? ("page" as const) : undefined
            }
          >
            {at === 0 ? "This month" : "Last month"} ({name})
          </a>
        ))}
      </nav>
      {money === null ? <ReadModelUnavailable /> : <Figures {...props} money={money} />}
    </Page>
  );
}

function Figures(props: MoneyPageProps & { readonly money: NonNullable<MoneyPageProps["money"]> }) {
  const { from, to, money, appName } = props;
  const { outstanding, by_app, revenue, as_of } = money;
  const period = `${dayName(from)} to ${dayName(to - 1)}`;
  const csv = (list: MoneyList) => (
    <a href={consolePath("/console/money.csv", { list, from: dayName(from), to: dayName(to) })}>
      Download as CSV
    </a>
  );
  return (
    <>
      {props.month_money === null ? null : (
        <MonthPanel
          money={props.month_money}
          is_running={props.months[0]?.from_ms === from * DAY_MS}
        />
      )}
      <Panel id="revenue" title={`Sales, ${period}`} aside={csv("revenue")}>
        <p class="hint">
          Money paid and returned on these days. A refund or a lost dispute counts on its own day.
        </p>
        <Table
          label="Sales by package and currency"
          columns={["Package", amount("Sold"), amount("Paid"), amount("Returned"), amount("Net")]}
          rows={revenue.map((it) => [
            it.package,
            number(it.purchases),
            moneyText(it.amount_minor, it.currency),
            moneyText(it.refunded_minor, it.currency),
            moneyText(it.amount_minor - it.refunded_minor, it.currency),
          ])}
          empty="Nobody paid, and nothing was returned, on these days."
        />
      </Panel>
      <Panel id="by-app" title={`Credits by app, ${period}`} aside={csv("by_app")}>
        <p class="hint">
          What jobs cost, less what operators refunded, is what people paid for an app’s jobs.
        </p>
        <Table
          label="Credits by app"
          columns={[
            "App",
            amount("Starter credits"),
            amount("Jobs cost"),
            amount("Refunded"),
            amount("Net"),
          ]}
          rows={by_app.map((it) => [
            <a href={consolePath("/console/jobs", { app: it.app })}>{appName(it.app)}</a>,
            number(it.granted),
            number(it.settled),
            number(it.job_refunded),
            number(it.settled - it.job_refunded),
          ])}
          empty="No app was used on these days."
        />
      </Panel>
      <Panel id="outstanding" title="Outstanding credits now" aside={csv("accounts")}>
        <p class="balance-now">
          {number(outstanding.credits)} <small>credits in all balances</small>
        </p>
        <p class="hint">
          And {number(outstanding.held)} held for running jobs, in{" "}
          {counted(outstanding.accounts, "account", "accounts")}. A balance below zero lowers the
          sum.
        </p>
      </Panel>
      <AsOf as_of={as_of} />
    </>
  );
}

const CHANGES = [
  ["granted", "Starter credits"],
  ["purchased", "Bought"],
  ["adjusted", "Adjusted by operators"],
  ["spent", "Spent on jobs"],
  ["job_refunded", "Jobs refunded by operators"],
  ["taken_back", "Taken back with refunds and disputes of purchases"],
  ["forfeited", "In deleted accounts"],
] as const;

function MonthPanel({ money, is_running }: { money: MonthMoney; is_running: boolean }) {
  const { month } = money;
  const csv = (
    <a href={consolePath("/console/money.csv", { list: "month", month })}>Download as CSV</a>
  );
  return (
    <Panel id="month" title={`Credits that people own, ${month}`} aside={csv}>
      <p class="hint">
        All balances, with the credits held for running jobs. A debt of a deleted account counts
        above zero when the account is deleted, and below zero if its holder returns.
      </p>
      <Table
        label="Credits that people own"
        columns={["Change", amount("Credits")]}
        rows={[
          ["At the start", number(money.opening)],
          ...CHANGES.map(([key, name]) => [name, signed(money[key])]),
          [is_running ? "So far" : "At the end", number(money.closing)],
        ]}
        empty=""
      />
    </Panel>
  );
}
