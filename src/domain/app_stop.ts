/** The meaning of an app that the holder stopped in an account. Pure. */

/** The fate of the app's started jobs: they may go on, or expire now as their policy says. */
export const STARTED_JOBS = ["keep", "expire"] as const;
export type StartedJobs = (typeof STARTED_JOBS)[number];

/** A stopped app, and the newest job when the holder stopped it; null: there was none. */
export interface StoppedApp {
  readonly slug: string;
  readonly last_job_id: string | null;
}

/** Whether a job is the app's and was started before the stop. Ids of jobs are in the order of creation. */
export function isStartedBefore(
  { slug, last_job_id }: StoppedApp,
  job: { readonly id: string; readonly app_slug: string | null },
): boolean {
  return job.app_slug === slug && last_job_id !== null && job.id <= last_job_id;
}

/**
 * The sentences of our pages about a stop, in one place. `http/api/access/stop.test.ts` tries the credentials before,
 * during and after a stop.
 */
export const STOP_FACTS = {
  nothing_starts: "It can start no more jobs, and no other app or token can start jobs for it.",
  nothing_read: "Its server and its pages no longer see your balance or your statement.",
  no_tokens:
    "Its pages get no new tokens from us, neither for your account nor for other services.",
  connections_end:
    "Its connections end for good; those to a resource stop there within ten minutes. To use them again, you must connect the app again.",
  jobs_finish:
    "Jobs that were started before can still finish, and you pay what they cost, but no more than was estimated or is set aside for them.",
  jobs_expire:
    "Jobs that were started before end now, as if their time had run out. If the app still completes one, you pay what it cost, but no more than was estimated or set aside for it.",
  profile_stays: "Until you sign out, its pages may still learn your name and your e-mail address.",
  allowed_again:
    "If you allow the app again, its server and its pages can use your credits as before.",
} as const;
