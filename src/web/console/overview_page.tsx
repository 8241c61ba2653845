/** The console's first page: the way to an account, and what happened over some days. */
import { DAY_MS } from "../../domain/calendar.ts";
import { DaysChart } from "../chart/days.tsx";
import { Page } from "../layout/layout.tsx";
import { timeText } from "../layout/time.tsx";
import { nameFromSlug, number, signed } from "../layout/account_words.ts";
import { AccountSearch } from "./accounts_page.tsx";
import { Panel } from "./panel.tsx";
import { ChosenFilter, consoleAddress, FilterForm, ReadModelDown, Table } from "./table.tsx";

/** The days that may be chosen. */
export const RANGES_DAYS = ["7", "30", "90"] as const;
export type RangeDays = (typeof RANGES_DAYS)[number];

/** What is shown of a day: credits, then counts. */
export const OVERVIEW_MEASURES = [
  "settled",
  "reserved",
  "refunded",
  "granted",
  "purchased",
  "adjusted",
  "jobs",
  "failed",
  "active_accounts",
] as const;
export type ShownDay = Readonly<Record<(typeof OVERVIEW_MEASURES)[number], number>>;

export interface ShownApp {
  readonly app_slug: string;
  readonly settled: number;
  readonly jobs: number;
  readonly failed: number;
}

export interface ShownTotals {
  /** Whole days since the epoch. */
  readonly from_day: number;
  /** Oldest first, none left out. */
  readonly days: readonly ShownDay[];
  readonly apps: readonly ShownApp[];
  /** When the newest change that it knows was written; null: it knows none. */
  readonly newest: string | null;
  readonly as_of: string;
}

export interface OverviewPageProps {
  readonly range: RangeDays;
  readonly app: string | null;
  readonly app_options: readonly (readonly [slug: string, name: string])[];
  readonly appName: (slug: string | null) => string;
  /** Null where the read model does not answer. */
  readonly totals: ShownTotals | null;
}

export function OverviewPage(props: OverviewPageProps) {
  const { range, app, app_options, totals, appName } = props;
  return (
    <Page title="Console" section="console">
      <div class="page-head">
        <h1>Overview</h1>
        <AccountSearch q="" />
      </div>
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
        {totals === null ? <ReadModelDown /> : <Totals {...totals} />}
      </Panel>
      {totals === null || app !== null ? null : (
        <Panel id="by-app" title="By app">
          <Table
            label="By app"
            columns={[
              "App",
              amount("Settled"),
              amount("Jobs"),
              amount("Failed"),
              "Share that failed",
            ]}
            rows={totals.apps.map((it) => [
              <a href={consoleAddress("/console", { days: range, app: it.app_slug })}>
                {appName(it.app_slug)}
              </a>,
              number(it.settled),
              number(it.jobs),
              <a
                href={consoleAddress("/console/jobs", { app: it.app_slug, status: "failed" })}
                aria-label={`${number(it.failed)} failed: the jobs`}
              >
                {number(it.failed)}
              </a>,
              <FailedShare {...it} />,
            ])}
            empty={
              <>
                No app did anything in these days. <a href="/console/apps">See the apps</a>
              </>
            }
          />
        </Panel>
      )}
    </Page>
  );
}

const amount = (name: string) => ({ amount: name });

function Totals({ from_day, days, newest, as_of }: ShownTotals) {
  const values = (name: keyof ShownDay) => days.map((day) => day[name]);
  const [first_day, last_day] = [dayName(from_day), dayName(from_day + days.length - 1)];
  const span = { first_day, last_day };
  return (
    <>
      <div class="charts">
        {OVERVIEW_MEASURES.filter((name) => name !== "adjusted").map((name) => (
          <DaysChart
            name={nameFromSlug(name)}
            {...totalOf(name, values(name))}
            values={values(name)}
            {...span}
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
        Days are UTC, from {first_day} to today, {last_day}, which is not over. From the read model,
        asked at <time datetime={as_of}>{as_of.slice(11, 19)} UTC</time>; it follows the accounts by
        seconds.{" "}
        {newest === null
          ? "It knows no account yet."
          : `The newest change it knows is of ${newest.slice(0, 19).replace("T", ", ")} UTC.`}
      </p>
    </>
  );
}

/** Days cannot be added up to accounts: who came twice is one. */
function totalOf(name: keyof ShownDay, values: readonly number[]) {
  if (name === "active_accounts") return { total: Math.max(...values), unit: "busiest day" };
  const total = values.reduce((sum, value) => sum + value, 0);
  return { total, unit: name === "jobs" ? "" : name === "failed" ? "jobs" : "credits" };
}

function DayNumbers({ from_day, days }: Pick<ShownTotals, "from_day" | "days">) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {OVERVIEW_MEASURES.map((name) => (
            <th scope="col" class="amount">
              {nameFromSlug(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days
          .map((day, at) => (
            <tr>
              <th scope="row">{dayName(from_day + at)}</th>
              {OVERVIEW_MEASURES.map((name) => (
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

function FailedShare({ jobs, failed }: ShownApp) {
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
