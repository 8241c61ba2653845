/** The holder's statement of a month: one row for each job and each other entry. */
import { and, desc, gte, lt, ne, sql } from "drizzle-orm";
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
import { arrayJson, atMost, ifGiven, isAmong, matchesIfGiven, value } from "../sql/parameters.ts";
import { query, type AccountDatabase } from "../sql/query.ts";
import { entries } from "../sql/schema.ts";
import { endsJob, type Store } from "../sql/store.ts";
import type { Transaction } from "../transaction.ts";
import { newestNumber, numberAt } from "./entry_times.ts";
import { isListed } from "./listed.ts";
import { ensureOpen } from "./posting.ts";

/** Entries that one page passes, and listed ones that it reads. A page of a filtered statement may be short. */
const STATEMENT_SCAN_MAX_LINES = 20_000;
const STATEMENT_READ_MAX_LINES = 2_000;

const inRange = () => [
  gte(entries.line, value("first")),
  lt(entries.line, value("end")),
  isListed,
  matchesIfGiven(entries.app_slug),
  ifGiven("kinds_json", (given) => isAmong(entries.kind, given)),
];

const entries_below = query((database) =>
  database
    .select()
    .from(entries)
    .where(and(...inRange()))
    .orderBy(desc(entries.line))
    .limit(atMost("count")),
);

/**
 * The sums of the rows' changes: a job's entries are one row, as in `domain/statement.ts`. Reads the whole period: a hundred
 * thousand entries take about a tenth of a second. A reserve only moves credits from the balance to the held ones.
 */
const sums_of_rows = query((database) => {
  const before = sql`(select before.balance_after + before.reserved_after from ${entries} before
    where before.line = ${entries.line} - 1)`;
  const change = sql<number>`sum(${entries.balance_after} + ${entries.reserved_after} -
    coalesce(${before}, 0))`;
  const rows = database
    .select({ change: change.as("change") })
    .from(entries)
    .where(and(...inRange(), ne(entries.kind, "reserve")))
    .groupBy(sql`coalesce(${entries.job_id}, ${entries.line})`)
    .as("statement_rows");
  return database
    .select({
      spent: sql<number>`coalesce(sum(min(${rows.change}, 0)), 0)`,
      added: sql<number>`coalesce(sum(max(${rows.change}, 0)), 0)`,
    })
    .from(rows);
});

/** Opens the account if it is not open yet. Reads a bounded number of entries, but for the sums. */
export function readStatementRows(
  database: AccountDatabase,
  transaction: Transaction,
  request: StatementRowsRequest,
): Answer<StatementRows> {
  const { store } = transaction;
  ensureOpen(transaction);
  const account = store.readAccount();
  assertInvariant(account !== null, "an open account has its row");
  const newest = newestNumber(database);
  const first = numberAt(database, newest, request.from_ms);
  const end = numberAt(database, newest, request.to_ms);
  const kinds_json = arrayJson(request.group === null ? undefined : kindsOf(request.group));
  const filters = { app_slug: request.app_slug, kinds_json };
  const source = {
    read: (from: number, below: number, count: number) =>
      entries_below(database).all({ first: from, end: below, count, ...filters }),
    readEntry: store.readEntry,
    newestOf: newestListedOf(store),
  };
  const bounds = { scan_max: STATEMENT_SCAN_MAX_LINES, read_max: STATEMENT_READ_MAX_LINES };
  const { before_line, limit } = request;
  const range = { first, end, below: before_line ?? end, limit, ...bounds };
  const { rows, next } = statementRows(source, range);
  const sums = sums_of_rows(database).get({ first, end, ...filters });
  assertInvariant(sums !== undefined, "a sum has one row");
  return accepted({
    opened_at_ms: account.created_at_ms,
    line: newest,
    opening: booksAfter(store, first - 1),
    closing: booksAfter(store, end - 1),
    sums,
    apps: store.listApps().map(({ slug }) => slug),
    rows: rows.map((own) => rowOf(store, own)),
    next,
  });
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
