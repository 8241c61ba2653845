/** Jobs as rows: the app's icon, what it does, when, its state, and what it cost. */
import type { JobRow } from "../../account/contract.ts";
import { t } from "../language/text.tsx";
import { Time } from "../layout/time.tsx";
import { stateName, number, signed } from "../layout/labels.ts";
import { AppIcon, type AppLooks } from "../layout/app_icon.tsx";
import { titleOf } from "./job_metadata.ts";
import { By } from "./started_by.tsx";

export interface JobRowsProps {
  readonly jobs: readonly JobRow[];
  readonly appLook: AppLooks;
}

/** Each row can be replaced while the page is open; see `scripts/live.js`. */
export function JobRows({ jobs, appLook }: JobRowsProps) {
  return (
    <ul class="jobs" id="job-rows" data-live-list>
      {jobs.map((job) => {
        const look = appLook(job.app_slug);
        const reason = failureText(job);
        return (
          <li class="job" id={`job-${job.id}`} data-live>
            <AppIcon look={look} size={28} />
            <a class="job-name" href={jobPath(job.id)}>
              {titleOf(job)}
            </a>
            <span class="job-about">
              {look.name} · <Time at_ms={job.created_at_ms} style="clock" />
              <By job={job} before=" · " />
              {reason === null ? null : ` · ${reason}`}
              {progressText(job) === null ? null : (
                <>
                  {" · "}
                  <JobProgress job={job} />
                </>
              )}
            </span>
            <JobState {...job} />
            <JobCost {...job} />
          </li>
        );
      })}
    </ul>
  );
}

export const jobPath = (id: string): string => `/account/jobs/${id}`;

type Ended = Pick<JobRow, "status" | "failure" | "failure_reason">;

/** Why a job failed; null if it did not. */
export function failureText({ status, failure, failure_reason }: Ended): string | null {
  if (status !== "failed") return null;
  if (failure_reason !== null) return failure_reason;
  return failure === "expired"
    ? t("The app did not finish it in time.")
    : t("The app did not say why.");
}

type Progress = Pick<JobRow, "status" | "done" | "message">;

/** How far a started job is, such as "40% – Frame 40 of 100"; null: it did not say, or it has ended. */
export function progressText({ status, done, message }: Progress): string | null {
  if (status !== "started") return null;
  const percent = done === null ? null : t("{percent}%", { percent: Math.floor(done * 100) });
  const parts = [percent, message].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(" – ");
}

/** A bar, if the job said how much is done, and its text. */
export function JobProgress({ job }: { job: Progress }) {
  const { done } = job;
  return (
    <>
      {done === null ? null : (
        <>
          <progress max={1} value={done} aria-label={t("Progress")} />{" "}
        </>
      )}
      {progressText(job)}
    </>
  );
}

type Outcome = Pick<JobRow, "status" | "failure" | "actual_cost" | "refunded">;

export function JobState(job: Outcome) {
  const name = refundName(job) ?? stateName(job);
  return <span class={`state state-${job.status}`}>{name}</span>;
}

/** Whether an operator gave back what a job cost; null: nothing of it. */
export function refundName({
  actual_cost,
  refunded,
}: Pick<JobRow, "actual_cost" | "refunded">): string | null {
  if (refunded === 0) return null;
  return refunded === actual_cost ? t("Refunded") : t("Partly refunded");
}

/** The credits that the job took from the balance, or that are held for it. */
function JobCost({ status, reserved, actual_cost, refunded }: JobRow) {
  return status === "started" ? (
    <span class="job-cost is-held">{t("{count} held", { count: number(reserved) })}</span>
  ) : (
    <span class="job-cost">{signed(refunded - actual_cost)}</span>
  );
}
