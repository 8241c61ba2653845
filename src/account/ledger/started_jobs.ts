/**
 * Which jobs are started, without an index over all jobs.
 *
 * An index would cost two more written rows for every job. Most jobs end soon, so only the last `RECENT_JOBS_MAX` jobs
 * are searched directly; the oldest of them leave in portions, and those still started get a row in `long_jobs`. Each entry
 * carries three columns for this, because a job that starts or ends writes an entry anyway:
 *
 * `open_jobs`: the number of started jobs.
 * `recent_after_job_id`: the jobs after this one are the recent ones. A started job up to it has a row in `long_jobs`.
 * `recent_jobs`: the number of recent jobs, started or ended.
 *
 * A job that could not be ended has a row in `stuck_jobs` instead of `long_jobs`, and is tried again later.
 */
import { RECENT_JOBS_MAX, RECENT_JOBS_PORTION } from "../../domain/limits.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { EntryRow, JobCreator, JobRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

export type StartedJobs = Pick<EntryRow, "open_jobs" | "recent_after_job_id" | "recent_jobs">;

const NONE: StartedJobs = { open_jobs: 0, recent_after_job_id: null, recent_jobs: 0 };

/** The started jobs as of the newest entry. */
export function startedJobsOf(newest: EntryRow | null): StartedJobs {
  return newest ?? NONE;
}

/**
 * The columns after a new job starts. Called before the job's row is written. Reads jobs only if there are too many recent
 * ones.
 */
export function withStarted(store: Store, jobs: StartedJobs, creator: JobCreator): StartedJobs {
  store.countStarted(creator, 1);
  const { recent_after_job_id, recent_jobs } = jobs;
  const open_jobs = jobs.open_jobs + 1;
  if (recent_jobs < RECENT_JOBS_MAX) {
    return { open_jobs, recent_after_job_id, recent_jobs: recent_jobs + 1 };
  }
  const to_id = store.readEndOfPortion(recent_after_job_id ?? "");
  assertInvariant(to_id !== null, "the recent jobs have their rows");
  store.deadlines.insertLongJobs(recent_after_job_id ?? "", to_id);
  const left = recent_jobs - RECENT_JOBS_PORTION;
  return { open_jobs, recent_after_job_id: to_id, recent_jobs: left + 1 };
}

/** The columns after a job ends. A job that had expired before, and is completed late, changes nothing. */
export function withoutEnded(
  store: Store,
  jobs: StartedJobs,
  job: JobRow,
  now_ms: number,
): StartedJobs {
  if (job.status !== "started") return jobs;
  store.countStarted(job, -1);
  const { recent_after_job_id, recent_jobs } = jobs;
  const { deadlines } = store;
  if (recent_after_job_id !== null && job.id <= recent_after_job_id) deadlines.deleteLongJob(job);
  if (job.expires_at_ms <= now_ms) deadlines.deleteStuckJob(job.id);
  const open_jobs = jobs.open_jobs - 1;
  // If no job is started, no job has to be searched.
  return open_jobs === 0
    ? { open_jobs, recent_after_job_id: store.readNewestJobId(), recent_jobs: 0 }
    : { open_jobs, recent_after_job_id, recent_jobs };
}
