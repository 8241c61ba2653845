/** What the account page shows first. Every read is bounded by what a page can show. */
import { and, asc, desc, eq, gt, gte, ne, or, sql } from "drizzle-orm";
import { sampleBalance, sumSpending, type BalancePoint } from "../domain/history.ts";
import { accepted, assertInvariant } from "../domain/result.ts";
import type { Answer, Overview, OverviewRequest } from "./contract.ts";
import { newestNumber, numberAt } from "./ledger/entry_times.ts";
import { isListed } from "./ledger/listed.ts";
import { ensureOpen } from "./ledger/posting.ts";
import { firstIdAt, type JobLists } from "./jobs/lists.ts";
import { visibleApps } from "./caller.ts";
import { entries, jobs } from "./sql/schema.ts";
import type { AccountDatabase } from "./sql/query.ts";
import type { Transaction } from "./transaction.ts";

/** Entries and jobs that the charts read, and points and jobs that the page shows. */
const OVERVIEW_LINES_MAX = 2_000;
const OVERVIEW_JOBS_MAX = 2_000;
const OVERVIEW_POINTS_MAX = 120;
const OVERVIEW_RECENT_JOBS = 6;

/** Opens the account if it is not open yet. */
export function readOverview(
  database: AccountDatabase,
  listJobs: JobLists,
  transaction: Transaction,
  request: OverviewRequest,
): Answer<Overview> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  const account = store.readAccount();
  const newest = store.readNewestEntry();
  assertInvariant(account !== null && newest !== null, "an open account has its row and an entry");
  // In a chart of a whole month, a new account's first minutes would be too narrow to see.
  const from_ms = Math.max(request.from_ms, account.created_at_ms);
  const visible_apps = visibleApps(transaction);
  const filter = { visible_apps, limit: OVERVIEW_RECENT_JOBS };
  const { rows: recent_jobs } = listJobs(filter, newest.recent_after_job_id);
  const { points, complete } = readBalancePoints(database, from_ms);
  return accepted({
    account: { ...account, credits: newest.balance_after },
    line: newest.line,
    reserved: newest.reserved_after,
    open_jobs: newest.open_jobs,
    apps: store.listApps().filter(({ slug }) => visible_apps?.includes(slug) ?? true),
    takes_starters: !account.returned,
    debt_cause: newest.balance_after < 0 ? readDebtCause(database) : null,
    recent_jobs,
    from_ms,
    balance: sampleBalance(points, from_ms, now_ms, OVERVIEW_POINTS_MAX),
    balance_is_complete: complete,
    spending: sumSpending(readEnded(database, from_ms)),
  });
}

/** Balances since a time, oldest first, and the one before it. If there are too many, only the newest. */
function readBalancePoints(
  database: AccountDatabase,
  from_ms: number,
): { readonly points: readonly BalancePoint[]; readonly complete: boolean } {
  // With the entry before, which has the balance at the beginning.
  const first = numberAt(database, newestNumber(database), from_ms) - 1;
  const newest = database
    .select({ at_ms: entries.at_ms, credits: entries.balance_after })
    .from(entries)
    .where(and(gte(entries.line, first), or(eq(entries.line, first), isListed)))
    .orderBy(desc(entries.line))
    .limit(OVERVIEW_LINES_MAX)
    .all();
  const before = newest.findIndex(({ at_ms }) => at_ms < from_ms);
  const points = (before === -1 ? newest : newest.slice(0, before + 1)).toReversed();
  return { points, complete: before !== -1 || newest.length < OVERVIEW_LINES_MAX };
}

/** The entry that took the balance below zero. Few entries follow it, because no job starts meanwhile. */
function readDebtCause(database: AccountDatabase): Overview["debt_cause"] {
  const solvent = database
    .select({ line: entries.line })
    .from(entries)
    .where(gte(entries.balance_after, 0))
    .orderBy(desc(entries.line))
    .limit(1)
    .get();
  const cause = database
    .select({ kind: entries.kind, note: entries.note })
    .from(entries)
    .where(gt(entries.line, solvent?.line ?? 0))
    .orderBy(asc(entries.line))
    .limit(1)
    .get();
  return cause ?? null;
}

/** Ended jobs created since a time; their ids begin with their time (RFC 9562, section 5.7). */
function readEnded(database: AccountDatabase, from_ms: number) {
  return database
    .select({
      app_slug: jobs.app_slug,
      actual_cost: sql<number>`${jobs.actual_cost} - ${jobs.refunded}`,
    })
    .from(jobs)
    .where(and(gte(jobs.id, firstIdAt(from_ms)), ne(jobs.status, "started")))
    .orderBy(desc(jobs.id))
    .limit(OVERVIEW_JOBS_MAX)
    .all();
}
