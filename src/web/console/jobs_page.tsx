/** The list of all accounts' jobs. */
import type { FoundJobs } from "../../http/api/admin/list_jobs.ts";
import { JOB_STATUSES, type JobStatus } from "../../domain/job.ts";
import { Page } from "../layout/layout.tsx";
import { NewRows, pollSeconds } from "../layout/live.tsx";
import { Time } from "../layout/time.tsx";
import { JOB_STATUS_NAMES, number } from "../layout/labels.ts";
import {
  accountPath,
  AsOf,
  ChosenFilter,
  FilterForm,
  jobPath,
  FilterProblem,
  Pager,
  ReadModelUnavailable,
  Table,
  TypedFilter,
} from "./table.tsx";

export interface ConsoleJobsPageProps {
  readonly filters: {
    readonly app: string | undefined;
    readonly status: JobStatus | undefined;
    readonly identity_id: string | undefined;
  };
  readonly cursor: string | null;
  readonly app_options: readonly (readonly [slug: string, name: string])[];
  readonly appName: (slug: string | null) => string;
  readonly personName: (identity_id: string) => string;
  readonly jobs: FoundJobs["jobs"];
  readonly next_cursor: string | undefined;
  /** Null if the read model cannot be read, or a filter was refused. */
  readonly as_of: string | null;
  /** Why a filter was refused. */
  readonly problem: string | null;
}

const COLUMNS = [
  "Job",
  "Account",
  "Status",
  { amount: "Held" },
  { amount: "Cost" },
  "Started",
] as const;

export function ConsoleJobsPage(props: ConsoleJobsPageProps) {
  const { filters, cursor, app_options, appName, personName, jobs, next_cursor, as_of } = props;
  const { app, status, identity_id } = filters;
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Page title="Jobs of all accounts" section="all_jobs" scripts={["times.js", "live.js"]}>
      <div class="page-head">
        <h1>Jobs</h1>
        <FilterForm path="/console/jobs">
          <ChosenFilter
            name="app"
            label="App"
            value={app}
            options={[["", "All apps"], ...app_options]}
          />
          <ChosenFilter
            name="status"
            label="Status"
            value={status}
            options={[
              ["", "Any"],
              ...JOB_STATUSES.map((option) => [option, JOB_STATUS_NAMES[option]] as const),
            ]}
          />
          <TypedFilter name="identity_id" label="Identity or e-mail" value={identity_id} />
        </FilterForm>
      </div>
      {props.problem === null ? null : <FilterProblem problem={props.problem} />}
      {as_of === null ? (
        props.problem === null && <ReadModelUnavailable />
      ) : (
        <section
          class="panel"
          aria-label="Jobs"
          data-live-poll={
            cursor === null ? pollSeconds({ reads_all: identity_id === undefined }) : undefined
          }
        >
          <NewRows />
          <Table
            ids={jobs.map(({ id }) => `job-${id}`)}
            label={filtered ? "Matching jobs" : "Jobs of all accounts, newest first"}
            columns={COLUMNS}
            rows={jobs.map((job) => [
              <>
                <a href={jobPath(job.identity_id, job.id)}>{job.action}</a>
                <span class="hint below">{appName(job.app_slug)}</span>
              </>,
              <a href={accountPath(job.identity_id)}>{personName(job.identity_id)}</a>,
              <>
                <span class={`state state-${job.status}`}>
                  {job.failure === "expired" ? "Timed out" : JOB_STATUS_NAMES[job.status]}
                </span>
                {job.failure_reason === null ? null : (
                  <span class="hint below">{job.failure_reason}</span>
                )}
              </>,
              number(job.reserved),
              job.status === "started" ? "–" : number(job.actual_cost),
              <Time at_ms={Date.parse(job.created_at)} />,
            ])}
            empty={
              filtered || cursor !== null ? (
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
    </Page>
  );
}
