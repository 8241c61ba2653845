/**
 * The SQL of one account's money: account, ledger, grants and jobs. Every function is synchronous, so
 * that nothing can come between what a transaction reads and what it writes. Statements on hot paths
 * are prepared once per object.
 */
import { and, asc, desc, eq, gte, inArray, lt, sql, type SQL } from "drizzle-orm";
import type { DrizzleSqliteDODatabase } from "drizzle-orm/durable-sqlite";
import type { JobStatus } from "../domain/job.ts";
import type { EntryKind, LedgerLine } from "../domain/ledger.ts";
import * as schema from "./schema.ts";

export type AccountDatabase = DrizzleSqliteDODatabase<typeof schema>;
export type AccountRow = typeof schema.account.$inferSelect;
export type EntryRow = typeof schema.entries.$inferSelect;
export type AppRow = typeof schema.apps.$inferSelect;
export type JobRow = typeof schema.jobs.$inferSelect;

/** What a line records beside its ledger arithmetic; see `schema.entries`. */
export type LineClosing = Pick<
  EntryRow,
  "at_ms" | "oldest_open_job_id" | "open_jobs" | "projected_line"
>;

/**
 * Which jobs a list wants. `before_id` is exclusive, `from_id` inclusive; lists run from newest to
 * oldest. Only rows of
 * `visible_apps` are seen, where given.
 */
export interface JobFilter {
  readonly visible_apps?: readonly string[] | undefined;
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  readonly before_id?: string | undefined;
  readonly from_id?: string | undefined;
  readonly limit: number;
}

/** Which lines a list wants; as in {@link JobFilter}. Lines from `from_line` on, before `before_line`. */
export interface EntryFilter {
  readonly visible_apps?: readonly string[] | undefined;
  readonly from_line: number;
  readonly before_line: number;
  readonly app_slug?: string | undefined;
  readonly job_id?: string | undefined;
  readonly kind?: EntryKind | undefined;
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly limit: number;
}

const { account, apps, entries, jobs } = schema;
const value = (name: string): SQL => sql`${sql.placeholder(name)}`;
const isOneOf = (
  column: typeof entries.app_slug | typeof jobs.app_slug,
  slugs: readonly string[] | undefined,
): SQL | undefined => (slugs === undefined ? undefined : inArray(column, [...slugs]));

