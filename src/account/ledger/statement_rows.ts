/** The holder's statement of a month: one row for each job and each other entry. */
import { and, desc, gte, lt, sql } from "drizzle-orm";
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
import { ensureOpen } from "./posting.ts";

/** Entries that one page reads. A page of a filtered statement may be short. */
const STATEMENT_SCAN_MAX_LINES = 2_000;

/** Entries of one month whose sums are shown: they take a few milliseconds to add up. */
const STATEMENT_SUMS_MAX_LINES = 10_000;

const inRange = () => [
  gte(entries.line, value("first")),
  lt(entries.line, value("end")),
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

/** The change of each row: a job's entries are one row, as in `domain/statement.ts`. */
const row_changes = query((database) => {
  const before = sql`(select before.balance_after + before.reserved_after from ${entries} before
    where before.line = ${entries.line} - 1)`;
  const change = sql<number>`sum(${entries.balance_after} + ${entries.reserved_after} -
    coalesce(${before}, 0))`;
  return database
    .select({ change: change.as("change") })
    .from(entries)
    .where(and(...inRange()))
    .groupBy(sql`coalesce(${entries.job_id}, ${entries.line})`);
});

/** Opens the account if it is not open yet. Reads a bounded number of entries. */
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
    newestOf: (job_id: string) => store.readJob(job_id)?.line ?? null,
  };
  const below = request.before_line ?? end;
  const range = { first, end, below, limit: request.limit, scan_max: STATEMENT_SCAN_MAX_LINES };
  const { rows, next } = statementRows(source, range);
  const sums = end - first > STATEMENT_SUMS_MAX_LINES;
  return accepted({
    opened_at_ms: account.created_at_ms,
    line: newest,
    opening: booksAfter(store, first - 1),
    closing: booksAfter(store, end - 1),
    sums: sums ? null : sumsOf(row_changes(database).all({ first, end, ...filters })),
    apps: store.listApps().map(({ slug }) => slug),
    rows: rows.map((own) => rowOf(store, own)),
    next,
  });
}

function booksAfter(store: Store, line: number): StatementRows["opening"] {
  const entry = store.readEntry(line);
  return { credits: entry?.balance_after ?? 0, held: entry?.reserved_after ?? 0 };
}

function sumsOf(rows: readonly { readonly change: number }[]): StatementRows["sums"] {
  const sum = (changes: readonly number[]): number => changes.reduce((total, it) => total + it, 0);
  const changes = rows.map(({ change }) => change);
  return {
    spent: sum(changes.filter((change) => change < 0)),
    added: sum(changes.filter((change) => change > 0)),
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
