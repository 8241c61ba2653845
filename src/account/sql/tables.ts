/**
 * The SQL of one account's money: account, ledger, apps and jobs. Every function is synchronous, so that nothing can
 * happen between what a transaction reads and what it writes.
 */
import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { LedgerEntry } from "../../domain/ledger.ts";
import * as queries from "./queries.ts";
import type { AccountDatabase } from "./query.ts";
import type { AccountRow, AppKeyRow, AppRow, EntryRow, JobRow } from "./schema.ts";
import * as schema from "./schema.ts";
import type { StartedCount } from "./started_counts.ts";

const { account, appKeys, capClaims, debts, jobs, purchaseEntries, purchases, stuckJobs } = schema;

/** As in `purchase_entries`. */
export interface EntryMoney {
  readonly package_id: string;
  readonly currency: string;
  readonly amount_minor: number;
}

type WrittenEntry = Pick<LedgerEntry, "line" | "balance_after" | "reserved_after">;

/** Gives access to the tables of a migrated database. */
export function openTables(database: AccountDatabase) {
  const saveAccount = (columns: Partial<AccountRow>): void =>
    void database.update(account).set(columns).run();
  const deleteLongJob = (job: Pick<JobRow, "id" | "expires_at_ms">): void =>
    void queries.delete_long_job(database).run(job);

  return {
    readAccount: (): AccountRow | null => queries.the_account(database).get() ?? null,
    saveSuspendedAt: (suspended_at_ms: number | null): void => saveAccount({ suspended_at_ms }),
    saveDeleted: (deleted_at_ms: number, left_credits: number): void =>
      saveAccount({ deleted_at_ms, left_credits, erasure: "closing" }),
    saveLeftCredits: (left_credits: number): void => saveAccount({ left_credits }),
    saveErasure: (erasure: NonNullable<AccountRow["erasure"]>): void => saveAccount({ erasure }),
    /** Clears the account's row, except that it was deleted and its id, which D1 still has to forget. */
    saveTombstone: (erasure: NonNullable<AccountRow["erasure"]>): void => {
      const nothing = { identity_id: "", plan: "", created_at_ms: 0, returned: false };
      saveAccount({ ...nothing, erasure });
    },
    saveReturned: (): void => saveAccount({ returned: true }),
    /** A debt that was taken over, in credits; null: it was not. */
    readDebt: (id: string): number | null =>
      database.select().from(debts).where(eq(debts.id, id)).get()?.credits ?? null,
    saveDebt: (id: string, credits: number, at_ms: number): void => {
      database
        .insert(debts)
        .values({ id, credits, at_ms })
        .onConflictDoUpdate({ target: debts.id, set: { credits } })
        .run();
    },
    /** The debts that were taken over. */
    listDebts: (): string[] =>
      database
        .select({ id: debts.id })
        .from(debts)
        .all()
        .map(({ id }) => id),
    updatePlan: (plan: string): void => saveAccount({ plan }),
    insertAccount: (row: Pick<AccountRow, "id" | "identity_id" | "plan" | "created_at_ms">): void =>
      void queries.insert_account(database).run(row),

    readNewestEntry: (): EntryRow | null => queries.newest_entry(database).get() ?? null,
    /** @returns what storage has of the entry. */
    insertEntry: (row: EntryRow): WrittenEntry | undefined =>
      queries.insert_entry(database).get(row),
    readEntry: (line: number): EntryRow | null =>
      queries.entry_by_line(database).get({ line }) ?? null,
    /** Entries after `after_line`, up to `to_line`, oldest first. */
    readEntriesBetween: (after_line: number, to_line: number): EntryRow[] =>
      queries.entries_between(database).all({ after_line, to_line }),

    /** What a purchase's entry did to money; null: it is no such entry. */
    readMoney: (line: number): EntryMoney | null =>
      database
        .select({
          package_id: purchases.package_id,
          currency: purchases.currency,
          amount_minor: purchaseEntries.amount_minor,
        })
        .from(purchaseEntries)
        .innerJoin(
          purchases,
          eq(purchases.checkout_session_id, purchaseEntries.checkout_session_id),
        )
        .where(eq(purchaseEntries.line, line))
        .get() ?? null,

    listApps: (): AppRow[] => queries.all_apps(database).all(),
    readApp: (slug: string): AppRow | null => queries.app_by_slug(database).get({ slug }) ?? null,
    saveApp: (row: AppRow): void =>
      // As in `insertJob`.
      void queries.save_app(database).run({ ...row, is_registered: Number(row.is_registered) }),

    readAppKey: (key_hash: string): AppKeyRow | null =>
      queries.app_key_by_hash(database).get({ key_hash }) ?? null,
    saveAppKey: (row: AppKeyRow): void => void queries.save_app_key(database).run(row),
    /** Forgets the keys that were accepted at `to_ms` or before. */
    deleteAppKeys: (to_ms: number): void =>
      void database.delete(appKeys).where(lte(appKeys.accepted_at_ms, to_ms)).run(),

    readJob: (id: string): JobRow | null => queries.job_by_id(database).get({ id }) ?? null,
    /** The jobs of these ids, in the order of their ids; an unknown id is left out. */
    readJobs: ([id, ...more]: readonly string[]): JobRow[] => {
      if (id === undefined) return [];
      if (more.length === 0) return queries.job_by_id(database).all({ id });
      return queries.jobs_by_ids(database).all({ ids_json: JSON.stringify([id, ...more]) });
    },
    /** Credits that are refunded if all started jobs expire now. Reads every job. */
    sumRefundable: (): number =>
      database
        .select({
          credits: sql<number>`coalesce(sum(${jobs.reserved} - coalesce(${jobs.spent},
            case ${jobs.on_expiry} when 'charge' then ${jobs.reserved} else 0 end)), 0)`,
        })
        .from(jobs)
        .where(eq(jobs.status, "started"))
        .get()?.credits ?? 0,
    readNewestJobId: (): string | null => queries.newest_job(database).get()?.id ?? null,
    insertJob: (row: JobRow): void =>
      // The platform stores a boolean parameter as text, which reads as false.
      void queries.insert_job(database).run({ ...row, is_capped: Number(row.is_capped) }),
    updateJob: (row: JobRow): void => void queries.update_job(database).run(row),
    /** Jobs after `after_id`, oldest first, for a rebuild of the read model. */
    readJobsAfter: (after_id: string, limit: number): JobRow[] =>
      database
        .select()
        .from(jobs)
        .where(gt(jobs.id, after_id))
        .orderBy(asc(jobs.id))
        .limit(limit)
        .all(),
    /** The last of the first `RECENT_JOBS_PORTION` jobs after `after_id`; null: there are fewer. */
    readEndOfPortion: (after_id: string): string | null =>
      queries.end_of_portion(database).get({ after_id })?.id ?? null,
    /** Started jobs after `after_id`, without those set aside. Reads every job after it. */
    listRecentStartedJobs: (after_id: string): Pick<JobRow, "id" | "expires_at_ms">[] =>
      queries.recent_started_jobs(database).all({ after_id }),

    /** Started jobs of which an allowance was revoked, without those set aside. Reads every started job. */
    listJobsOfEndedAllowances: (recent_after_id: string, limit: number): string[] =>
      queries
        .jobs_of_ended_allowances(database)
        .all({ recent_after_id, limit })
        .map(({ id }) => id),
    /** How many started jobs each allowance has in each app. Reads every started job. */
    countStartedJobs: (recent_after_id: string): StartedCount[] =>
      queries.started_jobs_by_creator(database).all({ recent_after_id }),

    insertLongJob: (job: Pick<JobRow, "id" | "expires_at_ms">): void =>
      void queries.insert_long_job(database).run(job),
    /** For the started jobs after `after_id`, up to `to_id`, without those set aside. */
    insertLongJobs: (after_id: string, to_id: string): void =>
      void queries.insert_long_jobs(database).run({ after_id, to_id }),
    deleteLongJob,
    listLongJobsDue: (to_ms: number, limit: number): string[] =>
      queries
        .long_jobs_due(database)
        .all({ to_ms, limit })
        .map(({ id }) => id),
    readFirstLongExpiry: (): number | null =>
      queries.first_long_expiry(database).get()?.at_ms ?? null,

    insertClaim: (job_id: string, claimed_until_ms: number): void =>
      void database.insert(capClaims).values({ job_id, claimed_until_ms }).run(),
    deleteClaim: (job_id: string, claimed_until_ms: number): void =>
      void database
        .delete(capClaims)
        .where(and(eq(capClaims.claimed_until_ms, claimed_until_ms), eq(capClaims.job_id, job_id)))
        .run(),
    readFirstClaimEnd: (): number | null => queries.first_claim_end(database).get()?.at_ms ?? null,
    listClaimsDue: (to_ms: number, limit: number): string[] =>
      queries
        .claims_due(database)
        .all({ to_ms, limit })
        .map(({ id }) => id),

    /** Records that a job could not be ended at `since_ms`, and when to try again. */
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
      queries
        .stuck_jobs_due(database)
        .all({ to_ms, limit })
        .map(({ id }) => id),
    readFirstStuckRetry: (): number | null =>
      queries.first_stuck_retry(database).get()?.at_ms ?? null,
  };
}

export type Tables = ReturnType<typeof openTables>;
