/**
 * The SQL of one account's money: account, ledger, grants and jobs. Every function is synchronous, so
 * that nothing can come between what a transaction reads and what it writes.
 */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { Standing } from "../domain/ledger.ts";
import { withMemory } from "./memory.ts";
import * as prepared from "./money_statements.ts";
import * as schema from "./schema.ts";
import type { AccountDatabase } from "./statement.ts";

export type AccountRow = typeof schema.account.$inferSelect;
export type EntryRow = typeof schema.entries.$inferSelect;
export type AppRow = typeof schema.apps.$inferSelect;
export type JobRow = typeof schema.jobs.$inferSelect;
export type AccountStanding = Pick<AccountRow, "suspended_at_ms" | "deleted_at_ms" | "returned">;

const { account, debts, jobs, stuckJobs } = schema;

export type StartedCount = Pick<JobRow, "personal_token_id" | "app_slug"> & {
  readonly jobs: number;
};

/** Opens the tables over a migrated database. */
export const openStore = (database: AccountDatabase): Store => withMemory(openStatements(database));

function openStatements(database: AccountDatabase) {
  const saveAccount = (columns: Partial<AccountRow>): void =>
    void database.update(account).set(columns).run();
  const deleteLongJob = (job: Pick<JobRow, "id" | "expires_at_ms">): void =>
    void prepared.delete_long_job(database).run(job);

  return {
    readAccount: (): AccountRow | null => prepared.the_account(database).get() ?? null,
    saveSuspendedAt: (suspended_at_ms: number | null): void => saveAccount({ suspended_at_ms }),
    saveDeleted: (deleted_at_ms: number, owed_credits: number): void =>
      saveAccount({ deleted_at_ms, owed_credits, erasure: "closing" }),
    saveErasure: (erasure: NonNullable<AccountRow["erasure"]>): void => saveAccount({ erasure }),
    /** Takes everything out of the account's row but that it was deleted, and its id, for D1 to forget. */
    saveTombstone: (erasure: NonNullable<AccountRow["erasure"]>): void => {
      const nothing = { identity_id: "", plan: "", created_at_ms: 0, returned: false };
      saveAccount({ ...nothing, erasure });
    },
    saveReturned: (): void => saveAccount({ returned: true }),
    /** Notes that a debt was taken over; says whether it was not before. */
    insertDebt: (id: string, at_ms: number): boolean =>
      database.insert(debts).values({ id, at_ms }).onConflictDoNothing().returning().all().length >
      0,
    /** The debts that were taken over. */
    listDebts: (): string[] =>
      database
        .select({ id: debts.id })
        .from(debts)
        .all()
        .map(({ id }) => id),
    updatePlan: (plan: string): void => saveAccount({ plan }),
    insertAccount: (row: Pick<AccountRow, "id" | "identity_id" | "plan" | "created_at_ms">): void =>
      void prepared.insert_account(database).run(row),

    readNewestEntry: (): EntryRow | null => prepared.newest_entry(database).get() ?? null,
    /** Gives what the row says once it is stored, from storage itself. */
    insertEntry: (row: EntryRow): Standing | undefined => prepared.insert_entry(database).get(row),
    readEntry: (line: number): EntryRow | null =>
      prepared.entry_by_line(database).get({ line }) ?? null,
    /** Lines after one and up to another, oldest first: what the outbox reads. */
    readEntriesBetween: (after_line: number, to_line: number): EntryRow[] =>
      prepared.entries_between(database).all({ after_line, to_line }),

    listApps: (): AppRow[] => prepared.all_apps(database).all(),
    readApp: (slug: string): AppRow | null => prepared.app_by_slug(database).get({ slug }) ?? null,
    saveApp: (row: AppRow): void => void prepared.save_app(database).run(row),

    readJob: (id: string): JobRow | null => prepared.job_by_id(database).get({ id }) ?? null,
    /** The jobs of these ids that there are, in the order of their ids. */
    readJobs: ([id, ...more]: readonly string[]): JobRow[] => {
      if (id === undefined) return [];
      if (more.length === 0) return prepared.job_by_id(database).all({ id });
      return prepared.jobs_by_ids(database).all({ ids_json: JSON.stringify([id, ...more]) });
    },
    /** Credits that come back where all started jobs end now; reads every job. */
    sumRefundable: (): number =>
      database
        .select({ credits: sql<number>`coalesce(sum(${jobs.reserved}), 0)` })
        .from(jobs)
        .where(and(eq(jobs.status, "started"), eq(jobs.on_expiry, "refund")))
        .get()?.credits ?? 0,
    readNewestJobId: (): string | null => prepared.newest_job(database).get()?.id ?? null,
    insertJob: (row: JobRow): void => void prepared.insert_job(database).run(row),
    updateJob: (row: JobRow): void => void prepared.update_job(database).run(row),
    /** Jobs after `after_id`, oldest first, for a rebuild of the read model. */
    readJobsAfter: (after_id: string, limit: number): JobRow[] =>
      database
        .select()
        .from(jobs)
        .where(gt(jobs.id, after_id))
        .orderBy(asc(jobs.id))
        .limit(limit)
        .all(),
    /** The oldest job after `after_id`, or null. */
    readFirstJobAfter: (after_id: string): Pick<JobRow, "id" | "status" | "expires_at_ms"> | null =>
      prepared.first_job_after(database).get({ after_id }) ?? null,
    /** Started jobs after `after_id` that were not set aside; reads every job after it. */
    listRecentStartedJobs: (after_id: string): Pick<JobRow, "id" | "expires_at_ms">[] =>
      prepared.recent_started_jobs(database).all({ after_id }),

    /** Started jobs whose token is deleted, without those set aside; reads every started job. */
    listJobsOfDeletedTokens: (recent_after_id: string, limit: number): string[] =>
      prepared
        .jobs_of_deleted_tokens(database)
        .all({ recent_after_id, limit })
        .map(({ id }) => id),
    /** How many started jobs each token has in each app; reads every started job. */
    countStartedJobs: (recent_after_id: string): StartedCount[] =>
      prepared.started_jobs_by_creator(database).all({ recent_after_id }),

    insertLongJob: (job: Pick<JobRow, "id" | "expires_at_ms">): void =>
      void prepared.insert_long_job(database).run(job),
    deleteLongJob,
    listLongJobsDue: (to_ms: number, limit: number): string[] =>
      prepared
        .long_jobs_due(database)
        .all({ to_ms, limit })
        .map(({ id }) => id),
    readFirstLongExpiry: (): number | null =>
      prepared.first_long_expiry(database).get()?.at_ms ?? null,

    /** Notes that a job could not end at `since_ms`, and when to try again. */
    setJobAside: (job: JobRow, since_ms: number, retry_at_ms: number): void => {
      deleteLongJob(job);
      database
        .insert(stuckJobs)
        .values({ job_id: job.id, since_ms, retry_at_ms })
        .onConflictDoUpdate({ target: stuckJobs.job_id, set: { retry_at_ms } })
        .run();
    },
    deleteStuckJob: (job_id: string): void =>
      void database.delete(stuckJobs).where(eq(stuckJobs.job_id, job_id)).run(),
    listStuckJobsDue: (to_ms: number, limit: number): string[] =>
      prepared
        .stuck_jobs_due(database)
        .all({ to_ms, limit })
        .map(({ id }) => id),
    readFirstStuckRetry: (): number | null =>
      prepared.first_stuck_retry(database).get()?.at_ms ?? null,
  };
}

export type Statements = ReturnType<typeof openStatements>;
export type Store = ReturnType<typeof withMemory>;
