/** A job as a person sees it: what it made, for which app, and what it cost or holds. */
import type { JobFailure, JobStatus } from "../../domain/job.ts";
import { Time } from "../layout/time.tsx";
import { credits, number } from "../layout/account_words.ts";

export interface ShownJob {
  readonly id: string;
  readonly app_name: string;
  readonly action: string;
  /** The client's own summary; null where it gave none. */
  readonly description: string | null;
  /** An https address of a picture; null where there is none to show. */
  readonly preview_url: string | null;
  readonly status: JobStatus;
  readonly failure: JobFailure | null;
  /** What the client said of the failure; null where it said nothing. */
  readonly failure_reason: string | null;
  readonly reserved: number;
  readonly actual_cost: number;
  readonly created_at_ms: number;
}

const STATUS_NAMES: Readonly<Record<JobStatus, string>> = {
  started: "Running",
  completed: "Done",
  failed: "Failed",
};

export interface JobCardsProps {
  readonly jobs: readonly ShownJob[];
  /** Whether started jobs have a button to cancel them. */
  readonly may_cancel?: boolean;
}

export function JobCards({ jobs, may_cancel = false }: JobCardsProps) {
  return (
    <ul class="jobs">
      {jobs.map((job) => (
        <JobCard {...job} may_cancel={may_cancel && job.status === "started"} />
      ))}
    </ul>
  );
}

function JobCard({ may_cancel, ...job }: ShownJob & { readonly may_cancel: boolean }) {
  const { description, action, app_name, status, failure, failure_reason, created_at_ms } = job;
  const status_name = failure === "expired" ? "Timed out" : STATUS_NAMES[status];
  return (
    <li class="job">
      <Preview url={job.preview_url} name={app_name} />
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

/** Opening it is the question, the button inside is the confirmation. */
function Cancel({ id, name }: { id: string; name: string }) {
  return (
    <details>
      <summary class="hint">
        Cancel<span class="unseen">{` ${name}`}</span>
      </summary>
      <p class="hint">
        The job ends now, as if its time had run out. If its app completes it after all, you pay
        what it cost.
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

/** The picture tells its host neither the page nor the account; its place is kept before it comes. */
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

/** A hold is no charge, and says so; a charge says what had been held for it. */
function Cost({ status, reserved, actual_cost }: ShownJob) {
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