/** Opens the statements over a migrated database. */
export function openStore(database: AccountDatabase) {
  const newest_entry = database
    .select()
    .from(entries)
    .orderBy(desc(entries.line))
    .limit(1)
    .prepare();
  const job_by_id = database
    .select()
    .from(jobs)
    .where(eq(jobs.id, value("id")))
    .prepare();
  const newest_job = database
    .select({ id: jobs.id })
    .from(jobs)
    .orderBy(desc(jobs.id))
    .limit(1)
    .prepare();
  const insert_entry = database
    .insert(entries)
    .values({
      line: value("line"),
      kind: value("kind"),
      amount: value("amount"),
      balance_after: value("balance_after"),
      job_id: value("job_id"),
      app_slug: value("app_slug"),
      at_ms: value("at_ms"),
      oldest_open_job_id: value("oldest_open_job_id"),
      open_jobs: value("open_jobs"),
      projected_line: value("projected_line"),
    })
    .prepare();
  const insert_job = database
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
      token_id: value("token_id"),
    })
    .prepare();
  const update_job = database
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
    .prepare();

  return {
    readAccount: (): AccountRow | null => database.select().from(account).get() ?? null,
    insertAccount: (row: Omit<AccountRow, "singleton">): void => {
      database
        .insert(account)
        .values({ singleton: 1, ...row })
        .run();
    },

    /** The newest line: it holds the balance. Null before the account is opened. */
    readNewestEntry: (): EntryRow | null => newest_entry.get() ?? null,
    insertEntry: (line: LedgerLine & LineClosing): void => void insert_entry.run({ ...line }),
    listEntries: (filter: EntryFilter): EntryRow[] =>
      database
        .select()
        .from(entries)
        .where(
          and(
            gte(entries.line, filter.from_line),
            lt(entries.line, filter.before_line),
            filter.app_slug === undefined ? undefined : eq(entries.app_slug, filter.app_slug),
            filter.job_id === undefined ? undefined : eq(entries.job_id, filter.job_id),
            filter.kind === undefined ? undefined : eq(entries.kind, filter.kind),
            filter.from_ms === undefined ? undefined : gte(entries.at_ms, filter.from_ms),
            filter.to_ms === undefined ? undefined : lt(entries.at_ms, filter.to_ms),
            isOneOf(entries.app_slug, filter.visible_apps),
          ),
        )
        .orderBy(desc(entries.line))
        .limit(filter.limit)
        .all(),
    /** When a line was written; null where there is none. */
    readEntryTime: (line: number): number | null =>
      database.select({ at_ms: entries.at_ms }).from(entries).where(eq(entries.line, line)).get()
        ?.at_ms ?? null,
    /** Lines from `from_line` on, oldest first: what the outbox reads. */
    readEntriesFrom: (from_line: number, limit: number): EntryRow[] =>
      database
        .select()
        .from(entries)
        .where(gte(entries.line, from_line))
        .orderBy(asc(entries.line))
        .limit(limit)
        .all(),

    listApps: (): AppRow[] =>
      database.select().from(apps).orderBy(asc(apps.created_at_ms), asc(apps.slug)).all(),
    readApp: (slug: string): AppRow | null =>
      database.select().from(apps).where(eq(apps.slug, slug)).get() ?? null,
    saveApp: (row: AppRow): void => {
      database.insert(apps).values(row).onConflictDoUpdate({ target: apps.slug, set: row }).run();
    },

    readJob: (id: string): JobRow | null => job_by_id.get({ id }) ?? null,
    readNewestJobId: (): string | null => newest_job.get()?.id ?? null,
    insertJob: (row: JobRow): void => void insert_job.run({ ...row }),
    updateJob: (row: JobRow): void => void update_job.run({ ...row }),
    listJobs: (filter: JobFilter): JobRow[] =>
      database
        .select()
        .from(jobs)
        .where(
          and(
            filter.app_slug === undefined ? undefined : eq(jobs.app_slug, filter.app_slug),
            filter.status === undefined ? undefined : eq(jobs.status, filter.status),
            filter.before_id === undefined ? undefined : lt(jobs.id, filter.before_id),
            filter.from_id === undefined ? undefined : gte(jobs.id, filter.from_id),
            isOneOf(jobs.app_slug, filter.visible_apps),
          ),
        )
        .orderBy(desc(jobs.id))
        .limit(filter.limit)
        .all(),
    /** Jobs from `from_id` on, oldest first, for a rebuild of the read model. */
    readJobsAfter: (after_id: string, limit: number): JobRow[] =>
      database
        .select()
        .from(jobs)
        .where(sql`${jobs.id} > ${after_id}`)
        .orderBy(asc(jobs.id))
        .limit(limit)
        .all(),
    /**
     * Started jobs, oldest first, no older than `from_id`. There is no index on the status, since it
     * would be one more written row for each job; the newest ledger line says where to start.
     */
    listStartedJobs: (from_id: string): Pick<JobRow, "id" | "expires_at_ms">[] =>
      database
        .select({ id: jobs.id, expires_at_ms: jobs.expires_at_ms })
        .from(jobs)
        .where(and(gte(jobs.id, from_id), eq(jobs.status, "started")))
        .orderBy(asc(jobs.id))
        .all(),
    /** The oldest started job after `after_id`, or null. */
    readNextStartedJobId: (after_id: string): string | null =>
      database
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(sql`${jobs.id} > ${after_id}`, eq(jobs.status, "started")))
        .orderBy(asc(jobs.id))
        .limit(1)
        .get()?.id ?? null,
  };
}

export type Store = ReturnType<typeof openStore>;
