/** `GET /console/jobs[?app=&status=&by=&identity_id=&day=&from=&to=&sort=&cursor=]`: jobs across accounts. */
import { DAY_MS } from "../../domain/calendar.ts";
import { JOB_STATUSES } from "../../domain/job.ts";
import { LISTED_JOBS_SCANNED } from "../../domain/limits.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { timestamp } from "../../http/views.ts";
import { findJobs, findJobsQuery } from "../../operator/find_jobs.ts";
import { JOB_STATUS_NAMES, number, stateName } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { NewRows, pollSeconds } from "../layout/live.tsx";
import { Time } from "../layout/time.tsx";
import {
  appFilter,
  cursorOf,
  nullIfUnreadable,
  personNames,
  problemOf,
  readQuery,
} from "./queries.ts";
import {
  accountPath,
  consolePath,
  Address,
  AsOf,
  FilterForm,
  jobPath,
  FilterProblem,
  Pager,
  ReadModelUnavailable,
  Table,
} from "./table.tsx";
import * as z from "zod/mini";

export const showAllJobs = factory.createHandlers(async (context) =>
  context.html(<JobsPage {...await readJobsPage(context)} />),
);

/** `day`: a UTC day instead of `from` and `to`. */
const jobsQuery = z.extend(findJobsQuery, {
  day: z.optional(z.iso.date("must be a day such as 2026-11-21")),
});

/** The time of a day; that of `from` and `to` without one. In milliseconds since the epoch. */
function timeOf({ day, from, to }: z.output<typeof jobsQuery>) {
  if (day === undefined) return { from, to };
  const from_ms = Date.parse(day);
  return { from: from_ms, to: from_ms + DAY_MS };
}

async function readJobsPage(context: AppContext) {
  const asked = readQuery(context, jobsQuery);
  const query = { ...asked, ...timeOf(asked) };
  const { app, status, by, identity_id, sort, day, cursor } = query;
  const [{ appName, app_options }, found] = await Promise.all([
    appFilter(context, app),
    nullIfUnreadable(findJobs(context.get("services"), query)),
  ]);
  const page = found?.ok === true ? found.value : null;
  const jobs = page?.jobs ?? [];
  const people = jobs.map((job) => job.identity_id);
  return {
    filters: {
      app,
      status,
      by,
      identity_id,
      day,
      sort: sort === "cost" ? sort : undefined,
      ...(day === undefined ? { from: timeText(query.from), to: timeText(query.to) } : {}),
    },
    cursor: cursor === undefined ? null : cursorOf(context),
    app_options,
    appName,
    personName: await personNames(context, people),
    jobs,
    next_cursor: page?.next_cursor,
    /** Null if the read model cannot be read, or a filter was refused. */
    as_of: page?.as_of ?? null,
    /** Why a filter was refused. */
    problem: problemOf(found),
  };
}

const timeText = (at_ms: number | undefined): string | undefined =>
  at_ms === undefined ? undefined : timestamp(at_ms);

const SORTS = [
  ["", "Newest first"],
  ["cost", "Highest cost first"],
] as const;

const STATUSES = [
  ["", "Any"],
  ...JOB_STATUSES.map((status) => [status, JOB_STATUS_NAMES[status]] as const),
] as const;

const COLUMNS = [
  { name: "Job", place: "title" },
  { name: "Account", place: "middle" },
  { name: "Status", place: "start" },
  { amount: "Held" },
  { amount: "Cost", place: "side" },
  { name: "Started", place: "end" },
] as const;

function JobsPage(props: JobsPageProps) {
  const { filters, cursor, app_options, jobs, next_cursor, as_of } = props;
  const { sort } = filters;
  const filtered = Object.entries(filters).some(
    ([name, value]) => name !== "sort" && value !== undefined,
  );
  const order = sort === "cost" ? "highest cost first" : "newest first";
  return (
    <ConsolePage
      title="Jobs of all accounts"
      heading="Jobs"
      section="all_jobs"
      scripts={["times.js", "live.js"]}
      aside={<JobFilters filters={filters} app_options={app_options} />}
    >
      <TimeLine {...filters} />
      {props.problem === null ? null : <FilterProblem problem={props.problem} />}
      {as_of === null ? (
        props.problem === null && <ReadModelUnavailable />
      ) : (
        <section
          class="panel"
          aria-label="Jobs"
          data-live-poll={
            cursor === null && sort === undefined
              ? pollSeconds({ reads_all: filters.identity_id === undefined })
              : undefined
          }
        >
          <NewRows />
          {sort === undefined ? null : (
            <p class="hint">Among the newest {number(LISTED_JOBS_SCANNED)} jobs of all accounts.</p>
          )}
          <Table
            ids={jobs.map(({ id }) => `job-${id}`)}
            label={filtered ? "Matching jobs" : `Jobs of all accounts, ${order}`}
            columns={COLUMNS}
            names={jobs.map((job) => job.action)}
            rows={jobs.map((job) => jobCells(job, props))}
            empty={
              next_cursor !== undefined ? (
                "None of the jobs of this page match. Older jobs are on the next page."
              ) : filtered || cursor !== null ? (
                <>
                  No jobs match. <a href="/console/jobs">Show all jobs</a>
                </>
              ) : (
                "No app has run a job yet."
              )
            }
          />
        </section>
      )}
      <Pager path="/console/jobs" filters={filters} {...{ cursor, next_cursor }} />
      {as_of === null ? null : <AsOf as_of={as_of} />}
    </ConsolePage>
  );
}

function JobFilters({ filters, app_options }: Pick<JobsPageProps, "filters" | "app_options">) {
  return (
    <FilterForm
      path="/console/jobs"
      values={filters}
      filters={[
        { name: "app", label: "App", options: [["", "All apps"], ...app_options] },
        { name: "status", label: "Status", options: STATUSES },
        { name: "by", label: "Started by (id)" },
        { name: "identity_id", label: "Identity or e-mail" },
        { name: "day", label: "Day (UTC)", type: "date" },
        { name: "sort", label: "Order", options: SORTS },
      ]}
    />
  );
}

/** The time that the page's address names, unless it is a whole day. */
function TimeLine(filters: JobsPageProps["filters"]) {
  const { from, to } = filters;
  if (from === undefined && to === undefined) return null;
  return (
    <p class="hint">
      Started{from === undefined ? "" : ` from ${minuteText(from)}`}
      {to === undefined ? "" : ` to ${minuteText(to)}`} UTC.{" "}
      <a href={consolePath("/console/jobs", { ...filters, from: null, to: null })}>
        Show all times
      </a>
    </p>
  );
}

const minuteText = (at: string): string => at.slice(0, 16).replace("T", " ");

type JobsPageProps = Awaited<ReturnType<typeof readJobsPage>>;

const jobCells = (job: JobsPageProps["jobs"][number], { appName, personName }: JobsPageProps) => [
  <>
    <a href={jobPath(job.identity_id, job.id)}>{job.action}</a>
    <span class="hint below">
      {appName(job.app_slug)}
      {job.by.id === null || job.by.id === job.app_slug
        ? null
        : ` · by ${job.by.name ?? job.by.id}`}
    </span>
  </>,
  <a href={accountPath(job.identity_id)}>
    <Address text={personName(job.identity_id)} />
  </a>,
  <>
    <span class={`state state-${job.status}`}>{stateName(job)}</span>
    {job.failure_reason === null ? null : <span class="hint below">{job.failure_reason}</span>}
  </>,
  number(job.reserved),
  job.status === "started" ? "–" : number(job.actual_cost),
  <Time at_ms={Date.parse(job.created_at)} style="clock" />,
];
