/** `GET /console[?days=&app=]`: the service's health, and totals of the last days. */
import { utcDayOf, DAY_MS } from "../../domain/calendar.ts";
import { factory, type AppContext } from "../../http/context.ts";
import type { Services } from "../../http/services.ts";
import { appSlug, validOr } from "../../http/validation.ts";
import { timestamp } from "../../http/views.ts";
import { readHealth } from "../../operator/read_health.ts";
import { NOW_RANGES, readToday, type NowRange, type Today } from "../../operator/read_today.ts";
import { readStats } from "../../operator/read_stats.ts";
import { DaysChart } from "../chart/days.tsx";
import { number, signed } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { timeText } from "../layout/time.tsx";
import { HealthPanel } from "./health_panel.tsx";
import { AppsNow, HourCharts, rangeName, TopAccounts } from "./now_panel.tsx";
import { Panel } from "./panel.tsx";
import { appFilter, nullIfUnreadable, personNames, readQuery } from "./queries.ts";
import { consolePath, FilterForm, ReadModelUnavailable, Table } from "./table.tsx";
import * as z from "zod/mini";

/** Apps in the console's totals: those with the most settled credits. */
const APPS_SHOWN_MAX = 50;

/** The choices of the number of days. */
const RANGES_DAYS = ["7", "30", "90"] as const;
type DaysRange = (typeof RANGES_DAYS)[number];

const RANGE_OPTIONS = [
  ...NOW_RANGES.map((range) => [range, rangeName(range)] as const),
  ...RANGES_DAYS.map((days) => [days, `Last ${days} days`] as const),
];

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
const MEASURES = Object.keys(MEASURE_NAMES) as (keyof typeof MEASURE_NAMES)[];
type DayTotals = Readonly<Record<keyof typeof MEASURE_NAMES, number>>;

const EMPTY_DAY = Object.fromEntries(MEASURES.map((name) => [name, 0])) as unknown as DayTotals;

const overviewQuery = z.object({
  days: validOr("30", z.enum([...NOW_RANGES, ...RANGES_DAYS])),
  app: validOr(undefined, appSlug),
});

export const showOverview = factory.createHandlers(async (context) =>
  context.html(<OverviewPage {...await readOverview(context)} />),
);

async function readOverview(context: AppContext) {
  const { days: range, app = null } = readQuery(context, overviewQuery);
  const services = context.get("services");
  const [filter, health, read] = await Promise.all([
    appFilter(context, app),
    readHealth(services),
    // Null if the read model cannot be read.
    nullIfUnreadable(readRange(context, range, app)),
  ]);
  const people = read?.today?.top_accounts?.accounts.map(({ identity_id }) => identity_id) ?? [];
  return { range, app, health, read, ...filter, personName: await personNames(context, people) };
}

async function readRange(context: AppContext, range: NowRange | DaysRange, app: string | null) {
  return isOfDays(range)
    ? { totals: await readTotals(context, Number(range), app), today: null }
    : { totals: null, today: await readToday(context.get("services"), range, app) };
}

const isOfDays = (range: NowRange | DaysRange): range is DaysRange =>
  (RANGES_DAYS as readonly string[]).includes(range);

/** The API's totals, oldest first, with zeros for the days without activity. Days are whole days since the epoch. */
async function readTotals(context: AppContext, range: number, app: string | null) {
  const services = context.get("services");
  const to_day = utcDayOf(Date.now()) + 1;
  const from_day = to_day - range;
  const [{ series, as_of }, apps, newest_ms] = await Promise.all([
    readStats(services, { from: from_day, to: to_day, app: app ?? undefined }),
    services.read_model.readAppTotals(from_day, to_day, APPS_SHOWN_MAX),
    services.read_model.readNewest(),
  ]);
  const known = new Map<number, DayTotals>(
    series.map((totals) => [utcDayOf(Date.parse(totals.day)), totals]),
  );
  const days = Array.from({ length: range }, (_, at) => known.get(from_day + at) ?? EMPTY_DAY);
  /** The time of the newest change in the read model; null if it is empty. */
  const newest = newest_ms === null ? null : timestamp(newest_ms);
  return { from_day, days, apps, newest, as_of };
}

type AppTotals = Awaited<ReturnType<Services["read_model"]["readAppTotals"]>>[number];

type Totals = Awaited<ReturnType<typeof readTotals>>;

function OverviewPage(props: Awaited<ReturnType<typeof readOverview>>) {
  const { range, app, app_options, health, read, appName } = props;
  const range_name = isOfDays(range) ? `last ${range} days` : rangeName(range).toLowerCase();
  return (
    <ConsolePage title="Console" heading="Overview" section="console">
      <HealthPanel {...health} appName={appName} />
      <Panel
        id="totals"
        title={`${app === null ? "All apps" : appName(app)}, ${range_name}`}
        aside={
          <FilterForm
            path="/console"
            values={{ days: range, app }}
            filters={[
              { name: "days", label: "Time", options: RANGE_OPTIONS },
              { name: "app", label: "App", options: [["", "All apps"], ...app_options] },
            ]}
          />
        }
      >
        {read === null ? <ReadModelUnavailable /> : null}
        {read?.totals ? <DailyCharts {...read.totals} /> : null}
        {read?.today ? <HourCharts today={read.today} /> : null}
      </Panel>
      {read?.totals && app === null ? (
        <AppsOfDays apps={read.totals.apps} range={range} appName={appName} />
      ) : null}
      {read?.today ? <Now {...props} today={read.today} /> : null}
    </ConsolePage>
  );
}

type OverviewProps = Awaited<ReturnType<typeof readOverview>>;

/** All apps, or the accounts of one. */
function Now(props: OverviewProps & { readonly today: Today }) {
  return props.app === null ? <AppsNow {...props} /> : <TopAccounts {...props} />;
}

interface AppsOfDaysProps extends Pick<OverviewProps, "range" | "appName"> {
  readonly apps: readonly AppTotals[];
}

function AppsOfDays({ apps, range, appName }: AppsOfDaysProps) {
  return (
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
        rows={apps.map((it) => [
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
