/** `GET /console/money[?month=][?first=&last=]`: the figures of a month or another period; `.csv?list=`: one list. */
import { DAY_MS, monthOf, readMonth } from "../../domain/calendar.ts";
import { moneyText } from "../../domain/currency.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { sendCsv } from "../../http/download.ts";
import {
  dayName,
  moneyDays,
  moneyQuery,
  readMoney,
  readMoneyList,
  readMonthMoney,
  wholeMonth,
  type MoneyList,
} from "../../operator/read_money.ts";
import { daysOf } from "../../operator/read_stats.ts";
import { appNames } from "../account/apps.ts";
import { counted, number, signed } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { Panel } from "./panel.tsx";
import { nullIfUnreadable, readQuery } from "./queries.ts";
import { AsOf, consolePath, FilterForm, ReadModelUnavailable, Table } from "./table.tsx";
import * as z from "zod/mini";

const day = z.optional(z.iso.date());
const pageQuery = z.object({ month: z.optional(z.string()), first: day, last: day });

/** The first day and the day after the last one. A period that the API refuses becomes this month. */
function periodOf({ month = "", first, last }: z.output<typeof pageQuery>) {
  const { from_ms, to_ms } = readMonth(month) ?? monthOf(Date.now());
  const whole = { from: from_ms / DAY_MS, to: to_ms / DAY_MS };
  if (first === undefined || last === undefined) return whole;
  const to = dayName(Date.parse(last) / DAY_MS + 1);
  const checked = moneyQuery.safeParse({ from: first, to });
  return checked.success ? daysOf(checked.data) : whole;
}

export const showMoneyPage = factory.createHandlers(async (context) =>
  context.html(<MoneyPage {...await readMoneyPage(context)} />),
);

async function readMoneyPage(context: AppContext) {
  const services = context.get("services");
  const days = periodOf(readQuery(context, pageQuery));
  const now = monthOf(Date.now());
  const whole = wholeMonth(days);
  const month = whole === null || whole.from_ms > now.from_ms ? null : whole;
  const [money, month_money, appName] = await Promise.all([
    nullIfUnreadable(readMoney(services, days)),
    month === null ? null : nullIfUnreadable(readMonthMoney(services, month)),
    appNames(context),
  ]);
  /** This month and the last one. */
  const months = [now, monthOf(now.from_ms - 1)] as const;
  return { ...days, months, money, month_money, appName };
}

type MoneyPageProps = Awaited<ReturnType<typeof readMoneyPage>>;
type MonthMoney = NonNullable<MoneyPageProps["month_money"]>;

/** A list that the API would refuse is the list of accounts. */
export const downloadMoney = factory.createHandlers(async (context) => {
  const { list = "accounts" satisfies MoneyList, ...period } = readQuery(context, moneyQuery);
  const file = await readMoneyList(context.get("services"), list, moneyDays(period));
  return sendCsv(context, file);
});

const amount = (name: string) => ({ amount: name });

const PERIOD = [
  { name: "first", label: "First day", type: "date" },
  { name: "last", label: "Last day", type: "date" },
] as const;

function MoneyPage(props: MoneyPageProps) {
  const { from, to, months, money } = props;
  const [first, last] = [dayName(from), dayName(to - 1)];
  return (
    <ConsolePage
      title="Money"
      section="money"
      scripts={["times.js"]}
      aside={<FilterForm path="/console/money" values={{ first, last }} filters={PERIOD} />}
    >
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
    </ConsolePage>
  );
}

function Figures(props: MoneyPageProps & { readonly money: NonNullable<MoneyPageProps["money"]> }) {
  const { from, to, appName, money } = props;
  const { outstanding, by_app, revenue, as_of } = money;
  const is_this_month = props.months[0].from_ms === from * DAY_MS;
  const period = `${dayName(from)} to ${dayName(to - 1)}`;
  const csv = (list: MoneyList) => (
    <a href={consolePath("/console/money.csv", { list, from: dayName(from), to: dayName(to) })}>
      Download as CSV
    </a>
  );
  return (
    <>
      {props.month_money === null ? null : (
        <MonthPanel money={props.month_money} is_running={is_this_month} />
      )}
      <Panel id="revenue" title={`Sales, ${period}`} aside={csv("revenue")}>
        <p class="hint">
          Money paid and returned on these days. A refund or a lost dispute counts on its own day.
        </p>
        <Table
          label="Sales by package and currency"
          columns={["Package", amount("Sold"), amount("Paid"), amount("Returned"), amount("Net")]}
          rows={revenue.map((it) => [
            it.package ?? "Given by operators, paid elsewhere",
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
  ["granted", "Starters and plans"],
  ["purchased", "Purchases"],
  ["adjusted", "Adjusted by operators"],
  ["spent", "Spent on jobs"],
  ["job_refunded", "Jobs refunded by operators"],
  ["expired", "Expired"],
  ["taken_back", "Taken back with refunds and disputes of purchases"],
  ["forfeited", "In deleted accounts"],
] as const;

const cells = (text: (credits: number) => string, { bought, given }: MonthMoney["closing"]) => [
  text(bought),
  text(given),
];

function MonthPanel({ money, is_running }: { money: MonthMoney; is_running: boolean }) {
  const { month } = money;
  const csv = (
    <a href={consolePath("/console/money.csv", { list: "month", month })}>Download as CSV</a>
  );
  return (
    <Panel id="month" title={`Credits that people own, ${month}`} aside={csv}>
      <p class="hint">
        All balances, with the credits held for running jobs. If a purchase pays what an account
        owed, bought credits are spent instead of given ones. A debt of a deleted account counts
        above zero when the account is deleted, and below zero if its holder returns.
      </p>
      <Table
        label="Credits that people own"
        columns={["Change", amount("Bought"), amount("Given")]}
        rows={[
          ["At the start", ...cells(number, money.opening)],
          ...CHANGES.map(([key, name]) => [name, ...cells(signed, money[key])]),
          [is_running ? "So far" : "At the end", ...cells(number, money.closing)],
        ]}
        empty=""
      />
      <h3>What was paid for the bought credits that are left</h3>
      <Table
        label="What was paid for the bought credits that are left"
        columns={["Paid in", amount("Bought credits left"), amount("Paid for them")]}
        rows={money.liability.map(({ currency, credits, amount_minor }) => [
          currency?.toUpperCase() ?? "Price unknown",
          number(credits),
          currency === null || amount_minor === null ? "" : moneyText(amount_minor, currency),
        ])}
        empty="No bought credits are left."
      />
    </Panel>
  );
}
