/** Jobs whose time runs out. They end by themselves, in portions, whoever touches the account first. */
import { errorName } from "../domain/error_name.ts";
import { EXPIRY_PORTION_JOBS, STUCK_JOB_RETRY_MS } from "../domain/limits.ts";
import { expireJob } from "./jobs.ts";
import { openJobsOf } from "./open_jobs.ts";
import type { Transaction } from "./transaction.ts";

/**
 * When the next job runs out. What it remembers is a hint that spares reading: it may be too soon,
 * never too late, and is read anew after a waking or a roll-back.
 */
export class Expiry {
  /** No started job runs out before this; infinity: none is started; null: not known. */
  #next_ms: number | null = null;
  /** Whether a deleted token may have started jobs left. An object that woke does not know. */
  #may_have_left_jobs = true;

  /** Says that a job was started. The alarm that its line armed comes first, or comes by then. */
  started({ alarm }: Transaction, { expires_at_ms }: { readonly expires_at_ms: number }): void {
    alarm.by(expires_at_ms);
    if (this.#next_ms !== null) this.#next_ms = Math.min(this.#next_ms, expires_at_ms);
  }

  /** Says that what was remembered may be wrong or too soon. */
  forget(): void {
    this.#next_ms = null;
  }

  /** Says that a transaction was undone. */
  undo(): void {
    this.forget();
    this.#may_have_left_jobs = true;
  }

  /** Goes on with {@link expireJobsOfDeletedTokens} where a portion was left, or an object before left one. */
  expireLeftJobs(transaction: Transaction): void {
    if (this.#may_have_left_jobs) this.expireJobsOfDeletedTokens(transaction);
  }

  /**
   * Expires started jobs whose token was deleted, {@link EXPIRY_PORTION_JOBS} at most; the alarm takes the rest.
   * Of a deleted account all jobs end anyway.
   */
  expireJobsOfDeletedTokens(transaction: Transaction): void {
    const { store, alarm, now_ms } = transaction;
    const { open_jobs, recent_after_job_id } = openJobsOf(store.readNewestEntry());
    const is_deleted = (store.readStanding()?.deleted_at_ms ?? null) !== null;
    const job_ids =
      open_jobs === 0 || is_deleted
        ? []
        : store.listJobsOfDeletedTokens(recent_after_job_id ?? "", EXPIRY_PORTION_JOBS + 1);
    for (const job_id of job_ids.slice(0, EXPIRY_PORTION_JOBS)) {
      this.endOrSetAside(transaction, job_id);
    }
    this.#may_have_left_jobs = job_ids.length > EXPIRY_PORTION_JOBS;
    if (this.#may_have_left_jobs) alarm.by(now_ms);
  }

  /**
   * Ends jobs whose time has run out, {@link EXPIRY_PORTION_JOBS} at most, and arms the alarm for the
   * next. Reads nothing where it knows that none is due; else the recent jobs (`RECENT_JOBS_MAX`), the
   * jobs it ends, and one row more.
   */
  expireDueJobs(transaction: Transaction): void {
    const { store, now_ms, alarm } = transaction;
    if (this.#next_ms !== null && this.#next_ms > now_ms) return;
    const open = openJobsOf(store.readNewestEntry());
    if (open.open_jobs === 0) {
      this.#next_ms = Number.POSITIVE_INFINITY;
      return;
    }
    this.#next_ms = readNextExpiry(transaction);
    if (this.#next_ms <= now_ms) {
      for (const job_id of listDueJobs(transaction)) this.endOrSetAside(transaction, job_id);
      this.#next_ms = readNextExpiry(transaction);
    }
    if (Number.isFinite(this.#next_ms)) alarm.by(this.#next_ms);
  }

  /**
   * Ends started jobs as if their time had run out, a portion of them: the account is deleted.
   * @returns whether more may be left.
   */
  endStartedJobs(transaction: Transaction): boolean {
    const { store } = transaction;
    const { recent_after_job_id } = openJobsOf(store.readNewestEntry());
    const recent = store.listRecentStartedJobs(recent_after_job_id ?? "").map(({ id }) => id);
    const long = store.listLongJobsDue(Number.POSITIVE_INFINITY, EXPIRY_PORTION_JOBS);
    const started = [...recent, ...long].filter((id) => store.readJob(id)?.status === "started");
    for (const job_id of started) this.endOrSetAside(transaction, job_id);
    this.#next_ms = null;
    return started.length > 0;
  }

  /**
   * Ends a job whose time has run out. One that cannot end must not stop the account: it keeps its
   * hold, is set aside for an hour, and shows in the log and in the read model, as started past its
   * time.
   */
  endOrSetAside(transaction: Transaction, job_id: string): void {
    const { store, part, now_ms } = transaction;
    const job = store.readJob(job_id);
    if (job?.status !== "started") return store.deleteStuckJob(job_id);
    try {
      part(() => expireJob(transaction, job));
    } catch (error) {
      const reason = errorName(error);
      console.error({ event: "job_set_aside", job_id, reason });
      store.setJobAside(job, now_ms, now_ms + STUCK_JOB_RETRY_MS);
    }
  }
}

/** Jobs whose time has run out, as many as one transaction ends. */
function listDueJobs({ store, now_ms }: Transaction): string[] {
  const { recent_after_job_id } = openJobsOf(store.readNewestEntry());
  const recent = store
    .listRecentStartedJobs(recent_after_job_id ?? "")
    .filter((job) => job.expires_at_ms <= now_ms)
    .map((job) => job.id);
  const long = store.listLongJobsDue(now_ms, EXPIRY_PORTION_JOBS);
  const stuck = store.listStuckJobsDue(now_ms, EXPIRY_PORTION_JOBS);
  return [...recent, ...long, ...stuck].slice(0, EXPIRY_PORTION_JOBS);
}

/** When the next started job runs out, or a stuck one is tried again; infinity: neither. */
function readNextExpiry({ store }: Transaction): number {
  const { open_jobs, recent_after_job_id } = openJobsOf(store.readNewestEntry());
  if (open_jobs === 0) return Number.POSITIVE_INFINITY;
  const recent = store.listRecentStartedJobs(recent_after_job_id ?? "");
  const times = recent.map((job) => job.expires_at_ms);
  // Where these are all, none outlasted others and none was set aside.
  const others =
    recent.length === open_jobs ? [] : [store.readFirstLongExpiry(), store.readFirstStuckRetry()];
  return Math.min(...times, ...others.filter((at_ms) => at_ms !== null));
}
