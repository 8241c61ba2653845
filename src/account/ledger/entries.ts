/** Lists of ledger entries, filtered. A page reads a bounded number of rows, however long the history is. */
import type { EntryRow, ListEntriesRequest, Page } from "../contract.ts";
import { isOfJobStartedBy } from "../sql/started_by.ts";
import { numberAt, newestNumber } from "./entry_times.ts";
import { IS_LISTED } from "./listed.ts";
import { isAmong, type AccountDatabase } from "../sql/database.ts";
import type { Store } from "../sql/store.ts";

/**
 * Ledger entries that one page of a filtered list reads before it returns what it found, with a cursor: all entries
 * of most accounts, and some milliseconds of a long ledger.
 */
const LEDGER_SCAN_MAX_LINES = 2_000;

/** `visible_apps`: the only apps whose entries are listed; undefined: all. `first_line`: no entries before this one. */
interface EntryFilter extends ListEntriesRequest {
  readonly visible_apps?: readonly string[] | undefined;
  readonly first_line: number;
}

interface Tables {
  readonly database: AccountDatabase;
  readonly store: Store;
}

/** Entry numbers from `first` on, before `end`. */
interface Range {
  readonly first: number;
  readonly end: number;
}

/**
 * A page of the matching entries, newest first. It may be short or even empty, and still have a next page. Reads at
 * most {@link LEDGER_SCAN_MAX_LINES} entries, and two more for each doubling of the history.
 */
export function listEntries(tables: Tables, filter: EntryFilter): Page<EntryRow, number> {
  const { limit } = filter;
  const { database, store } = tables;
  const range = rangeOf(tables, filter);
  const first = Math.max(range.first, range.end - LEDGER_SCAN_MAX_LINES);
  const rows = readMatching(database, filter, { first, end: range.end });
  const chosen = { first, end: range.end, limit: limit + 1 };
  store.left.requirePage(rows, { ...chosen, joins_jobs: filter.by !== undefined });
  if (rows.length > limit) {
    const page = rows.slice(0, limit);
    return { rows: page, next: page.at(-1)?.line ?? null };
  }
  return { rows, next: first > range.first ? first : null };
}

const OF_RANGE = `where line >= ?1 and line < ?2 and ${IS_LISTED}
  and (?3 is null or app_slug = ?3) and (?4 is null or job_id = ?4) and (?5 is null or kind = ?5)
  and (?6 is null or ${isAmong("app_slug", "?6")}) and (?7 is null or ${isOfJobStartedBy("?7")})
  order by line desc limit ?8 + 0`;

/** The matching entries of a range, up to one more than the page has. */
function readMatching(database: AccountDatabase, filter: EntryFilter, range: Range): EntryRow[] {
  const { app_slug = null, job_id = null, kind = null, by = null } = filter;
  const { visible_apps, limit } = filter;
  const apps_json = visible_apps === undefined ? null : JSON.stringify(visible_apps);
  const { first, end } = range;
  const filters = [app_slug, job_id, kind, apps_json, by];
  return database.rows("entries", OF_RANGE, first, end, ...filters, limit + 1);
}

function rangeOf(tables: Tables, filter: EntryFilter): Range {
  const { before_line, from_ms, to_ms, job_id, first_line } = filter;
  const newest = newestNumber(tables.database);
  const all = { first: first_line, end: Math.min(newest + 1, before_line ?? newest + 1) };
  const life = job_id === undefined ? all : lifeOf(tables, job_id, newest);
  const numberOf = (at_ms: number): number => numberAt(tables, newest, at_ms);
  const since = from_ms === undefined ? 1 : numberOf(from_ms);
  const until = to_ms === undefined ? all.end : numberOf(to_ms);
  return {
    first: Math.max(first_line, life.first, since),
    end: Math.min(all.end, life.end, until),
  };
}

/** The range of a job's entries: from its creation to its last change. Empty for an unknown job. */
function lifeOf(tables: Tables, job_id: string, newest: number): Range {
  const job = tables.store.readJob(job_id);
  if (job === null) return { first: 1, end: 1 };
  const first = numberAt(tables, newest, job.created_at_ms);
  return { first, end: job.line + 1 };
}
