/** The summary at the top of the account page. Every read is bounded by what a page can show. */
import { sampleBalance, sumSpending, type BalancePoint } from "../domain/history.ts";
import { nextCredits } from "../domain/plans.ts";
import { accepted, assertInvariant } from "../domain/result.ts";
import type { Answer, Overview, OverviewRequest } from "./contract.ts";
import { newestNumber, numberAt } from "./ledger/entry_times.ts";
import { IS_LISTED } from "./ledger/listed.ts";
import { ensureOpen } from "./ledger/posting.ts";
import { readPlan } from "./ledger/turns.ts";
import { firstIdAt, listJobs } from "./jobs/lists.ts";
import { visibleApps } from "./caller.ts";
import { visibleLots } from "./wallet/wallet.ts";
import type { AccountDatabase } from "./sql/database.ts";
import type { EntryRow, JobRow } from "./sql/schema.ts";
import type { Transaction } from "./transaction.ts";

/** Entries and jobs that the charts read, and points and jobs that the page shows. */
const OVERVIEW_LINES_MAX = 2_000;
const OVERVIEW_JOBS_MAX = 2_000;
const OVERVIEW_POINTS_MAX = 120;
const OVERVIEW_RECENT_JOBS = 6;

/** Opens the account if it is not open yet. */
export function readOverview(transaction: Transaction, request: OverviewRequest): Answer<Overview> {
  const { store, database, now_ms } = transaction;
  ensureOpen(transaction);
  const account = store.readAccount();
  const newest = store.readNewestEntry();
  assertInvariant(account !== null && newest !== null, "an open account has its row and an entry");
  // In a chart of a whole month, a new account's first minutes would be too narrow to see.
  const from_ms = Math.max(request.from_ms, account.created_at_ms);
  const visible_apps = visibleApps(transaction);
  const plan = readPlan(store);
  const filter = { visible_apps, limit: OVERVIEW_RECENT_JOBS };
  const { rows: recent_jobs } = listJobs(transaction, filter, newest.recent_after_job_id);
  const { points, complete } = readBalancePoints(transaction, from_ms);
  return accepted({
    account: { ...account, credits: newest.balance_after },
    line: newest.line,
    held: newest.reserved_after,
    open_jobs: newest.open_jobs,
    lots: visibleLots(transaction),
    plan_name: plan?.name ?? null,
    next_credits: nextCredits(plan?.rules ?? []),
    apps: store.listApps().filter(({ slug }) => visible_apps?.includes(slug) ?? true),
    takes_starters: !account.returned,
    debt_cause: newest.balance_after < 0 ? readDebtCause(transaction) : null,
    recent_jobs,
    from_ms,
    balance: sampleBalance(points, from_ms, now_ms, OVERVIEW_POINTS_MAX),
    balance_is_complete: complete,
    spending: sumSpending(readEnded(database, from_ms)),
  });
}

/**
 * Balances since a time, oldest first, and the one before it. If there are too many, or if they have left for the archive,
 * only the newest.
 */
function readBalancePoints(
  transaction: Transaction,
  from_ms: number,
): { readonly points: readonly BalancePoint[]; readonly complete: boolean } {
  // With the entry before, which has the balance at the beginning.
  const { database, store } = transaction;
  const { forward } = store.left;
  const since_ms = Math.max(from_ms, (forward?.at_ms ?? from_ms - 1) + 1);
  const first = numberAt(transaction, newestNumber(database), since_ms) - 1;
  const newest = database.all<BalancePoint>(
    `select at_ms, balance_after as credits from entries
     where line >= ?1 and (line = ?1 or ${IS_LISTED}) order by line desc limit ${OVERVIEW_LINES_MAX}`,
    first,
  );
  const before = newest.findIndex(({ at_ms }) => at_ms < from_ms);
  const points = (before === -1 ? newest : newest.slice(0, before + 1)).toReversed();
  const is_all = newest.length < OVERVIEW_LINES_MAX && since_ms === from_ms;
  return { points, complete: before !== -1 || is_all };
}

/** The entry that took the balance below zero. Few entries follow it, because no job starts meanwhile. */
function readDebtCause({ database, store }: Transaction): Overview["debt_cause"] {
  const { oldest_line } = store.left;
  const solvent = database.first<Pick<EntryRow, "line">>(
    "select line from entries where balance_after >= 0 and line >= ? order by line desc limit 1",
    oldest_line,
  );
  // The cause has left for the archive.
  if (solvent === null && oldest_line > 1) return null;
  return database.first<Pick<EntryRow, "kind" | "note">>(
    "select kind, note from entries where line > ? order by line limit 1",
    solvent?.line ?? 0,
  );
}

/** Ended jobs created since a time; their ids begin with their time (RFC 9562, section 5.7). */
function readEnded(database: AccountDatabase, from_ms: number) {
  return database.all<Pick<JobRow, "app_slug" | "actual_cost">>(
    `select app_slug, actual_cost - refunded as actual_cost from jobs
     where id >= ? and status <> 'started' order by id desc limit ${OVERVIEW_JOBS_MAX}`,
    firstIdAt(from_ms),
  );
}
