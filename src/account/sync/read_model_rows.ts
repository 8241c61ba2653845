/** What the read model shows of an account, made from the object's own rows. */
import { utcDayOf } from "../../domain/calendar.ts";
import type { EntryKind } from "../../domain/ledger.ts";
import { assertInvariant } from "../../domain/result.ts";
import type {
  JobRange,
  LineTotals,
  ProjectedAccount,
  ProjectedRows,
} from "../../readmodel/projector.ts";
import type { AccountRow, AppRow, EntryRow, JobRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

/**
 * What a line of a kind changes in the read model besides the account's own row, which every line
 * changes. A new kind does not compile before it says so here.
 */
function changedBesides(kind: EntryKind): "nothing" | "its job" | "its grant" {
  switch (kind) {
    case "reserve":
    case "settle":
    case "refund":
      return "its job";
    case "grant":
      return "its grant";
    case "open":
    case "adjustment":
    case "purchase":
    case "purchase_refund":
    case "plan":
    case "debt":
      return "nothing";
  }
}

type Sums = Omit<LineTotals, "line" | "day" | "app_slug">;

/** A line, the one before it where its kind asks for it, and its job as it is now. */
interface LineInBook {
  readonly entry: EntryRow;
  readonly before: EntryRow | null;
  readonly job: JobRow | null;
}

/**
 * What a line adds to the totals of its day, without sign but `adjusted`. Purchases are counted whole,
 * since what is taken back later is of another day. A new kind does not compile before it says so here.
 * A line always adds the same, whatever its job has become meanwhile.
 */
function sumsOf(line: LineInBook): Sums {
  const { kind, amount } = line.entry;
  switch (kind) {
    case "grant":
      return { granted: amount };
    case "reserve":
      return { reserved: 0 - amount, jobs: 1 };
    case "settle":
      return { settled: costOf(line), ...(leftFailed(line) ? { failed: 1 } : {}) };
    case "refund":
      return { refunded: amount, failed: 1 };
    case "purchase":
      return { purchased: amount };
    case "adjustment":
      return { adjusted: amount };
    case "open":
    case "purchase_refund":
    case "plan":
    // The days of the deleted account have what was spent.
    case "debt":
      return {};
  }
}

/**
 * What a settling line cost the account, its balance and what is held together: for a job's first ending
 * its real cost, whatever was reserved. Where a time-out had charged the reserve a late completion adds
 * the difference, which may be below zero.
 */
function costOf({ entry, before }: LineInBook): number {
  assertInvariant(before !== null, "a job's reserve comes before its settlement");
  return before.balance_after + before.reserved_after - entry.balance_after - entry.reserved_after;
}

/** A settled job changes again in one case: its time-out had failed it, and it is completed late. */
function leftFailed({ entry, job }: LineInBook): boolean {
  return job !== null && (job.line > entry.line || job.status === "failed");
}

function totalsOf(line: LineInBook): LineTotals {
  const { line: number, at_ms, app_slug } = line.entry;
  return { line: number, day: utcDayOf(at_ms), app_slug: app_slug ?? "", ...sumsOf(line) };
}

/**
 * The rows that some lines changed, as they are now, with the account as of the last of the lines.
 * `lines`: at least one, in order.
 */
export function rowsOf(store: Store, lines: readonly EntryRow[]): ProjectedRows {
  const account = readAccount(store);
  const last = lines.at(-1);
  assertInvariant(last !== undefined, "there are lines to project");
  const moves_job = ({ kind }: EntryRow): boolean => changedBesides(kind) === "its job";
  const job_ids = new Set(lines.filter(moves_job).flatMap(({ job_id }) => job_id ?? []));
  const jobs = new Map(store.readJobs([...job_ids]).map((job) => [job.id, job]));
  const app_slugs = new Set<string>();
  const totals = lines.map((entry, at) => {
    if (changedBesides(entry.kind) === "its grant" && entry.app_slug !== null) {
      app_slugs.add(entry.app_slug);
    }
    const before =
      entry.kind === "settle" ? (lines[at - 1] ?? store.readEntry(entry.line - 1)) : null;
    return totalsOf({ entry, before, job: jobs.get(entry.job_id ?? "") ?? null });
  });
  return {
    account: accountRow(account, last),
    grants: [...app_slugs].flatMap((slug) => grantRow(account.id, store.readApp(slug))),
    jobs: [...jobs.values()].map((job) => jobRow(account.id, job)),
    lines: totals,
  };
}

/** The account as of its newest line. */
export function newestAccount(store: Store): ProjectedAccount {
  const newest = store.readNewestEntry();
  assertInvariant(newest !== null, "an open account has lines");
  return accountRow(readAccount(store), newest);
}

/** All grants of the account. */
export function allGrants(store: Store): ProjectedRows["grants"] {
  const { id } = readAccount(store);
  return store.listApps().flatMap((app) => grantRow(id, app));
}

/** `limit` jobs after `after_id`, and up to where they leave no other out. */
export function jobRangeAfter(store: Store, after_id: string, limit: number): JobRange {
  const { id: account_id } = readAccount(store);
  const rows = store.readJobsAfter(after_id, limit);
  const to_id = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
  return { account_id, after_id, to_id, jobs: rows.map((row) => jobRow(account_id, row)) };
}

/**
 * Whether D1's row is what this object once sent: equal, column by column, to its own books at the line
 * that the row names. Where not, somebody wrote there, or this object was put back to an earlier time.
 */
export function isOwn(store: Store, known: ProjectedAccount): boolean {
  const entry = store.readEntry(known.line);
  if (entry === null) return false;
  const expected = accountRow(readAccount(store), entry);
  // Lines do not say which plan there was; D1 has the one of its newest delivery.
  if (entry.line !== store.readNewestEntry()?.line) expected.plan = known.plan;
  return Object.entries(expected).every(([column, value]) => Reflect.get(known, column) === value);
}

function readAccount(store: Store): AccountRow {
  const account = store.readAccount();
  assertInvariant(account !== null, "an account with lines has its row");
  return account;
}

function accountRow(
  { id, identity_id, plan, created_at_ms }: AccountRow,
  line: EntryRow,
): ProjectedAccount {
  return {
    id,
    identity_id,
    plan,
    created_at_ms,
    line: line.line,
    credits: line.balance_after,
    reserved: line.reserved_after,
    updated_at_ms: line.at_ms,
  };
}

function grantRow(account_id: string, app: AppRow | null): ProjectedRows["grants"] {
  if (app === null || app.granted_at_ms === null) return [];
  const { slug: app_slug, starter_credits: amount, granted_at_ms } = app;
  return [{ account_id, app_slug, amount, granted_at_ms }];
}

/** What D1 shows of a job: not its metadata, which is the user's, and nothing that only the account needs. */
function jobRow(account_id: string, row: JobRow): Required<ProjectedRows["jobs"][number]> {
  const { id, status, app_slug, action, reserved, actual_cost, line } = row;
  const { failure, failure_reason, created_at_ms, updated_at_ms, expires_at_ms } = row;
  const job = { account_id, id, status, app_slug, action, reserved, actual_cost, line };
  return { ...job, failure, failure_reason, created_at_ms, updated_at_ms, expires_at_ms };
}
