/** One job: what it cost and why, its metadata, and each of its ledger entries. */
import type { Child } from "hono/jsx";
import type { JobHistory, JobRow } from "../../account/contract.ts";
import { t, type Said } from "../language/text.tsx";
import { credits, number, signed, stateName } from "../layout/labels.ts";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { SomethingWrong } from "../layout/support.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { AppIcon, type AppLook, type AppLooks } from "../layout/app_icon.tsx";
import { previewOf, readMetadata, titleOf } from "./job_metadata.ts";
import { failureText, JobProgress, JobState, progressText, refundName } from "./job_rows.tsx";
import { StartedBy } from "./started_by.tsx";
import { Steps } from "./statement_list.tsx";

interface JobPageProps extends JobHistory {
  readonly appLook: AppLooks;
  readonly notice: Said | null;
}

export function JobPage({ job, entries, line, appLook, notice }: JobPageProps) {
  const look = appLook(job.app_slug);
  const title = titleOf(job);
  return (
    <Page title={title} section="jobs" scripts={["times.js", "live.js"]}>
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1 class="job-title">{title}</h1>
        <span class="ways-on">
          <SomethingWrong kind="job" id={job.id} name={t("this job")} />
          <a href="/account/jobs">{t("All jobs")}</a>
        </span>
      </div>
      <div class="columns" data-live-after={line}>
        <div class="main-column">
          <section class="panel" id="outcome" data-live aria-labelledby="outcome-name">
            <h2 id="outcome-name" class="unseen">
              {t("Cost")}
            </h2>
            <Outcome job={job} change={sumOf(entries)} />
            <Facts job={job} look={look} />
          </section>
          <section class="panel" id="credits" data-live aria-labelledby="credits-name">
            <h2 id="credits-name">{t("What happened to your credits")}</h2>
            <Steps entries={entries} />
          </section>
          {job.status === "started" ? <Cancel job={job} /> : null}
        </div>
        <div class="side-column">
          <Preview job={job} />
          <Details job={job} />
          <Zone />
        </div>
      </div>
    </Page>
  );
}

const sumOf = (entries: JobHistory["entries"]): number =>
  entries.reduce((sum, { change }) => sum + change, 0);

/** `change`: what the job took in the end. */
function Outcome({ job, change }: { job: JobRow; change: number }) {
  const reason = failureText(job);
  if (job.status === "started") {
    return (
      <>
        <p class="job-price is-held">{t("{count} held", { count: number(job.reserved) })}</p>
        <p class="hint">
          {t(
            "The job is running. When it ends, you pay what it cost, and the rest is available again.",
          )}
          {job.spent === null
            ? null
            : ` ${t("If it times out, you pay {credits}.", { credits: credits(job.spent) })}`}
        </p>
      </>
    );
  }
  return (
    <>
      <p class="job-price">
        {signed(change)} <small>{t(Math.abs(change) === 1 ? "credit" : "credits")}</small>
      </p>
      <p class="hint">{outcomeText(job, change)}</p>
      {reason === null ? null : (
        <p class="job-failure">
          {job.failure === "cancelled" ? null : <strong>{stateName(job)}: </strong>}
          {reason}
        </p>
      )}
    </>
  );
}

function outcomeText({ reserved, actual_cost }: JobRow, change: number): string {
  const given_back = actual_cost + change;
  if (given_back > 0) {
    const values = { cost: credits(actual_cost), count: number(given_back) };
    return given_back === 1
      ? t("It cost {cost}, and {count} was given back.", values)
      : t("It cost {cost}, and {count} were given back.", values);
  }
  if (actual_cost === 0) return t("You were not charged.");
  const held = number(reserved);
  if (actual_cost > reserved) {
    const more = number(actual_cost - reserved);
    return t("It cost {more} more than the {held} that were held.", { more, held });
  }
  return reserved === 1
    ? t("{held} was held while it ran.", { held })
    : t("{held} were held while it ran.", { held });
}

function Facts({ job, look }: { job: JobRow; look: AppLook }) {
  const facts: (readonly [string, Child])[] = [
    [
      t("App"),
      <span class="with-icon">
        <AppIcon look={look} size={28} /> {look.name}
      </span>,
    ],
    [t("Started by"), <StartedBy job={job} />],
    [
      t("Status"),
      <span data-say={t("This job: {state}", { state: refundName(job) ?? stateName(job) })}>
        <JobState {...job} />
      </span>,
    ],
    [t("Action"), job.action],
    [t("Started"), <Time at_ms={job.created_at_ms} />],
    ...(job.status !== "started" || progressText(job) === null
      ? []
      : ([[t("Progress"), <JobProgress job={job} />]] as const)),
    ...(job.status !== "started" || job.spent === null
      ? []
      : ([[t("Spent so far"), credits(job.spent)]] as const)),
    job.status === "started"
      ? [t("Times out"), <Time at_ms={job.expires_at_ms} />]
      : [t("Last change"), <Time at_ms={job.updated_at_ms} />],
    [t("Job id"), <code>{job.id}</code>],
  ];
  return (
    <dl class="details">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The `details` element is the confirmation step: the first click only shows the button. */
function Cancel({ job }: { job: JobRow }) {
  return (
    <section class="panel" aria-labelledby="cancel-name">
      <h2 id="cancel-name">{t("Cancel")}</h2>
      <p class="hint">
        {job.spent === null
          ? t("The job ends now, as if it had timed out.")
          : t("The job ends now, and you pay {credits}.", { credits: credits(job.spent) })}{" "}
        {t("If its app still completes it, you pay what it cost.")}
      </p>
      <details class="confirm">
        <summary class="button quiet">{t("Cancel this job")}</summary>
        <form method="post" action="/account/jobs/cancel">
          <input type="hidden" name="job_id" value={job.id} />
          <button type="submit" class="danger">
            {t("Yes, cancel it now")}
          </button>
        </form>
      </details>
    </section>
  );
}

/** No referrer, so that the image's host learns nothing; a fixed size, so that the layout does not shift. */
function Preview({ job }: { job: JobRow }) {
  const url = previewOf(readMetadata(job.metadata_json));
  if (url === null) return null;
  return (
    <section class="panel job-preview" aria-label={t("Result")}>
      <img
        src={url}
        alt=""
        width={320}
        height={240}
        loading="lazy"
        decoding="async"
        referrerpolicy="no-referrer"
      />
    </section>
  );
}

/** The metadata as the app stored it. */
function Details({ job }: { job: JobRow }) {
  const metadata = readMetadata(job.metadata_json);
  if (Object.keys(metadata).length === 0) return null;
  return (
    <section class="panel" aria-labelledby="metadata-name">
      <h2 id="metadata-name">{t("What the app stored")}</h2>
      <div class="scroll" tabindex={0} role="region" aria-label={t("Metadata of the app")}>
        <pre>{JSON.stringify(metadata, null, 2)}</pre>
      </div>
    </section>
  );
}
