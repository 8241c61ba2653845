/** The rows of the read model, computed from the object's rows. */
import { minuteOf, utcDayOf } from "../../domain/calendar.ts";
import type { EntryKind } from "../../domain/ledger.ts";
import { plus, readWorth, worthJson } from "../../domain/liability.ts";
import type { EntryTerms } from "../../domain/lots.ts";
import { runningPlanOf } from "../../domain/plans.ts";
import { assertInvariant } from "../../domain/result.ts";
import {
  sumByDay,
  type DayTotals,
  type LineMoney,
  type Sums,
} from "../../readmodel/line_totals.ts";
import {
  stateOf,
  type AccountState,
  type JobRange,
  type ProjectedAccount,
  type ProjectedRows,
} from "../../readmodel/projector.ts";
import { endsJob, newestButRefunds } from "../sql/store.ts";
import type { AccountRow, AppRow, EntryRow, JobRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";

/** The rows of the read model that an entry changes in addition to the account's row. A new kind must be added here to compile. */
function changedBesides(kind: EntryKind): "nothing" | "its job" | "its grant" {
  switch (kind) {
    case "reserve":
    case "settle":
    case "refund":
    case "job_refund":
      return "its job";
    case "grant":
      return "its grant";
    case "open":
    case "adjustment":
    case "purchase":
    case "purchase_refund":
    case "plan":
    case "suspend":
    case "restore":
    case "debt":
    case "expire":
    case "recurring":
    case "rollover":
    case "recovery":
      return "nothing";
  }
}

/** An entry, the entry before it, and its job as it is now. */
interface EntryContext {
  readonly entry: EntryRow;
  readonly before: EntryRow | null;
  readonly job: JobRow | null;
  /** The newest entry of that job other than refunds; 0: no job. */
  readonly ended_line: number;
}

/**
 * The amounts that an entry adds to the totals of its day. Purchases count in full, because a refund belongs to another
 * day. An entry always adds the same, even if its job has changed since. A new kind must be added here to compile.
 */
function sumsOf(context: EntryContext): Sums {
  const { kind, amount, previous_line } = context.entry;
  const bought = boughtOf(context.entry) - boughtOf(context.before);
  /** Of an entry that brings and takes no bought credits itself. */
  const settled_bought = 0 - bought;
  const of_job = bought === 0 ? {} : { settled_bought };
  switch (kind) {
    case "grant":
    case "recurring":
      return { granted: amount };
    case "reserve":
      return { reserved: 0 - amount, ...(previous_line === null ? { jobs: 1 } : {}), ...of_job };
    case "settle":
      return { settled: costOf(context), ...(leftFailed(context) ? { failed: 1 } : {}), ...of_job };
    case "refund":
      return { refunded: amount, ...(endedJob(context) ? { failed: 1 } : {}), ...of_job };
    case "job_refund":
      return { refunded: amount, job_refunded: amount, job_refunded_bought: bought };
    case "purchase":
      return { purchased: amount, settled_bought: amount - bought };
    case "adjustment": {
      const adjusted_bought = termsOf(context.entry)?.bought === true ? amount : bought;
      return { adjusted: amount, adjusted_bought, settled_bought: adjusted_bought - bought };
    }
    case "purchase_refund":
      return { taken_back: amount, settled_bought: amount - bought };
    case "expire":
      return { expired: amount, expired_bought: bought };
    // Also what started jobs no longer hold, so that the totals still add up to the balances.
    case "recovery":
      return { adjusted: 0 - costOf(context), adjusted_bought: bought };
    // It was spent in the deleted account, whose debt the read model counted as forfeited when it deleted the account.
    case "debt":
      return { forfeited: amount, forfeited_bought: bought };
    case "open":
    case "plan":
    case "suspend":
    case "restore":
    case "rollover":
      return {};
  }
}

/** The bought credits that the account owned after an entry, with those that jobs held. Null: before the first one. */
function boughtOf(entry: EntryRow | null): number {
  return entry === null ? 0 : entry.bought_after + entry.reserved_bought_after;
}

/** The terms of an entry that brought credits; null: given ones without terms, or none. */
function termsOf({ terms_json }: EntryRow): EntryTerms | null {
  return terms_json === null ? null : (JSON.parse(terms_json) as EntryTerms);
}

/**
 * The credits that an entry cost the account, counting the balance and the held credits together. When a job first ends,
 * this is its real cost. When an expired job that was charged its reserve is completed late, it is the difference,
 * which may be negative.
 */
function costOf({ entry, before }: EntryContext): number {
  assertInvariant(before !== null, "the account was opened before it");
  return before.balance_after + before.reserved_after - entry.balance_after - entry.reserved_after;
}

/** Whether a refund ended its job. Other refunds only lower the reserve of a job that takes steps. */
function endedJob({ entry, before, job }: EntryContext): boolean {
  return job === null || job.step === 0 || endsJob(entry, before);
}

/** Whether the job had failed after this entry. A job that a settling entry failed may still be completed late. */
function leftFailed({ entry, job, ended_line }: EntryContext): boolean {
  return job !== null && (ended_line > entry.line || job.status === "failed");
}

function endedLine(store: Store, job: JobRow | null): number {
  if (job === null) return 0;
  return job.refunded === 0 ? job.line : newestButRefunds(store, job).line;
}

function totalsOf(context: EntryContext): DayTotals {
  const { at_ms, app_slug } = context.entry;
  const where = { day: utcDayOf(at_ms), minute: minuteOf(at_ms), app_slug: app_slug ?? "" };
  return { ...where, ...sumsOf(context), ...statesOf(context) };
}

/** The changes of the credits that jobs hold, and of whether the account has any credits or debts. */
function statesOf({ entry, before }: EntryContext): Sums {
  const held = entry.reserved_after - (before?.reserved_after ?? 0);
  const holders = Number(holds(entry)) - Number(before !== null && holds(before));
  return { ...(held === 0 ? {} : { held }), ...(holders === 0 ? {} : { holders }) };
}

const holds = ({ balance_after, reserved_after }: EntryRow): boolean =>
  balance_after !== 0 || reserved_after !== 0;

/** The change of what bought credits with a known price are worth. */
function owedBy({ entry, before }: EntryContext): ProjectedRows["owed"] {
  const before_json = before?.paid_json ?? null;
  if (entry.paid_json === before_json) return [];
  const worth = worthJson(plus(readWorth(entry.paid_json), readWorth(before_json), -1));
  if (worth === null) return [];
  return [{ day: utcDayOf(entry.at_ms), worth: JSON.parse(worth) as object }];
}

function moneyOf(store: Store, entry: EntryRow): ProjectedRows["money"] {
  const money = lineMoneyOf(store, entry);
  return money === null ? [] : [{ ...money, day: utcDayOf(entry.at_ms) }];
}

function lineMoneyOf(store: Store, entry: EntryRow): LineMoney | null {
  const { kind, line } = entry;
  const price = kind === "adjustment" ? termsOf(entry)?.price : undefined;
  if (price !== undefined) {
    const { currency, paid_minor: amount_minor } = price;
    return { package_id: "", currency, purchases: 1, amount_minor, refunded_minor: 0 };
  }
  if (kind !== "purchase" && kind !== "purchase_refund") return null;
  const money = store.readMoney(line);
  assertInvariant(money !== null, "the entry of a purchase has its money");
  const { amount_minor, ...of_package } = money;
  return kind === "purchase"
    ? { ...of_package, purchases: 1, amount_minor, refunded_minor: 0 }
    : { ...of_package, purchases: 0, amount_minor: 0, refunded_minor: 0 - amount_minor };
}

/** The rows that these entries changed, as they are now, and the account as of the last entry. `entries`: in order. */
export function rowsOf(store: Store, entries: readonly EntryRow[]): ProjectedRows {
  const account = readAccount(store);
  const last = entries.at(-1);
  assertInvariant(last !== undefined, "there are entries to send");
  const moves_job = ({ kind }: EntryRow): boolean => changedBesides(kind) === "its job";
  const job_ids = new Set(entries.filter(moves_job).flatMap(({ job_id }) => job_id ?? []));
  const jobs = new Map(store.readJobs([...job_ids]).map((job) => [job.id, job]));
  const app_slugs = new Set<string>();
  const contexts = entries.map((entry, at): EntryContext => {
    if (changedBesides(entry.kind) === "its grant" && entry.app_slug !== null) {
      app_slugs.add(entry.app_slug);
    }
    const job = jobs.get(entry.job_id ?? "") ?? null;
    const before = entries[at - 1] ?? store.readEntry(entry.line - 1);
    return { entry, before, job, ended_line: endedLine(store, job) };
  });
  return {
    account: { ...accountRow(account, last), due_at_ms: store.readFirstDeadline() },
    grants: [...app_slugs].flatMap((slug) => grantRow(account.id, store.readApp(slug))),
    jobs: [...jobs.values()].map((job) => jobRow(account.id, job)),
    days: sumByDay(contexts.map(totalsOf)),
    money: entries.flatMap((entry) => moneyOf(store, entry)),
    owed: contexts.flatMap(owedBy),
  };
}

/** The account as of an entry of it. */
export function stateAt(store: Store, entry: EntryRow): AccountState {
  return stateOf(accountRow(readAccount(store), entry));
}

/** The account as of its newest entry. */
export function newestAccount(store: Store): ProjectedAccount {
  const newest = store.readNewestEntry();
  assertInvariant(newest !== null, "an open account has entries");
  return { ...accountRow(readAccount(store), newest), due_at_ms: store.readFirstDeadline() };
}

/** All grants of the account. */
export function allGrants(store: Store): ProjectedRows["grants"] {
  const { id } = readAccount(store);
  return store.listApps().flatMap((app) => grantRow(id, app));
}

/** The next `limit` jobs after `after_id`, and the range of ids that they cover. */
export function jobRangeAfter(store: Store, after_id: string, limit: number): JobRange {
  const { id: account_id } = readAccount(store);
  const rows = store.readJobsAfter(after_id, limit);
  const to_id = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
  return { account_id, after_id, to_id, jobs: rows.map((row) => jobRow(account_id, row)) };
}

/**
 * Whether D1's row is what this object once sent: it equals, column by column, this account as of the entry that the
 * row names. If not, D1 was changed, or this object was restored to an earlier time.
 */
export function isOwn(store: Store, known: ProjectedAccount): boolean {
  const entry = store.readEntry(known.line);
  if (entry === null) return false;
  // Neither entries nor rows say when jobs were due at that time.
  const { due_at_ms: _, ...expected } = accountRow(readAccount(store), entry);
  // Entries contain neither the plan nor a suspension. D1 has those of its newest delivery.
  if (entry.line !== store.readNewestEntry()?.line) {
    expected.plan = known.plan;
    expected.plan_version = known.plan_version;
    expected.suspended_at_ms = known.suspended_at_ms;
  }
  return Object.entries(expected).every(([column, value]) => Reflect.get(known, column) === value);
}

function readAccount(store: Store): AccountRow {
  const account = store.readAccount();
  assertInvariant(account !== null, "an account with entries has its row");
  return account;
}

function accountRow(
  { id, identity_id, plan, plan_json, created_at_ms, suspended_at_ms }: AccountRow,
  entry: EntryRow,
): ProjectedAccount {
  return {
    id,
    identity_id,
    plan,
    plan_version: runningPlanOf(plan_json)?.version ?? 0,
    created_at_ms,
    line: entry.line,
    credits: entry.balance_after,
    reserved: entry.reserved_after,
    bought: boughtOf(entry),
    paid_json: entry.paid_json,
    updated_at_ms: entry.at_ms,
    suspended_at_ms,
    due_at_ms: null,
  };
}

function grantRow(account_id: string, app: AppRow | null): ProjectedRows["grants"] {
  if (app === null || app.granted_at_ms === null) return [];
  const { slug: app_slug, starter_credits: amount, granted_at_ms } = app;
  return [{ account_id, app_slug, amount, granted_at_ms }];
}

/** A job without its metadata, which is private, and without the columns that only the account needs. */
function jobRow(account_id: string, row: JobRow): Required<ProjectedRows["jobs"][number]> {
  const { id, status, app_slug, action, reserved, actual_cost, refunded, line } = row;
  const { step, spent, failure, failure_reason, allowance_path, started_by_json } = row;
  const { created_at_ms, updated_at_ms, expires_at_ms } = row;
  const job = { account_id, id, status, app_slug, action, reserved, actual_cost, refunded, line };
  const times = { created_at_ms, updated_at_ms, expires_at_ms };
  const starter = { allowance_path, started_by_json };
  return { ...job, step, spent, failure, failure_reason, ...times, ...starter };
}
