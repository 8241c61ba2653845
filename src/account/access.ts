/**
 * Everything that may act on the account: apps and allowances, each with its last use and what it spent in this month.
 * Jobs say both, so that no job writes a row more for it. Reads are bounded: see {@link ACCESS_SCAN_MAX_LINES}.
 */
import { idsOfPath } from "../domain/allowance.ts";
import { monthOf } from "../domain/calendar.ts";
import { accepted } from "../domain/result.ts";
import { describeAllowance } from "./allowances/allowances.ts";
import { checkWhole } from "./caller.ts";
import type { Access, AccessApp, Answer } from "./contract.ts";
import { newestNumber, numberAt } from "./ledger/entry_times.ts";
import { ensureOpen } from "./ledger/posting.ts";
import { startedJobsOf } from "./ledger/started_jobs.ts";
import type { JobCreator } from "./sql/schema.ts";
import type { Transaction } from "./transaction.ts";

/**
 * The newest entries that are read, and their jobs. A job has two, and one more for each report of its progress. If this month
 * has more, nobody learns what was spent in it; an app without a job among them counts as never used.
 */
export const ACCESS_SCAN_MAX_LINES = 20_000;

/** Refused as `scope` to a caller that may not see all of the account. */
export function readAccess(transaction: Transaction): Answer<Access> {
  const whole = checkWhole(transaction);
  if (!whole.ok) return whole;
  ensureOpen(transaction);
  const { allowances, families, database, store, now_ms } = transaction;
  const line = newestNumber(database);
  const spending = readSpending(transaction, line);
  const spentBy = (sum: (it: Spending) => number | undefined): number | null =>
    spending === null ? null : (sum(spending) ?? 0);
  const renewals = families.lastRenewals();
  const listed = allowances.listLiving(now_ms).map((row) => ({
    ...describeAllowance(transaction, row, renewals),
    spent_this_month: spentBy(({ of_allowances }) => of_allowances.get(row.id)),
  }));
  const { recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  const started = store.readStartedCounts(recent_after_job_id ?? "");
  const uses = readLastUses(transaction, line);
  const apps = store.listApps().flatMap(({ slug, access }): AccessApp[] => {
    if (access === "none") return [];
    return [
      {
        slug,
        state: access,
        last_used_at_ms: uses.get(slug) ?? null,
        spent_this_month: spentBy(({ of_apps }) => of_apps.get(slug)),
        started_jobs: started.ofApp(slug),
      },
    ];
  });
  return accepted({
    apps: apps.toSorted(byLastUse),
    allowances: listed.toSorted(byLastUse),
    spent_this_month: spentBy(({ total }) => total),
    line,
  });
}

type Used = Pick<AccessApp, "last_used_at_ms">;

function byLastUse(one: Used, other: Used): number {
  return (other.last_used_at_ms ?? 0) - (one.last_used_at_ms ?? 0);
}

/** The cost of ended jobs, in credits. */
interface Spending {
  /** By each allowance and by what was exchanged from it. */
  readonly of_allowances: ReadonlyMap<string, number>;
  /** By each app itself, with its key or on its pages, also for jobs of another app: not by allowances that used the app. */
  readonly of_apps: ReadonlyMap<string, number>;
  readonly total: number;
}

/**
 * The app that counts for a job without an allowance: the one whose key or page started it, which may be another than the
 * job's own. If the holder started it in a browser, the job's own.
 */
const SPENDING_APP = "coalesce(started_by_json ->> '$.slug', app_slug)";

/** The cost of the jobs that ended in the present month. Null: it has too many entries. `newest`: the newest entry's number. */
function readSpending(transaction: Transaction, newest: number): Spending | null {
  const { database, store, now_ms } = transaction;
  const first = numberAt(transaction, newest, monthOf(now_ms).from_ms);
  if (newest - first >= ACCESS_SCAN_MAX_LINES) return null;
  store.left.requirePage([], { first, end: newest + 1, limit: 1, joins_jobs: true });
  const sums = database.all<JobCreator & { readonly credits: number }>(
    `select ${SPENDING_APP} as app_slug, allowance_path, sum(actual_cost - refunded) as credits
     from jobs where status <> 'started'
       and id in (select job_id from entries where line >= ? and kind in ('settle', 'refund'))
     group by 1, 2`,
    first,
  );
  const of_allowances = new Map<string, number>();
  const of_apps = new Map<string, number>();
  let total = 0;
  for (const { app_slug, allowance_path, credits } of sums) {
    total += credits;
    for (const id of idsOfPath(allowance_path)) {
      of_allowances.set(id, (of_allowances.get(id) ?? 0) + credits);
    }
    if (allowance_path === null && app_slug !== null) of_apps.set(app_slug, credits);
  }
  return { of_allowances, of_apps, total };
}

/** When each app itself last started a job, among the newest entries. */
function readLastUses({ database }: Transaction, newest: number): ReadonlyMap<string, number> {
  const rows = database.all<{ readonly app_slug: string; readonly at_ms: number }>(
    `select ${SPENDING_APP} as app_slug, max(created_at_ms) as at_ms from jobs
     where allowance_path is null and app_slug is not null
       and id in (select job_id from entries
         where line > ? and kind = 'reserve' and previous_line is null)
     group by 1`,
    newest - ACCESS_SCAN_MAX_LINES,
  );
  return new Map(rows.map(({ app_slug, at_ms }) => [app_slug, at_ms]));
}
