/** The holder's monthly statement, or one for any other time. */
import { accepted } from "../../domain/result.ts";
import type { Answer, Statement, StatementRequest } from "../contract.ts";
import type { Transaction } from "../transaction.ts";
import { numberAt, newestNumber } from "./entry_times.ts";
import { IS_LISTED } from "./listed.ts";
import { ensureOpen } from "./posting.ts";

/** Entries that one page reads. A page of a time with many reports of progress may be short. */
const STATEMENT_SCAN_MAX_LINES = 20_000;

/**
 * A page of the entries of a time, newest first. Reads at most {@link STATEMENT_SCAN_MAX_LINES} entries, and a number that
 * grows with the logarithm of the ledger's length.
 */
export function readStatement(
  transaction: Transaction,
  { from_ms, to_ms, before_line, limit }: StatementRequest,
): Answer<Statement> {
  const { store, database } = transaction;
  ensureOpen(transaction);
  const newest = newestNumber(database);
  const first = numberAt(transaction, newest, from_ms);
  const end = numberAt(transaction, newest, to_ms);
  const below = Math.min(end, before_line ?? end);
  const lowest = Math.max(first, below - STATEMENT_SCAN_MAX_LINES);
  const clauses = `where line >= ? and line < ? and ${IS_LISTED} order by line desc limit ? + 0`;
  const rows = database.rows("entries", clauses, lowest, below, limit + 1);
  const chosen = { first: lowest, end: below, limit: limit + 1, joins_jobs: false };
  store.left.requirePage(rows, chosen);
  const shown = rows.slice(0, limit);
  const rest = lowest > first ? lowest : null;
  store.left.requireJobsOf(shown);
  const job_ids = new Set(shown.flatMap(({ job_id }) => job_id ?? []));
  return accepted({
    rows: shown,
    jobs: [...job_ids].flatMap((id) => store.readJob(id) ?? []),
    next: rows.length > limit ? (shown.at(-1)?.line ?? null) : rest,
  });
}
