/** Writing the passbook: the only place that adds a line. */
import { v4 as uuidv4 } from "uuid";
import { nextLine, type LedgerLine, type Posting } from "../domain/ledger.ts";
import { assertInvariant } from "../domain/result.ts";
import type { EntryRow, Store } from "./store.ts";
import type { TokenRow, TokenStore } from "./tokens.ts";

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

/**
 * Adds a line. `oldest_open_job_id` is the oldest started job once this line holds, and null where
 * none is; leave it out where the posting starts or ends no job.
 */
export function post(
  { store, now_ms, projected_line }: Transaction,
  posting: Posting,
  oldest_open_job_id?: string | null,
): LedgerLine {
  const previous = store.readNewestEntry();
  const line = nextLine(previous, posting);
  const oldest_open =
    oldest_open_job_id === undefined ? (previous?.oldest_open_job_id ?? null) : oldest_open_job_id;
  store.insertEntry({ ...line, at_ms: now_ms, oldest_open_job_id: oldest_open, projected_line });
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
