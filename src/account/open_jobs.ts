/**
 * Which jobs are started, without an index over all jobs ever. The newest line says how many there are,
 * and where the recent ones begin; the few that outlast those have a row in `long_jobs`. So whatever
 * asks for started jobs reads at most `RECENT_JOBS_MAX` jobs beside the started ones themselves, and a
 * job that ends before so many others are created costs no further row.
 */
import { RECENT_JOBS_MAX } from "../domain/limits.ts";
import { assertInvariant } from "../domain/result.ts";
import type { Creator } from "./started_shares.ts";
import type { EntryRow, JobRow, Store } from "./store.ts";

/** See the columns of the same names, `schema.entries`. */
export type OpenJobs = Pick<EntryRow, "open_jobs" | "recent_after_job_id" | "recent_jobs">;

const NONE: OpenJobs = { open_jobs: 0, recent_after_job_id: null, recent_jobs: 0 };

/** The started jobs as the newest line knows them. */
export function openJobsOf(newest: EntryRow | null): OpenJobs {
  return newest ?? NONE;
}

/** What is started once a new job is; called before its row is written. Reads one job at most. */
export function withStarted(store: Store, open: OpenJobs, job: Creator): OpenJobs {
  store.countStarted(job, 1);
  const { open_jobs, recent_after_job_id, recent_jobs } = open;
  if (recent_jobs < RECENT_JOBS_MAX) {
    return { open_jobs: open_jobs + 1, recent_after_job_id, recent_jobs: recent_jobs + 1 };
  }
  const outlasting = store.readFirstJobAfter(recent_after_job_id ?? "");
  assertInvariant(outlasting !== null, "recent jobs are there");
  if (outlasting.status === "started") store.insertLongJob(outlasting);
  return { open_jobs: open_jobs + 1, recent_after_job_id: outlasting.id, recent_jobs };
}

/** What is started once `job` has ended; one that timed out before was not among them any more. */
export function withoutEnded(store: Store, open: OpenJobs, job: JobRow, now_ms: number): OpenJobs {
  if (job.status !== "started") return open;
  store.countStarted(job, -1);
  const { recent_after_job_id, recent_jobs } = open;
  if (recent_after_job_id !== null && job.id <= recent_after_job_id) store.deleteLongJob(job);
  if (job.expires_at_ms <= now_ms) store.deleteStuckJob(job.id);
  const open_jobs = open.open_jobs - 1;
  // Where nothing is started there is nothing to look for: the recent ones begin after the newest.
  return open_jobs === 0
    ? { open_jobs, recent_after_job_id: store.readNewestJobId(), recent_jobs: 0 }
    : { open_jobs, recent_after_job_id, recent_jobs };
}
