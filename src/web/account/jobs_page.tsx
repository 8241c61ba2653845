/** The list of the person's jobs, with filters and pages. */
import { JOB_STATUSES, type JobStatus } from "../../domain/job.ts";
import { t } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";
import { Zone } from "../layout/time.tsx";
import { NewRows } from "../layout/live.tsx";
import { JobRows, type JobRowsProps } from "./job_rows.tsx";
import { JOB_STATUS_NAMES } from "../layout/labels.ts";

export interface JobsPageProps extends JobRowsProps {
  /** The number of the account's newest entry. */
  readonly line: number;
  /** The apps to choose from, by slug and name. */
  readonly apps: readonly (readonly [slug: string, name: string])[];
  readonly app: string | null;
  readonly status: JobStatus | null;
  /** Only jobs that this app or allowance started; null: all. Links lead to it, so it has no field. */
  readonly by: string | null;
  readonly is_first_page: boolean;
  /** The address of the next page; null on the last. */
  readonly next: string | null;
}

export function JobsPage(props: JobsPageProps) {
  const { jobs, appLook, line, app, status, by, is_first_page, next } = props;
  const filtered = app !== null || status !== null || by !== null;
  return (
    <Page
      title={t("Jobs")}
      section="jobs"
      scripts={is_first_page ? ["times.js", "live.js"] : ["times.js"]}
    >
      <div class="page-head">
        <h1>{t("Jobs")}</h1>
        <Filters {...props} />
      </div>
      <section
        class="panel"
        aria-labelledby="list"
        data-live-after={is_first_page ? line : undefined}
      >
        <h2 id="list" class="unseen">
          {filtered ? t("Matching jobs") : t("All jobs")}
        </h2>
        {by === null || jobs.length === 0 ? null : (
          <p class="hint">
            {t("Only jobs that one app, connection or token started.")}{" "}
            <a href="/account/jobs">{t("Show all jobs")}</a>
          </p>
        )}
        <NewRows />
        {jobs.length === 0 ? (
          <NoJobs filtered={filtered || !is_first_page} />
        ) : (
          <JobRows jobs={jobs} appLook={appLook} />
        )}
      </section>
      <nav class="pages" aria-label={t("Pages")}>
        {is_first_page ? <span></span> : <a href={jobsPath(props)}>{t("Newest jobs")}</a>}
        {next === null ? null : (
          <a href={next} rel="next">
            {t("Older jobs")}
          </a>
        )}
      </nav>
      <Zone />
    </Page>
  );
}

function jobsPath({ app, status, by }: JobsPageProps): string {
  const query = new URLSearchParams();
  if (app !== null) query.set("app", app);
  if (status !== null) query.set("status", status);
  if (by !== null) query.set("by", by);
  return query.size === 0 ? "/account/jobs" : `/account/jobs?${query.toString()}`;
}

function Filters({ apps, app, status, by }: JobsPageProps) {
  return (
    <form method="get" action="/account/jobs" class="filters">
      {by === null ? null : <input type="hidden" name="by" value={by} />}
      <label for="filter-app">{t("App")}</label>
      <select id="filter-app" name="app">
        <option value="">{t("All apps")}</option>
        {apps.map(([slug, name]) => (
          <option value={slug} selected={slug === app}>
            {name}
          </option>
        ))}
      </select>
      <label for="filter-status">{t("Status")}</label>
      <select id="filter-status" name="status">
        <option value="">{t("Any")}</option>
        {JOB_STATUSES.map((one) => (
          <option value={one} selected={one === status}>
            {t(JOB_STATUS_NAMES[one])}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet small">
        {t("Show")}
      </button>
    </form>
  );
}

function NoJobs({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <p class="empty">
      {t("No jobs match.")} <a href="/account/jobs">{t("Show all jobs")}</a>
    </p>
  ) : (
    <p class="empty">
      {t("No app has run a job for you yet. When one does, its result and cost appear here.")}
    </p>
  );
}
