/** The holder's statement of a month: one row for each job and each other entry. */
import { isListed as isListedEntry } from "../../domain/ledger.ts";
import { accepted, assertInvariant } from "../../domain/result.ts";
import { kindsOf, ownedAfter, statementRows } from "../../domain/statement.ts";
import type {
  Answer,
  CountedEntry,
  EntryRow,
  StatementRow,
  StatementRows,
  StatementRowsRequest,
} from "../contract.ts";
import { isAmong } from "../sql/database.ts";
import { isOfJobStartedBy } from "../sql/started_by.ts";
import { endsJob, type Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";
import { newestNumber, numberAt } from "./entry_times.ts";
import { IS_LISTED } from "./listed.ts";
import { ensureOpen } from "./posting.ts";

/** Entries that one page passes, and listed ones that it reads. A page of a filtered statement may be short. */
const STATEMENT_SCAN_MAX_LINES = 20_000;
const STATEMENT_READ_MAX_LINES = 2_000;

const IN_RANGE = `line >= ?1 and line < ?2 and ${IS_LISTED} and (?3 is null or app_slug = ?3)
  and (?4 is null or ${isAmong("kind", "?4")}) and (?5 is null or ${isOfJobStartedBy("?5")})`;
const BELOW = `where ${IN_RANGE} order by line desc limit ?6 + 0`;

/**
 * The sums of the rows' changes: a job's entries are one row, as in `domain/statement.ts`. Reads the whole period: a hundred
 * thousand entries take about a tenth of a second. A reserve only moves credits from the balance to the held ones.
 */
const SUMS_OF_ROWS = `
  select coalesce(sum(min(change, 0)), 0) as spent, coalesce(sum(max(change, 0)), 0) as added from (
    select sum(balance_after + reserved_after - coalesce(
      (select before.balance_after + before.reserved_after from entries before
        where before.line = entries.line - 1), 0)) as change
    from entries where ${IN_RANGE} and kind <> 'reserve' group by coalesce(job_id, line))`;

/** Opens the account if it is not open yet. Reads a bounded number of entries, but for the sums. */
export function readStatementRows(
  transaction: Transaction,
  request: StatementRowsRequest,
): Answer<StatementRows> {
  const { store, database, allowances } = transaction;
  ensureOpen(transaction);
  const account = store.readAccount();
  assertInvariant(account !== null, "an open account has its row");
  const newest = newestNumber(database);
  const first = numberAt(transaction, newest, request.from_ms);
  const end = numberAt(transaction, newest, request.to_ms);
  const kinds_json = request.group === null ? null : JSON.stringify(kindsOf(request.group));
  const filters = [request.app_slug, kinds_json, request.by];
  const joins_jobs = request.by !== null;
  const source = {
    read: (from: number, below: number, count: number) => {
      const found = database.rows("entries", BELOW, from, below, ...filters, count);
      store.left.requirePage(found, { first: from, end: below, limit: count, joins_jobs });
      return found;
    },
    readEntry: (line: number) => store.readEntry(line),
    newestOf: newestListedOf(store),
  };
  const bounds = { scan_max: STATEMENT_SCAN_MAX_LINES, read_max: STATEMENT_READ_MAX_LINES };
  const { before_line, limit } = request;
  const range = { first, end, below: before_line ?? end, limit, ...bounds };
  const { rows, next } = statementRows(source, range);
  const sums = sumsOf(transaction, { first, end, joins_jobs }, filters);
  return accepted({
    opened_at_ms: account.created_at_ms,
    line: newest,
    opening: booksAfter(store, first - 1),
    closing: booksAfter(store, end - 1),
    sums,
    apps: store.listApps().map(({ slug }) => slug),
    spenders: allowances.listSpenders().map(({ id, label: name }) => ({ id, name })),
    rows: rows.map((own) => rowOf(store, own)),
    next,
  });
}

/** Null: too much of the period is only in the archive. */
function sumsOf(
  { store, database }: Transaction,
  { first, end, joins_jobs }: { first: number; end: number; joins_jobs: boolean },
  filters: readonly (string | null)[],
): StatementRows["sums"] {
  if (!store.left.isWithinReach(first, end)) return null;
  store.left.requirePage([], { first, end, limit: end, joins_jobs });
  return database.first<NonNullable<StatementRows["sums"]>>(SUMS_OF_ROWS, first, end, ...filters);
}

function booksAfter(store: Store, line: number): StatementRows["opening"] {
  const entry = store.readEntry(line);
  return { credits: entry?.balance_after ?? 0, held: entry?.reserved_after ?? 0 };
}

/** Finds the number of a job's newest listed entry, once for each job of a page. */
function newestListedOf(store: Store): (job_id: string) => number | null {
  const found = new Map<string, number | null>();
  const find = (job_id: string): number | null => {
    for (let line = store.readJob(job_id)?.line ?? null; line !== null;) {
      const entry = store.readEntry(line);
      if (entry === null || isListedEntry(entry)) return line;
      line = entry.previous_line;
    }
    return null;
  };
  return (job_id) => {
    const known = found.get(job_id);
    if (known !== undefined) return known;
    const line = find(job_id);
    found.set(job_id, line);
    return line;
  };
}

function rowOf(store: Store, own: readonly EntryRow[]): StatementRow {
  const job_id = own[0]?.job_id ?? null;
  const counted = own.map((entry) => countedEntry(store, entry));
  const change = counted.reduce((sum, entry) => sum + entry.change, 0);
  return { change, job: job_id === null ? null : store.readJob(job_id), entries: counted };
}

export function countedEntry(store: Store, entry: EntryRow): CountedEntry {
  const before = store.readEntry(entry.line - 1);
  const change = ownedAfter(entry) - ownedAfter(before);
  return { ...entry, change, ends_job: endsJob(entry, before) };
}
