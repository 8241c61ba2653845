/** Writing the passbook: the only place that adds a line. */
import { v4 as uuidv4 } from "uuid";
import { nextLine, type LedgerLine, type Posting } from "../domain/ledger.ts";
import { assertInvariant } from "../domain/result.ts";
import type { EntryRow, Store } from "./store.ts";
import type { TokenRow, TokenStore } from "./personal_tokens/store.ts";

/**
 * The state of one transaction: its tables, its moment, who acts, and what the read model is known to
 * have. `token`: the caller's, as it was when they were let in; null for a browser session.
 */
export interface Transaction {
  readonly store: Store;
  readonly tokens: TokenStore;
  readonly token: TokenRow | null;
  readonly identity_id: string;
  readonly now_ms: number;
  readonly projected_line: number;
}

/** The balance: the newest line's, 0 where the account is not open yet. */
export function readBalance(store: Store): number {
  return store.readNewestEntry()?.balance_after ?? 0;
}

/** The jobs that are started: how many, and none older than `oldest_id`. */
export interface OpenJobs {
  readonly oldest_id: string | null;
  readonly count: number;
}

/** The started jobs, as the newest line knows them. */
export function readOpenJobs(store: Store): OpenJobs {
  const newest = store.readNewestEntry();
  return { oldest_id: newest?.oldest_open_job_id ?? null, count: newest?.open_jobs ?? 0 };
}

/** Adds a line. `open` is given where the posting starts or ends a job: what is started then. */
export function post(
  { store, now_ms, projected_line }: Transaction,
  posting: Posting,
  open: OpenJobs = readOpenJobs(store),
): LedgerLine {
  const line = nextLine(store.readNewestEntry(), posting);
  const { oldest_id: oldest_open_job_id, count: open_jobs } = open;
  store.insertEntry({ ...line, at_ms: now_ms, oldest_open_job_id, open_jobs, projected_line });
  assertWritten(store.readNewestEntry(), line);
  return line;
}

/** The pair of the assertions in `nextLine`: what was written is what was meant. */
function assertWritten(written: EntryRow | null, meant: LedgerLine): void {
  assertInvariant(
    written?.line === meant.line && written.balance_after === meant.balance_after,
    "the newest entry is the one just posted",
  );
}

/** Opens the account where it is not open yet: its row, and line 1 of its passbook. */
export function ensureOpen(transaction: Transaction): void {
  const { store, identity_id, now_ms } = transaction;
  if (store.readNewestEntry() !== null) return;
  store.insertAccount({ id: uuidv4(), identity_id, plan: "free", created_at_ms: now_ms });
  post(transaction, { kind: "open", amount: 0, job_id: null, app_slug: null });
}
