/**
 * The SQL of one account's money: account, ledger, apps and jobs. Every method is synchronous, so that nothing can happen
 * between what a transaction reads and what it writes.
 *
 * The store remembers what nearly every operation reads: the account's row, the rows of the apps that it uses, the newest
 * entry, the id of the newest job, the numbers of started jobs, and when the next one expires. Only this object writes
 * those rows, and it writes them through this file, so each is read once after the object wakes or rolls back. A wrong
 * memory could not move money: the next entry would have a number that is already taken, and the insert would fail.
 */
import { TIMED_KINDS } from "../../domain/ledger.ts";
import { RECENT_JOBS_PORTION } from "../../domain/limits.ts";
import { assertInvariant } from "../../domain/result.ts";
import { isAmong, type AccountDatabase } from "./database.ts";
import { BasePayments } from "./base_payments.ts";
import { Deadlines, IS_NOT_SET_ASIDE, isKnownStarted } from "./deadlines.ts";
import { LeftStore } from "./left_store.ts";
import { LotStore } from "./lot_store.ts";
import type { AccountRow, AppRow, EntryRow, JobCreator, JobRow } from "./schema.ts";
import { TopUpStore } from "./top_up_store.ts";
import { StartedCounts, type StartedCount } from "./started_counts.ts";

/** As in `purchase_entries`. */
interface EntryMoney {
  readonly package_id: string;
  readonly currency: string;
  readonly amount_minor: number;
}

const TIMED = TIMED_KINDS.map((kind) => `'${kind}'`).join(", ");

type WrittenEntry = Pick<EntryRow, "line" | "balance_after" | "reserved_after">;

