/** One account in full, as operators see it. */
import { PAGE_MAX_ROWS } from "../../domain/limits.ts";
import { accepted, assertInvariant } from "../../domain/result.ts";
import type { Answer, InspectedAccount } from "../contract.ts";
import { ensureOpen } from "../ledger/posting.ts";
import { listJobs } from "../jobs/lists.ts";
import { listAllowances } from "../allowances/allowances.ts";
import { listTopUps, viewTopUp } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";
import { shownLots } from "../wallet/wallet.ts";

/** Opens the account if its holder never did, as a wallet call would. The caller has checked the identity. */
export function inspect(transaction: Transaction): Answer<InspectedAccount> {
  const { store } = transaction;
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
  });
}
