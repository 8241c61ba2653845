/** What is spent now: by hour, by app, and by the accounts of one app. */
import { DAY_MS } from "../../domain/calendar.ts";
import { timestamp } from "../../http/views.ts";
import type { AppNow, HourNow, NowRange, Today } from "../../operator/read_today.ts";
import { DaysChart } from "../chart/days.tsx";
import { number, signed } from "../layout/labels.ts";
import { Panel } from "./panel.tsx";
import { mayAct } from "./permission.tsx";
import { accountPath, appPath, consolePath, Table } from "./table.tsx";

/** The names of the ranges, of their columns, and of what they are compared with. */
const RANGES = {
  today: { now: "Today", before: (clock: string) => `Yesterday until ${clock}` },
  "24h": { now: "Last 24 hours", before: () => "24 hours before" },
} as const satisfies Record<NowRange, unknown>;

export const rangeName = (range: NowRange): string => RANGES[range].now;

interface NowProps {
  readonly today: Today;
  /** Null: all apps. */
  readonly app: string | null;
  readonly appName: (slug: string | null) => string;
  readonly personName: (identity_id: string) => string;
}

const MEASURES = { spent: "Spent on jobs", jobs: "Jobs", failed: "Failed jobs" } as const;

/** The charts by hour. */
export function HourCharts({ today: { range, hours, now_ms, apps } }: Pick<NowProps, "today">) {
  const names = hours.map(hourName);
  const before = apps.reduce((sum, { spent_before }) => sum + spent_before, 0);
  const spent = apps.reduce((sum, app) => sum + app.spent, 0);
  return (
    <>
      <p class="now-sum">
        <strong>{number(spent)}</strong> credits spent{" "}
        <Change spent={spent} spent_before={before} />
        <span class="hint below">
          {RANGES[range].before(clockOf(now_ms))} (UTC): {number(before)}
        </span>
      </p>
      <div class="charts">
        {(["spent", "jobs", "failed"] as const).map((name) => (
          <DaysChart
            id={`by-hour-${name}`}
            name={MEASURES[name]}
            per="hour"
            total={hours.reduce((sum, hour) => sum + hour[name], 0)}
            unit={name === "spent" ? "credits" : ""}
            values={hours.map((hour) => Math.max(0, hour[name]))}
            days={names}
          />
        ))}
      </div>
      <details class="numbers">
        <summary>Show the numbers</summary>
        <HourNumbers hours={hours} />
      </details>
      <p class="zone">
        Hours are UTC, and the last one is not over. Spent is the cost of the jobs that ended in
        that time, without what operators gave back in it. These sums can be a few seconds behind.
      </p>
    </>
  );
}

function HourNumbers({ hours }: { hours: readonly HourNow[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Hour</th>
          {Object.values(MEASURES).map((name) => (
            <th scope="col" class="amount">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {hours.toReversed().map((hour) => (
          <tr>
            <th scope="row">{hourName(hour)}</th>
            <td class="amount">{number(hour.spent)}</td>
            <td class="amount">{number(hour.jobs)}</td>
            <td class="amount">{number(hour.failed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Each app with what it spends now, what it spent before, and the change. */
export function AppsNow({ today: { range, apps, now_ms, time }, appName }: NowProps) {
  const period = { from: timestamp(time.from_ms), to: timestamp(time.to_ms) };
  return (
    <Panel id="by-app" title={`By app, ${rangeName(range).toLowerCase()}`}>
      <Table
        label="By app"
        columns={[
          "App",
          { amount: RANGES[range].now },
          { amount: RANGES[range].before(clockOf(now_ms)) },
          { amount: "Change" },
          { amount: "Jobs" },
          { amount: "Failed" },
        ]}
        rows={apps.map((app) => [
          <a href={consolePath("/console", { days: range, app: app.app_slug })}>
            {appName(app.app_slug)}
          </a>,
          number(app.spent),
          number(app.spent_before),
          <Change {...app} />,
          <a
            href={consolePath("/console/jobs", { app: app.app_slug, ...period, sort: "cost" })}
            aria-label={`${number(app.jobs)} jobs, show them by cost`}
          >
            {number(app.jobs)}
          </a>,
          number(app.failed),
        ])}
        empty={
          <>
            There was no activity in this time. <a href="/console/apps">Show all apps</a>
          </>
        }
      />
    </Panel>
  );
}

const listedAt = (list: Today["top_accounts"]): string =>
  list === null
    ? ""
    : `, the last time at ${clockOf(list.as_of_ms)} UTC, with jobs since ${clockOf(list.from_ms)} UTC`;

const NOT_LISTED = { from_ms: 0, accounts: [] } as const;

/** Of one app: the accounts that spend most, and the way to pause it. */
export function TopAccounts({ today, app, appName, personName }: NowProps) {
  const { time, top_accounts } = today;
  if (app === null) return null;
  const { from_ms, accounts } = top_accounts ?? NOT_LISTED;
  const period = { from: timestamp(top_accounts === null ? time.from_ms : from_ms) };
  return (
    <Panel
      id="top-accounts"
      title={`Accounts that spend most in ${appName(app)}`}
      aside={
        <span>
          <a href={consolePath("/console/jobs", { app, ...period, sort: "cost" })}>
            Its jobs by cost
          </a>{" "}
          {mayAct("admin") ? (
            <a class="button quiet small" href={appPath(app, "/pause")}>
              Pause this app
            </a>
          ) : null}
        </span>
      }
    >
      <Table
        label="The accounts that spend most"
        columns={[
          "Account",
          { amount: "Spent" },
          { amount: "Held" },
          { amount: "Jobs" },
          { amount: "Failed" },
        ]}
        rows={accounts.map((account) => [
          <a href={accountPath(account.identity_id)}>{personName(account.identity_id)}</a>,
          number(account.spent),
          number(account.held),
          <a
            href={consolePath("/console/jobs", {
              app,
              identity_id: account.identity_id,
              ...period,
              sort: "cost",
            })}
            aria-label={`${number(account.jobs)} jobs of ${personName(account.identity_id)}`}
          >
            {number(account.jobs)}
          </a>,
          number(account.failed),
        ])}
        empty="The list has no account of this app yet."
      />
      <p class="hint">
        The schedule writes this list every ten minutes{listedAt(top_accounts)}. It counts the
        newest jobs of all apps, at most of the last 24 hours, with what they cost by then.
      </p>
    </Panel>
  );
}

/** The change in words, because a colour or a sign by itself is not read. */
function Change({ spent, spent_before }: Pick<AppNow, "spent" | "spent_before">) {
  if (spent === spent_before) return <span class="hint">no change</span>;
  if (spent_before <= 0) return <span class="tag">new</span>;
  const percent = Math.round(((spent - spent_before) / spent_before) * 100);
  return <span class={spent > 2 * spent_before ? "tag is-bad" : "tag"}>{signed(percent)} %</span>;
}

const clockOf = (at_ms: number): string => timestamp(at_ms - (at_ms % 60_000)).slice(11, 16);

const hourName = ({ from_ms }: HourNow): string => timestamp(from_ms % DAY_MS).slice(11, 16);