/** The tables of a migrated database. */
export class Store {
  readonly #database: AccountDatabase;
  readonly deadlines: Deadlines;
  readonly lots: LotStore;
  readonly base_payments: BasePayments;
  readonly top_ups: TopUpStore;
  readonly left: LeftStore;
  // Undefined: unknown. Null: no such row.
  #account: AccountRow | null | undefined;
  readonly #apps = new Map<string, AppRow>();
  #newest_entry: EntryRow | null | undefined;
  #newest_job_id: string | null | undefined;
  #started_counts: StartedCounts | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
    this.deadlines = new Deadlines(database);
    this.lots = new LotStore(database);
    this.base_payments = new BasePayments(database);
    this.top_ups = new TopUpStore(database);
    this.left = new LeftStore(database);
  }

  /** After a roll-back, or after rows were deleted by other SQL. */
  forget(): void {
    this.#account = undefined;
    this.#apps.clear();
    this.#newest_entry = undefined;
    this.#newest_job_id = undefined;
    this.#started_counts = undefined;
    this.deadlines.forget();
    this.lots.forget();
    this.base_payments.forget();
    this.top_ups.forget();
    this.left.forget();
  }

  /** Runs `work`, which is part of a transaction. If it throws, nothing is remembered any more. */
  within<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  readAccount(): AccountRow | null {
    if (this.#account === undefined) this.#account = this.#database.row("account", "");
    return this.#account;
  }

  insertAccount(row: Pick<AccountRow, "id" | "identity_id" | "plan" | "created_at_ms">): void {
    this.#account = undefined;
    this.#database.insert("account", { singleton: 1, ...row });
  }

  changeAccount(changes: Partial<AccountRow>): void {
    this.#account = undefined;
    this.#database.update("account", changes, { singleton: 1 });
  }

  /** A debt that was taken over, in credits; null: it was not. */
  readDebt(id: string): number | null {
    return this.#database.row("debts", "where id = ?", id)?.credits ?? null;
  }

  saveDebt(id: string, credits: number, at_ms: number): void {
    this.#database.run(
      `insert into debts (id, credits, at_ms) values (?, ?, ?)
       on conflict (id) do update set credits = excluded.credits`,
      id,
      credits,
      at_ms,
    );
  }

  /** The debts that were taken over. */
  listDebts(): string[] {
    return this.#database.rows("debts", "").map(({ id }) => id);
  }

  /** The newest entry, which holds the balance. Null before the account is opened. */
  readNewestEntry(): EntryRow | null {
    if (this.#newest_entry === undefined) {
      this.#newest_entry = this.#database.row("entries", "order by line desc limit 1");
    }
    return this.#newest_entry;
  }

  /** When somebody last did something here, in addition to what time does; 0: never. */
  readLastUse(): number {
    const query = `select at_ms from entries where kind not in (${TIMED}) order by line desc limit 1`;
    return this.#database.first<Pick<EntryRow, "at_ms">>(query)?.at_ms ?? 0;
  }

  /** @throws RowsLeft if it is only in the archive */
  readEntry(line: number): EntryRow | null {
    if (this.#newest_entry?.line === line) return this.#newest_entry;
    const entry = this.#database.row("entries", "where line = ?", line);
    if (entry === null && line >= 1) this.left.requireEntries(line, line + 1);
    return entry;
  }

  /**
   * Entries after `after_line`, up to `to_line`, oldest first. Usually only the newest one is wanted, or nothing.
   * @throws RowsLeft if one of them is only in the archive
   */
  readEntriesBetween(after_line: number, to_line: number): EntryRow[] {
    if (after_line >= to_line) return [];
    const newest = this.#newest_entry ?? null;
    if (newest?.line === to_line && after_line === to_line - 1) return [newest];
    this.left.requireEntries(after_line + 1, to_line + 1);
    const clauses = "where line > ? and line <= ? order by line";
    return this.#database.rows("entries", clauses, after_line, to_line);
  }

  /** @returns what storage has of the entry. */
  insertEntry(row: EntryRow): WrittenEntry | null {
    this.#newest_entry = undefined;
    const columns = ["line", "balance_after", "reserved_after"] as const;
    const written = this.#database.insertReturning("entries", row, columns);
    this.#newest_entry = row;
    return written;
  }

  /** The money of a purchase's entry; null: the entry belongs to no purchase. */
  readMoney(line: number): EntryMoney | null {
    return this.#database.first(
      `select package_id, currency, amount_minor from purchase_entries
       join purchases using (checkout_session_id) where line = ?`,
      line,
    );
  }

  listApps(): AppRow[] {
    return this.#database.rows("apps", "order by created_at_ms, slug");
  }

  readApp(slug: string): AppRow | null {
    const row = this.#apps.get(slug) ?? this.#database.row("apps", "where slug = ?", slug);
    if (row !== null) this.#apps.set(slug, row);
    return row;
  }

  saveApp(row: AppRow): void {
    this.#apps.delete(row.slug);
    this.#database.save("apps", ["slug"], row);
  }

  /** @throws RowsLeft if it is only in the archive */
  readJob(id: string): JobRow | null {
    const job = this.#database.row("jobs", "where id = ?", id);
    if (job === null) this.left.requireJobs([id]);
    return job;
  }

  /**
   * The jobs of these ids, in the order of their ids; an unknown id is left out.
   * @throws RowsLeft if one of them is only in the archive
   */
  readJobs(ids: readonly string[]): JobRow[] {
    const [id, ...more] = ids;
    if (id === undefined) return [];
    if (more.length === 0) return [this.readJob(id)].filter((job) => job !== null);
    const jobs = this.#database.rows("jobs", `where ${isAmong("id", "?")}`, JSON.stringify(ids));
    if (jobs.length < ids.length) this.left.requireJobsOf(ids.map((job_id) => ({ job_id })));
    return jobs;
  }

  /** Credits that are refunded if all started jobs expire now. Reads every job. */
  sumRefundable(): number {
    const sum = this.#database.first<{ readonly credits: number }>(
      `select coalesce(sum(reserved - coalesce(spent,
         case on_expiry when 'charge' then reserved else 0 end)), 0) as credits
       from jobs where status = 'started'`,
    );
    return sum?.credits ?? 0;
  }

  readNewestJobId(): string | null {
    if (this.#newest_job_id === undefined) {
      this.#newest_job_id = this.#firstId("select id from jobs order by id desc limit 1");
    }
    return this.#newest_job_id;
  }

  /** `row.id` must be after the ids of all jobs. */
  insertJob(row: JobRow): void {
    this.#newest_job_id = undefined;
    this.#database.insert("jobs", row);
    this.#newest_job_id = row.id;
  }

  updateJob({ id, ...columns }: JobRow): void {
    this.#database.update("jobs", columns, { id });
  }

  /** Jobs after `after_id`, oldest first, for a rebuild of the read model. */
  readJobsAfter(after_id: string, limit: number): JobRow[] {
    return this.#database.rows("jobs", "where id > ? order by id limit ? + 0", after_id, limit);
  }

  /** The last of the first `RECENT_JOBS_PORTION` jobs after `after_id`; null: there are fewer. */
  readEndOfPortion(after_id: string): string | null {
    const offset = RECENT_JOBS_PORTION - 1;
    const query = `select id from jobs where id > ? order by id limit 1 offset ${offset}`;
    return this.#firstId(query, after_id);
  }

  /** Started jobs after `after_id`, without those set aside. Reads every job after it. */
  listRecentStartedJobs(after_id: string): Pick<JobRow, "id" | "expires_at_ms">[] {
    return this.#database.all(
      `select id, expires_at_ms from jobs
       where id > ? and status = 'started' and ${IS_NOT_SET_ASIDE}`,
      after_id,
    );
  }

  /** The earliest deadline of the started jobs, also of those set aside; null: none is started. */
  readFirstDeadline(): number | null {
    const { open_jobs = 0, recent_after_job_id = null } = this.readNewestEntry() ?? {};
    if (open_jobs === 0) return null;
    const recent = this.#database.first<{ jobs: number; at_ms: number | null }>(
      "select count(*) as jobs, min(expires_at_ms) as at_ms from jobs where id > ? and status = 'started'",
      recent_after_job_id ?? "",
    );
    // If all started jobs are recent, the other tables have none.
    const others =
      recent?.jobs === open_jobs
        ? []
        : [this.deadlines.readFirstLongExpiry(), this.deadlines.readFirstStuckDeadline()];
    const times = [recent?.at_ms ?? null, ...others].filter((at_ms) => at_ms !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  /**
   * Started jobs that may not go on: an allowance of theirs was revoked, or the holder stopped their app together with its
   * jobs. Without those set aside. Reads every started job.
   */
  listRevokedJobs(recent_after_id: string, limit: number): string[] {
    return this.#database
      .all<Pick<JobRow, "id">>(
        `select id from jobs where ${isKnownStarted("?")} and (
           (allowance_path is not null
             and exists (select 1 from json_each('["' || replace(allowance_path, ' ', '","') || '"]')
               where value in (select id from allowances where revoked_at_ms is not null)))
           or exists (select 1 from apps where slug = jobs.app_slug and access = 'stopped'
             and started_jobs = 'expire' and jobs.id <= stopped_after_job_id))
         and ${IS_NOT_SET_ASIDE} limit ? + 0`,
        recent_after_id,
        limit,
      )
      .map(({ id }) => id);
  }

  /** Started jobs of each root allowance and app. Reads every started job, once after the object wakes or rolls back. */
  readStartedCounts(recent_after_id: string): StartedCounts {
    this.#started_counts ??= new StartedCounts(
      this.#database.all<StartedCount>(
        `select allowance_path, app_slug, count(*) as jobs from jobs
         where ${isKnownStarted("?")} group by allowance_path, app_slug`,
        recent_after_id,
      ),
    );
    return this.#started_counts;
  }

  /** Counts a job that starts, or ends if `jobs` is -1. */
  countStarted(job: JobCreator, jobs: 1 | -1): void {
    this.#started_counts?.add({ ...job, jobs });
  }

  #firstId(query: string, ...parameters: readonly string[]): string | null {
    return this.#database.first<Pick<JobRow, "id">>(query, ...parameters)?.id ?? null;
  }
}

/** The job's newest entry other than refunds: the one that ended it. Reads one entry, and one for each refund. */
export function newestButRefunds(store: Store, job: JobRow): EntryRow {
  for (let line: number | null = job.line; ;) {
    const entry: EntryRow | null = line === null ? null : store.readEntry(line);
    assertInvariant(entry?.job_id === job.id, "a job names its entries");
    if (entry.kind !== "job_refund") return entry;
    line = entry.previous_line;
  }
}

/** Whether an entry ended a started job. `before`: the entry before it in the ledger. */
export function endsJob(entry: EntryRow, before: EntryRow | null): boolean {
  return before !== null && entry.open_jobs < before.open_jobs;
}
