/** A job as its account's holder sees it: its result, its app, and its cost or hold. */
import type { JobRow } from "../../account/contract.ts";
import { Time } from "../layout/time.tsx";
import { credits, JOB_STATUS_NAMES, number } from "../layout/labels.ts";
import { descriptionOf, previewOf, readMetadata } from "./job_metadata.ts";

export interface JobCardsProps {
  readonly jobs: readonly JobRow[];
  readonly appName: (slug: string | null) => string;
  /** Whether started jobs have a button to cancel them. */
  readonly may_cancel?: boolean;
}

export function JobCards({ jobs, appName, may_cancel = false }: JobCardsProps) {
  return (
    <ul class="jobs">
      {jobs.map((job) => (
        <JobCard
          job={job}
          app_name={appName(job.app_slug)}
          may_cancel={may_cancel && job.status === "started"}
        />
      ))}
    </ul>
  );
}

function JobCard(props: {
  readonly job: JobRow;
  readonly app_name: string;
  readonly may_cancel: boolean;
}) {
  const { job, app_name, may_cancel } = props;
  const { action, status, failure, failure_reason, created_at_ms } = job;
  const metadata = readMetadata(job.metadata_json);
  const description = descriptionOf(metadata);
  const status_name = failure === "expired" ? "Timed out" : JOB_STATUS_NAMES[status];
  return (
    <li class="job">
      <Preview url={previewOf(metadata)} name={app_name} />
      <div class="job-words">
        <h3>{description ?? action}</h3>
        <p class="job-about">
          {app_name}
          {description === null ? null : <> · {action}</>}
        </p>
        <p class="job-state">
          <span class={`state state-${status}`}>{status_name}</span>
          <Time at_ms={created_at_ms} style="clock" />
        </p>
        {failure_reason === null ? null : <p class="job-about">{failure_reason}</p>}
        {may_cancel ? <Cancel id={job.id} name={description ?? action} /> : null}
      </div>
      <Cost {...job} />
    </li>
  );
}

/** The `details` element is the confirmation step: the first click only shows the button. */
function Cancel({ id, name }: { id: string; name: string }) {
  return (
    <details>
      <summary class="hint">
        Cancel<span class="unseen">{` ${name}`}</span>
      </summary>
      <p class="hint">
        The job ends now, as if it had timed out. If its app still completes it, you pay what it
        cost.
      </p>
      <form method="post" action="/account/jobs/cancel">
        <input type="hidden" name="job_id" value={id} />
        <button type="submit" class="quiet small">
          Cancel this job
        </button>
      </form>
    </details>
  );
}

/** No referrer, so that the image's host learns nothing; a fixed size, so that the layout does not shift. */
function Preview({ url, name }: { url: string | null; name: string }) {
  return (
    <div class="job-preview">
      {url === null ? (
        <span aria-hidden="true">{name.charAt(0)}</span>
      ) : (
        <img
          src={url}
          alt=""
          width={88}
          height={88}
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
        />
      )}
    </div>
  );
}

function Cost({ status, reserved, actual_cost }: JobRow) {
  if (status === "started") {
    return (
      <p class="job-cost is-held">
        <strong>{number(reserved)}</strong> on hold
      </p>
    );
  }
  const charged = actual_cost > 0 || status === "completed";
  return (
    <p class="job-cost">
      <strong>{charged ? credits(actual_cost) : "Not charged"}</strong>
      <span class="hint">
        {reserved === actual_cost ? "as estimated" : `${number(reserved)} estimated`}
      </span>
    </p>
  );
}
