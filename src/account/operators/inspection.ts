/** One account in full, as operators see it. */
import { DAY_MS, firstIdOf } from "../../domain/calendar.ts";
import { PAGE_MAX_ROWS } from "../../domain/limits.ts";
import { accepted, assertInvariant } from "../../domain/result.ts";
import type { Answer, InspectedAccount, SpendingApp } from "../contract.ts";
import { ensureOpen } from "../ledger/posting.ts";
import { listJobs } from "../jobs/lists.ts";
import { listAllowances } from "../allowances/allowances.ts";
import { listTopUps, viewTopUp } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";
import { shownLots } from "../wallet/wallet.ts";

/** Opens the account if its holder never did, as a wallet call would. The caller has checked the identity. */
export function inspect(transaction: Transaction): Answer<InspectedAccount> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  const account = store.readAccount();
  const newest = store.readNewestEntry();
  assertInvariant(account !== null && newest !== null, "an open account has its row and an entry");
  const allowances = listAllowances(transaction);
  if (!allowances.ok) return allowances;
  // Each may have 16 KiB of metadata. An operator who needs all of them pages through the list.
  const started = { status: "started", limit: PAGE_MAX_ROWS } as const;
  const { rows } = listJobs(transaction, started, newest.recent_after_job_id);
  return accepted({
    account: { ...account, credits: newest.balance_after },
    held: newest.reserved_after,
    line: newest.line,
    lots: shownLots(transaction),
    apps: store.listApps(),
    allowances: allowances.value,
    topup: viewTopUp(transaction),
    top_ups: listTopUps(transaction),
    started_jobs: rows,
    spending: spentSince(transaction, now_ms - DAY_MS),
  });
}

/** Jobs that one inspection adds up, and apps that it shows. */
const JOBS_ADDED_UP = 10_000;
const APPS_SHOWN = 10;

const SPENT = `select app_slug, sum(actual_cost - refunded) as spent,
    sum(iif(status = 'started', reserved, 0)) as held, count(*) as jobs
  from (select * from jobs where id >= ? order by id desc limit ${JOBS_ADDED_UP})
  where app_slug is not null group by app_slug
  order by sum(actual_cost - refunded) + sum(iif(status = 'started', reserved, 0)) desc, app_slug
  limit ${APPS_SHOWN}`;

/** The apps in which jobs since a time cost most so far, without what was given back, or hold most. */
function spentSince({ database }: Transaction, from_ms: number): readonly SpendingApp[] {
  return database.all<SpendingApp>(SPENT, firstIdOf(from_ms));
}
