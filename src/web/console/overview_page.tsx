/** The console's first page: the account search, the service's health, and totals by day and by app. */
import type { Services } from "../../http/services.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { DaysChart } from "../chart/days.tsx";
import { Page } from "../layout/layout.tsx";
import { timeText } from "../layout/time.tsx";
import { number, signed } from "../layout/labels.ts";
import { AccountSearch } from "./accounts_page.tsx";
import { HealthPanel, type HealthView } from "./health_panel.tsx";
import { Panel } from "./panel.tsx";
import { ChosenFilter, consolePath, FilterForm, ReadModelUnavailable, Table } from "./table.tsx";

/** The choices of the number of days. */
export const RANGES_DAYS = ["7", "30", "90"] as const;
export type RangeDays = (typeof RANGES_DAYS)[number];

/** The charts in order, credits and then counts, with what each adds up. */
const MEASURE_NAMES = {
  settled: "Spent on jobs",
  reserved: "Held for jobs",
  refunded: "Given back",
  granted: "Starter credits",
  purchased: "Bought",
  adjusted: "Adjusted",
  jobs: "Jobs",
  failed: "Failed jobs",
  active_accounts: "Active accounts",
} as const;
export const MEASURES = Object.keys(MEASURE_NAMES) as (keyof typeof MEASURE_NAMES)[];
export type DayTotals = Readonly<Record<keyof typeof MEASURE_NAMES, number>>;

type AppTotals = Awaited<ReturnType<Services["read_model"]["readAppTotals"]>>[number];

export interface Totals {
  /** Whole days since the epoch. */
  readonly from_day: number;
  /** Oldest first, without gaps. */
  readonly days: readonly DayTotals[];
  readonly apps: readonly AppTotals[];
  /** The time of the newest change in the read model; null if it is empty. */
  readonly newest: string | null;
  readonly as_of: string;
}

export interface OverviewPageProps {
  readonly range: RangeDays;
  readonly app: string | null;
  readonly app_options: readonly (readonly [slug: string, name: string])[];
  readonly appName: (slug: string | null) => string;
  readonly health: HealthView;
  /** Null if the read model cannot be read. */
  readonly totals: Totals | null;
}

export function OverviewPage(props: OverviewPageProps) {
  const { range, app, app_options, health, totals, appName } = props;
  return (
    <Page title="Console" section="console">
      <div class="page-head">
        <h1>Overview</h1>
        <AccountSearch q="" />
      </div>
      <HealthPanel {...health} appName={appName} />
      <Panel
        id="totals"
        title={`${app === null ? "All apps" : appName(app)}, last ${range} days`}
        aside={
          <FilterForm path="/console">
            <ChosenFilter
              name="days"
              label="Days"
              value={range}
              options={RANGES_DAYS.map((days) => [days, `Last ${days}`])}
            />
            <ChosenFilter
              name="app"
              label="App"
              value={app}
              options={[["", "All apps"], ...app_options]}
            />
          </FilterForm>
        }
      >
        {totals === null ? <ReadModelUnavailable /> : <DailyCharts {...totals} />}
      </Panel>
      {totals === null || app !== null ? null : (
        <Panel id="by-app" title="By app">
          <Table
            label="By app"
            columns={[
              "App",
              amount("Spent"),
              amount("Starter credits"),
              amount("Jobs"),
              amount("Failed"),
              "Share failed",
            ]}
            rows={totals.apps.map((it) => [
              <a href={consolePath("/console", { days: range, app: it.app_slug })}>
                {appName(it.app_slug)}
              </a>,
              number(it.settled),
              number(it.granted),
              number(it.jobs),
              <a
                href={consolePath("/console/jobs", { app: it.app_slug, status: "failed" })}
                aria-label={`${number(it.failed)} failed jobs, show them`}
              >
                {number(it.failed)}
              </a>,
              <FailedShare {...it} />,
            ])}
            empty={
              <>
                There was no activity in these days. <a href="/console/apps">Show all apps</a>
              </>
            }
          />
        </Panel>
      )}
    </Page>
  );
}

const amount = (name: string) => ({ amount: name });

function DailyCharts({ from_day, days, newest, as_of }: Totals) {
  const values = (name: keyof DayTotals) => days.map((day) => day[name]);
  const [first_day, last_day] = [dayName(from_day), dayName(from_day + days.length - 1)];
  const names = days.map((_, at) => dayName(from_day + at));
  return (
    <>
      <div class="charts">
        {MEASURES.filter((name) => name !== "adjusted").map((name) => (
          <DaysChart
            id={`by-day-${name}`}
            name={MEASURE_NAMES[name]}
            {...totalOf(name, values(name))}
            values={values(name)}
            days={names}
          />
        ))}
      </div>
      <details class="numbers">
        <summary>Show the numbers</summary>
        <div class="scroll" tabindex={0} role="region" aria-label="Totals by day, in numbers">
          <DayNumbers from_day={from_day} days={days} />
        </div>
      </details>
      <p class="zone">
        Credits are held when a job starts. When it ends, its cost is spent, and the rest is no
        longer held. Days are UTC, from {first_day} to {last_day}, which is not over yet. These
        totals were read at <time datetime={as_of}>{as_of.slice(11, 19)} UTC</time> and can be a few
        seconds behind.{" "}
        {newest === null
          ? "They include no account yet."
          : `The newest change that they include was made on ${newest.slice(0, 10)} at ${newest.slice(11, 19)} UTC.`}
      </p>
    </>
  );
}

/** Active accounts of several days cannot be added: an account that is active on two days counts once. */
function totalOf(name: keyof DayTotals, values: readonly number[]) {
  if (name === "active_accounts") return { total: Math.max(...values), unit: "busiest day" };
  const total = values.reduce((sum, value) => sum + value, 0);
  return { total, unit: name === "jobs" || name === "failed" ? "" : "credits" };
}

function DayNumbers({ from_day, days }: Pick<Totals, "from_day" | "days">) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {MEASURES.map((name) => (
            <th scope="col" class="amount">
              {MEASURE_NAMES[name]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days
          .map((day, at) => (
            <tr>
              <th scope="row">{dayName(from_day + at)}</th>
              {MEASURES.map((name) => (
                <td class="amount">
                  {name === "adjusted" ? signed(day[name]) : number(day[name])}
                </td>
              ))}
            </tr>
          ))
          .toReversed()}
      </tbody>
    </table>
  );
}

function FailedShare({ jobs, failed }: AppTotals) {
  const percent = jobs === 0 ? 0 : Math.min(100, (failed / jobs) * 100);
  return (
    <span class="share">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-track" width="100" height="8" />
        <rect class="bar-failed" width={Math.round(percent)} height="8" />
      </svg>
      {Math.round(percent)} %
    </span>
  );
}

const dayName = (day: number): string => timeText(day * DAY_MS, "date");
