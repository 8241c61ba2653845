/**
 * When started jobs expire, and when claims on caps end: the tables of the jobs that are not among the recent ones (see
 * `ledger/started_jobs.ts`), and what is known of the next time without reading them.
 */
import type { AccountDatabase } from "./database.ts";
import type { JobRow } from "./schema.ts";

/** The earliest of some times, as far as it is known. It may be too early, never too late. */
class EarliestTime {
  /** Null: unknown. */
  #at_ms: number | null = null;

  isKnownAfter(at_ms: number): boolean {
    return this.#at_ms !== null && this.#at_ms > at_ms;
  }

  /** All times were read. Infinity: the account has no such time. */
  learn(at_ms: number): void {
    this.#at_ms = at_ms;
  }

  /** One more time is among them. */
  add(at_ms: number): void {
    if (this.#at_ms !== null) this.#at_ms = Math.min(this.#at_ms, at_ms);
  }

  /** It must be read again. */
  forget(): void {
    this.#at_ms = null;
  }
}

type Expiring = Pick<JobRow, "id" | "expires_at_ms">;

export class Deadlines {
  readonly #database: AccountDatabase;
  /** Of started jobs, and of those whose expiry failed. */
  readonly next_expiry = new EarliestTime();
  readonly next_claim_end = new EarliestTime();
  #may_have_revoked_jobs = true;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** After a roll-back, or after rows were deleted by other SQL. */
  forget(): void {
    this.next_expiry.forget();
    this.next_claim_end.forget();
    this.#may_have_revoked_jobs = true;
  }

  /** Whether started jobs may be left that lost their right to go on, maybe by an instance that was evicted. */
  get may_have_revoked_jobs(): boolean {
    return this.#may_have_revoked_jobs;
  }

  /** All such jobs were read; `is_more`: a portion of them is left. */
  notedRevokedJobs(is_more: boolean): void {
    this.#may_have_revoked_jobs = is_more;
  }

  insertLongJob({ id, expires_at_ms }: Expiring): void {
    this.#database.run(
      "insert into long_jobs (expires_at_ms, job_id) values (?, ?) on conflict do nothing",
      expires_at_ms,
      id,
    );
  }

  /** For the started jobs after `after_id`, up to `to_id`, without those set aside. */
  insertLongJobs(after_id: string, to_id: string): void {
    this.#database.run(
      `insert into long_jobs (expires_at_ms, job_id) select expires_at_ms, id from jobs
       where id > ? and id <= ? and status = 'started' and ${IS_NOT_SET_ASIDE}`,
      after_id,
      to_id,
    );
  }

  deleteLongJob({ id, expires_at_ms }: Expiring): void {
    const statement = "delete from long_jobs where expires_at_ms = ? and job_id = ?";
    this.#database.run(statement, expires_at_ms, id);
  }

  listLongJobsDue(to_ms: number, limit: number): string[] {
    return this.#ids(
      "select job_id from long_jobs where expires_at_ms <= ? order by expires_at_ms limit ? + 0",
      to_ms,
      limit,
    );
  }

  readFirstLongExpiry(): number | null {
    return this.#time("select min(expires_at_ms) as at_ms from long_jobs");
  }

  /** Records that a job could not be ended at `since_ms`, and when to try again. */
  setJobAside(job: Expiring, since_ms: number, retry_at_ms: number): void {
    this.deleteLongJob(job);
    this.#database.run(
      `insert into stuck_jobs (job_id, since_ms, retry_at_ms) values (?, ?, ?)
       on conflict (job_id) do update set retry_at_ms = excluded.retry_at_ms`,
      job.id,
      since_ms,
      retry_at_ms,
    );
  }

  deleteStuckJob(job_id: string): void {
    this.#database.run("delete from stuck_jobs where job_id = ?", job_id);
  }

  listStuckJobsDue(to_ms: number, limit: number): string[] {
    return this.#ids(
      "select job_id from stuck_jobs where retry_at_ms <= ? limit ? + 0",
      to_ms,
      limit,
    );
  }

  /** Of the jobs set aside; null: there are none. */
  readFirstStuckDeadline(): number | null {
    return this.#time(
      "select min(expires_at_ms) as at_ms from jobs where id in (select job_id from stuck_jobs)",
    );
  }

  readFirstStuckRetry(): number | null {
    return this.#time("select min(retry_at_ms) as at_ms from stuck_jobs");
  }

  insertClaim(job_id: string, claimed_until_ms: number): void {
    this.#database.insert("cap_claims", { job_id, claimed_until_ms });
    this.next_claim_end.add(claimed_until_ms);
  }

  deleteClaim(job_id: string, claimed_until_ms: number): void {
    const statement = "delete from cap_claims where claimed_until_ms = ? and job_id = ?";
    this.#database.run(statement, claimed_until_ms, job_id);
  }

  readFirstClaimEnd(): number | null {
    return this.#time("select min(claimed_until_ms) as at_ms from cap_claims");
  }

  listClaimsDue(to_ms: number, limit: number): string[] {
    return this.#ids(
      "select job_id from cap_claims where claimed_until_ms <= ? limit ? + 0",
      to_ms,
      limit,
    );
  }

  #ids(query: string, to_ms: number, limit: number): string[] {
    return this.#database
      .all<{ readonly job_id: string }>(query, to_ms, limit)
      .map(({ job_id }) => job_id);
  }

  #time(query: string): number | null {
    return this.#database.first<{ readonly at_ms: number | null }>(query)?.at_ms ?? null;
  }
}

/** The job has no row in `stuck_jobs`. */
export const IS_NOT_SET_ASIDE = "not exists (select 1 from stuck_jobs where job_id = jobs.id)";

/** The job is started; see `ledger/started_jobs.ts`. */
export function isKnownStarted(recent_after_id: string): string {
  return `id in (select job_id from long_jobs
    union all select id from jobs where id > ${recent_after_id} and status = 'started'
    union all select job_id from stuck_jobs)`;
}
