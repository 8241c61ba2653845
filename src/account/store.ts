/**
 * The SQL of one account's money: account, ledger, grants and jobs. Every function is synchronous, so
 * that nothing can come between what a transaction reads and what it writes. Statements on hot paths
 * are prepared once per object.
 */
import { and, asc, desc, eq, gt, lte, min, sql, type SQL } from "drizzle-orm";
import type { DrizzleSqliteDODatabase } from "drizzle-orm/durable-sqlite";
import type { Standing } from "../domain/ledger.ts";
import { withMemory } from "./memory.ts";
import { onFirstUse } from "./on_first_use.ts";
import * as schema from "./schema.ts";

export type AccountDatabase = DrizzleSqliteDODatabase;
export type AccountRow = typeof schema.account.$inferSelect;
export type EntryRow = typeof schema.entries.$inferSelect;
export type AppRow = typeof schema.apps.$inferSelect;
export type JobRow = typeof schema.jobs.$inferSelect;
export type AccountStanding = Pick<AccountRow, "suspended_at_ms" | "deleted_at_ms" | "returned">;

const { account, apps, entries, jobs, longJobs, stuckJobs } = schema;
/** A statement's parameter. */
export const value = (name: string): SQL => sql`${sql.placeholder(name)}`;

/** Opens the tables over a migrated database. */
export const openStore = (database: AccountDatabase): Store => withMemory(openStatements(database));

function openStatements(database: AccountDatabase) {
  const the_account = onFirstUse(() => database.select().from(account).prepare());
  const all_apps = onFirstUse(() =>
    database.select().from(apps).orderBy(asc(apps.created_at_ms), asc(apps.slug)).prepare(),
  );
  const app_by_slug = onFirstUse(() =>
    database
      .select()
      .from(apps)
      .where(eq(apps.slug, value("slug")))
      .prepare(),
  );
  const newest_entry = onFirstUse(() =>
    database.select().from(entries).orderBy(desc(entries.line)).limit(1).prepare(),
  );
  const job_by_id = onFirstUse(() =>
    database
      .select()
      .from(jobs)
      .where(eq(jobs.id, value("id")))
      .prepare(),
  );
  const entries_between = onFirstUse(() =>
    database
      .select()
      .from(entries)
      .where(and(gt(entries.line, value("after_line")), lte(entries.line, value("to_line"))))
      .orderBy(asc(entries.line))
      .limit(sql.placeholder("limit"))
      .prepare(),
  );
  // One parameter however many there are: the platform takes a hundred.
  const jobs_by_ids = onFirstUse(() =>
    database
      .select()
      .from(jobs)
      .where(sql`${jobs.id} in (select value from json_each(${value("ids_json")}))`)
      .prepare(),
  );
  const first_job_after = onFirstUse(() =>
    database
      .select({ id: jobs.id, status: jobs.status, expires_at_ms: jobs.expires_at_ms })
      .from(jobs)
      .where(gt(jobs.id, value("after_id")))
      .orderBy(asc(jobs.id))
      .limit(1)
      .prepare(),
  );
  const recent_started_jobs = onFirstUse(() =>
    database
      .select({ id: jobs.id, expires_at_ms: jobs.expires_at_ms })
      .from(jobs)
      .where(
        and(
          gt(jobs.id, value("after_id")),
          eq(jobs.status, "started"),
          sql`not exists (select 1 from ${stuckJobs} where ${stuckJobs.job_id} = ${jobs.id})`,
        ),
      )
      .prepare(),
  );
  const first_long_expiry = onFirstUse(() =>
    database
      .select({ at_ms: longJobs.expires_at_ms })
      .from(longJobs)
      .orderBy(asc(longJobs.expires_at_ms))
      .limit(1)
      .prepare(),
  );
  const first_stuck_retry = onFirstUse(() =>
    database
      .select({ at_ms: min(stuckJobs.retry_at_ms) })
      .from(stuckJobs)
      .prepare(),
  );
  const newest_job = onFirstUse(() =>
    database.select({ id: jobs.id }).from(jobs).orderBy(desc(jobs.id)).limit(1).prepare(),
  );
  const insert_entry = onFirstUse(() =>
    database
      .insert(entries)
      .values({
        line: value("line"),
        kind: value("kind"),
        amount: value("amount"),
        balance_after: value("balance_after"),
        reserved_after: value("reserved_after"),
        job_id: value("job_id"),
        app_slug: value("app_slug"),
        note: value("note"),
        at_ms: value("at_ms"),
        open_jobs: value("open_jobs"),
        recent_after_job_id: value("recent_after_job_id"),
        recent_jobs: value("recent_jobs"),
        spending_json: value("spending_json"),
        kept_key: value("kept_key"),
        keyed_before_line: value("keyed_before_line"),
        keyed_lines: value("keyed_lines"),
      })
      .returning({
        line: entries.line,
        balance_after: entries.balance_after,
        reserved_after: entries.reserved_after,
      })
      .prepare(),
  );
  const insert_job = onFirstUse(() =>
    database
      .insert(jobs)
      .values({
        id: value("id"),
        status: value("status"),
        app_slug: value("app_slug"),
        action: value("action"),
        reserved: value("reserved"),
        actual_cost: value("actual_cost"),
        failure: value("failure"),
        created_at_ms: value("created_at_ms"),
        updated_at_ms: value("updated_at_ms"),
        expires_at_ms: value("expires_at_ms"),
        line: value("line"),
        metadata_json: value("metadata_json"),
        personal_token_id: value("personal_token_id"),
        settle: value("settle"),
        on_expiry: value("on_expiry"),
      })
      .prepare(),
  );
  const update_job = onFirstUse(() =>
    database
      .update(jobs)
      .set({
        status: value("status"),
        actual_cost: value("actual_cost"),
        failure: value("failure"),
        updated_at_ms: value("updated_at_ms"),
        line: value("line"),
        metadata_json: value("metadata_json"),
      })
      .where(eq(jobs.id, value("id")))
      .prepare(),
  );

  const insert_long_job = onFirstUse(() =>
    database
      .insert(longJobs)
      .values({ expires_at_ms: value("expires_at_ms"), job_id: value("id") })
      .onConflictDoNothing()
      .prepare(),
  );
  const delete_long_job = onFirstUse(() =>
    database
      .delete(longJobs)
      .where(
        and(eq(longJobs.expires_at_ms, value("expires_at_ms")), eq(longJobs.job_id, value("id"))),
      )
      .prepare(),
  );

  const deleteLongJob = ({ id, expires_at_ms }: Pick<JobRow, "id" | "expires_at_ms">): void =>
    void delete_long_job().run({ id, expires_at_ms });

  return {
    readAccount: (): AccountRow | null => the_account().get() ?? null,
    saveSuspendedAt: (suspended_at_ms: number | null): void =>
      void database.update(account).set({ suspended_at_ms }).run(),
    saveDeletedAt: (deleted_at_ms: number): void =>
      void database.update(account).set({ deleted_at_ms, erasure: "closing" }).run(),
    saveErasure: (erasure: NonNullable<AccountRow["erasure"]>): void =>
      void database.update(account).set({ erasure }).run(),
    /** Takes everything out of the account's row but that it was deleted, and its id, for D1 to forget. */
    saveTombstone: (erasure: NonNullable<AccountRow["erasure"]>): void => {
      const nothing = { identity_id: "", plan: "", created_at_ms: 0, returned: false };
      const no_answers = { kept_since_ms: 0, kept_since_line: 0, kept_before_lines: 0 };
      database
        .update(account)
        .set({ ...nothing, ...no_answers, erasure })
        .run();
    },
    saveReturned: (): void => void database.update(account).set({ returned: true }).run(),
    updatePlan: (plan: string): void => void database.update(account).set({ plan }).run(),
    insertAccount: (row: Omit<typeof account.$inferInsert, "singleton">): void => {
      database
        .insert(account)
        .values({ singleton: 1, ...row })
        .run();
    },

    readNewestEntry: (): EntryRow | null => newest_entry().get() ?? null,
    /** Gives what the row says once it is stored, from storage itself. */
    insertEntry: (row: EntryRow): Standing | undefined => insert_entry().get({ ...row }),
    readEntry: (line: number): EntryRow | null =>
      database.select().from(entries).where(eq(entries.line, line)).get() ?? null,
    /** Lines after one and up to another, oldest first: what the outbox reads. */
    readEntriesBetween: (after_line: number, to_line: number, limit: number): EntryRow[] =>
      entries_between().all({ after_line, to_line, limit }),

    listApps: (): AppRow[] => all_apps().all(),
    readApp: (slug: string): AppRow | null => app_by_slug().get({ slug }) ?? null,
    saveApp: (row: AppRow): void => {
      database.insert(apps).values(row).onConflictDoUpdate({ target: apps.slug, set: row }).run();
    },

    readJob: (id: string): JobRow | null => job_by_id().get({ id }) ?? null,
    /** The jobs of these ids that there are, in the order of their ids. */
    readJobs: (ids: readonly string[]): JobRow[] =>
      jobs_by_ids().all({ ids_json: JSON.stringify(ids) }),
    readNewestJobId: (): string | null => newest_job().get()?.id ?? null,
    insertJob: (row: JobRow): void => void insert_job().run({ ...row }),
    updateJob: (row: JobRow): void => void update_job().run({ ...row }),
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
      first_job_after().get({ after_id }) ?? null,
    /** Started jobs after `after_id` that were not set aside; reads every job after it. */
    listRecentStartedJobs: (after_id: string): Pick<JobRow, "id" | "expires_at_ms">[] =>
      recent_started_jobs().all({ after_id }),

    insertLongJob: ({ id, expires_at_ms }: Pick<JobRow, "id" | "expires_at_ms">): void =>
      void insert_long_job().run({ id, expires_at_ms }),
    deleteLongJob,
    listLongJobsDue: (to_ms: number, limit: number): string[] =>
      database
        .select({ id: longJobs.job_id })
        .from(longJobs)
        .where(lte(longJobs.expires_at_ms, to_ms))
        .orderBy(asc(longJobs.expires_at_ms))
        .limit(limit)
        .all()
        .map(({ id }) => id),
    listLongJobs: (limit: number): string[] =>
      database
        .select({ id: longJobs.job_id })
        .from(longJobs)
        .limit(limit)
        .all()
        .map(({ id }) => id),
    readFirstLongExpiry: (): number | null => first_long_expiry().get()?.at_ms ?? null,

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
      database
        .select({ id: stuckJobs.job_id })
        .from(stuckJobs)
        .where(lte(stuckJobs.retry_at_ms, to_ms))
        .limit(limit)
        .all()
        .map(({ id }) => id),
    readFirstStuckRetry: (): number | null => first_stuck_retry().get()?.at_ms ?? null,
  };
}

export type Statements = ReturnType<typeof openStatements>;
export type Store = ReturnType<typeof withMemory>;
