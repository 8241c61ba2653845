/**
 * Operators' queries of the read model: lists across accounts. The data is some seconds late, and no decision
 * depends on it.
 */
import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  or,
  sql,
  type SQL,
} from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { DAY_MS, firstIdOf, timeOfId, utcDayOf } from "../domain/calendar.ts";
import type { ArchiveHead } from "../domain/archive_segment.ts";
import type { FillingAccount } from "../domain/health.ts";
import type { JobStatus } from "../domain/job.ts";
import type { ActiveAccount, ActiveSince } from "../domain/webhook_delivery.ts";
import type { AccountSort, AccountState, JobSort, SortOrder } from "../domain/wire.ts";
import { accounts, archiveHeads, jobs } from "./schema.ts";
import {
  readMarks,
  readTopAccounts,
  readTopApps,
  type DayMark,
  type MarksRequest,
  type SpendingAccount,
  type SpendingApp,
  type TimeRange,
} from "./today.ts";
import {
  readAppTotals,
  readDailyTotals,
  readMonthTotals,
  readRevenue,
  type AppTotals,
  type DailyTotals,
  type MonthTotals,
  type Revenue,
} from "./totals.ts";

interface PlanCount {
  readonly accounts: number;
  readonly versions: ReadonlyMap<number, number>;
}

/** Accounts that one search for silent ones reads. A full table would keep D1 busy for seconds. */
const SILENT_ACCOUNTS_READ = 5_000;

/** Accounts that one search for entries without an archive reads. */
const UNARCHIVED_ACCOUNTS_READ = 5_000;

/** Accounts of one app that a list considers: several days of a fraud wave. D1 looks each of them up. */
const GRANTEES_LISTED_MAX = 5_000;

/** How far the id of a job may be from the time of its creation. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/** The longest time, in days, whose jobs are found by the activity of accounts. */
const DAYS_SEARCHED_MAX = 93;

export type { DayMark };

export type FoundAccount = typeof accounts.$inferSelect;
export type FoundJob = typeof jobs.$inferSelect & { readonly identity_id: string };

/** The last row of the previous page: the value that it was sorted by, and its id. */
interface AccountCursor {
  readonly value: number;
  readonly id: string;
}

/** D1's row of an account that the archive has, and its newest segment. */
export interface KnownArchived {
  readonly account: typeof accounts.$inferSelect;
  readonly head: ArchiveHead;
}

/** An account, the last of its entries that D1 has, and its newest segment; null: it has none. */
interface ArchivedAccount {
  readonly id: string;
  readonly identity_id: string;
  readonly line: number;
  readonly head: typeof archiveHeads.$inferSelect | null;
}

interface UnarchivedSearch {
  readonly before_ms: number;
  readonly start: string;
  readonly limit: number;
}

const UNARCHIVED = `select looked_at.identity_id from (
    select id, identity_id, line, created_at_ms from accounts where id > ?1 order by id
    limit ${UNARCHIVED_ACCOUNTS_READ}) as looked_at
  left join archive_heads on archive_heads.account_id = looked_at.id
  where looked_at.line > coalesce(archive_heads.line, 0)
    and coalesce(archive_heads.written_at_ms, looked_at.created_at_ms) < ?2 limit ?3`;

export interface AccountSearch {
  /** Undefined: all accounts. Otherwise the account with this id, or those of these identities. */
  readonly only?: { readonly id: string; readonly identity_ids: readonly string[] } | undefined;
  readonly state?: AccountState | undefined;
  /** Only the last {@link GRANTEES_LISTED_MAX} accounts that got starter credits of this app. */
  readonly app_slug?: string | undefined;
  /** Only accounts of these identities. */
  readonly identity_ids?: readonly string[] | undefined;
  readonly created_from_ms?: number | undefined;
  readonly sort: AccountSort;
  readonly order: SortOrder;
  readonly after?: AccountCursor | undefined;
  readonly limit: number;
}

interface JobSearch {
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** The app that started it, or the allowance or one of its ancestors. */
  readonly by?: string | undefined;
  readonly identity_id?: string | undefined;
  /** The time of creation; `to_ms` is excluded. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly before_id?: string | undefined;
  /** Left out: the newest first. */
  readonly sort?: JobSort | undefined;
  readonly limit: number;
}

/** Balances, which lower the sum if they are below zero, and credits that started jobs hold. */
export interface Outstanding {
  readonly credits: number;
  readonly held: number;
  /** Accounts whose balance or held credits are not 0. */
  readonly accounts: number;
}

interface HeldCredits {
  readonly id: string;
  readonly identity_id: string;
  readonly credits: number;
  readonly held: number;
}

/** The last entry of an account that was delivered. */
interface DeliveredAccount {
  readonly line: number;
  readonly updated_at_ms: number;
}

interface OverdueJobs {
  readonly overdue: number;
  /** The earliest of their deadlines; null if no job is overdue. */
  readonly oldest_at_ms: number | null;
}

const GRANTED = `select app_slug, granted from daily_totals
  where day = ?1 and app_slug in (select value from json_each(?2))`;

const IS_OUTSTANDING = "(credits <> 0 or reserved <> 0)";

const OUTSTANDING = `select coalesce(sum(credits), 0) as credits,
    coalesce(sum(reserved), 0) as held, count(*) as accounts
  from accounts where ${IS_OUTSTANDING}`;

const HOLDINGS = `select id, identity_id, credits, reserved as held from accounts
  where id > ?1 and ${IS_OUTSTANDING} order by id limit ?2`;

const ACTIVE = `with looked_at as materialized (
    select day, app_slug, account_id from account_days
    where day >= ?1 and (day, app_slug, account_id) > (?1, ?2, ?3)
    order by day, app_slug, account_id limit ?5)
  select day, app_slug, account_id,
    (select identity_id from accounts where id = account_id) as identity_id,
    exists (select 1 from account_days as known
      where known.account_id = looked_at.account_id and known.day >= ?4
        and (known.day, known.app_slug) < (looked_at.day, looked_at.app_slug)) as is_known
  from looked_at order by day, app_slug, account_id`;

const OVERDUE = `select count(*) as overdue, min(expires_at_ms) as oldest_at_ms
  from accounts join jobs on jobs.account_id = accounts.id
  where identity_id in (select value from json_each(?1))
    and status = 'started' and expires_at_ms < ?2`;

/** Each method throws if D1 cannot be reached. */
export class ReadModel {
  readonly #binding: D1Database;
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database) {
    this.#binding = binding;
    this.#database = drizzle(binding);
  }

  /** Sorting by credits reads every account that the filters leave; an index would cost two written rows per job. */
  findAccounts(search: AccountSearch): Promise<readonly FoundAccount[]> {
    return accountsQuery(this.#database, search);
  }

  /**
   * Jobs across accounts. With `identity_id`, it reads the jobs of one account; with a time, only those of that time; and
   * with an app and a time, only those of accounts that were active in the app then.
   */
  async findJobs(search: JobSearch): Promise<readonly FoundJob[]> {
    const { app_slug, status, by, identity_id, from_ms, to_ms, before_id, sort, limit } = search;
    const rows = await this.#database
      .select({ job: jobs, identity_id: accounts.identity_id })
      .from(jobs)
      .innerJoin(accounts, eq(accounts.id, jobs.account_id))
      .where(
        and(
          identity_id === undefined ? undefined : eq(accounts.identity_id, identity_id),
          app_slug === undefined ? undefined : eq(jobs.app_slug, app_slug),
          status === undefined ? undefined : eq(jobs.status, status),
          by === undefined ? undefined : isStartedBy(by),
          from_ms === undefined ? undefined : gte(jobs.created_at_ms, from_ms),
          to_ms === undefined ? undefined : lt(jobs.created_at_ms, to_ms),
          isActiveThen(search),
          before_id === undefined ? undefined : lt(jobs.id, before_id),
        ),
      )
      .orderBy(
        ...(sort === "cost" ? [sql`${jobs.actual_cost} - ${jobs.refunded} desc`] : []),
        desc(jobs.id),
      )
      .limit(limit);
    return rows.map((row) => ({ ...row.job, identity_id: row.identity_id }));
  }

  /**
   * A job by its id; null: it is not stored, or not any more. Its id says on which day it was created, so only the accounts
   * that were active on that day are looked at.
   */
  async findJob(id: string): Promise<FoundJob | null> {
    const created_at_ms = timeOfId(id);
    if (created_at_ms === null) return null;
    const days = [-CLOCK_MARGIN_MS, CLOCK_MARGIN_MS].map((by) => utcDayOf(created_at_ms + by));
    const active = sql`(select account_id from account_days where day in ${listOf(days)})`;
    const [row] = await this.#database
      .select({ job: jobs, identity_id: accounts.identity_id })
      .from(jobs)
      .innerJoin(accounts, eq(accounts.id, jobs.account_id))
      .where(and(inArray(jobs.account_id, active), eq(jobs.id, id)))
      .limit(1);
    return row === undefined ? null : { ...row.job, identity_id: row.identity_id };
  }

  /** Totals of UTC days, in whole days since the epoch, `to` excluded; `app` null: all apps. */
  readDailyTotals(from: number, to: number, app: string | null): Promise<readonly DailyTotals[]> {
    return readDailyTotals(this.#binding, from, to, app);
  }

  /** The same totals by app, for at most `limit` apps: those with the most settled credits, first. */
  readAppTotals(from: number, to: number, limit: number): Promise<readonly AppTotals[]> {
    return readAppTotals(this.#binding, from, to, limit);
  }

  /** Totals of days up to some minutes of them. */
  readMarks(request: MarksRequest): Promise<readonly DayMark[]> {
    return readMarks(this.#binding, request);
  }

  /** The accounts that spend most in an app, by the cost and the held credits of their jobs that began in that time. */
  readTopAccounts(
    app_slug: string,
    range: TimeRange,
    limit: number,
  ): Promise<readonly SpendingAccount[]> {
    return readTopAccounts(this.#binding, app_slug, range, limit);
  }

  /** The apps in which an account spends most, in the same way. */
  readTopApps(
    identity_id: string,
    range: TimeRange,
    limit: number,
  ): Promise<readonly SpendingApp[]> {
    return readTopApps(this.#binding, identity_id, range, limit);
  }

  /** The money of the same days, by package and currency. */
  readRevenue(from: number, to: number): Promise<readonly Revenue[]> {
    return readRevenue(this.#binding, from, to);
  }

  /** The credits of all people before and after these days, and their changes. */
  readMonthTotals(from: number, to: number): Promise<MonthTotals> {
    return readMonthTotals(this.#binding, from, to);
  }

  /** The credits of all accounts now. Reads every account's row. */
  async readOutstanding(): Promise<Outstanding> {
    const outstanding = await this.#binding.prepare(OUTSTANDING).first<Outstanding>();
    return outstanding ?? { credits: 0, held: 0, accounts: 0 };
  }

  /** The accounts that {@link Outstanding} counts, with an id after `after`, in the order of their ids. */
  async listHoldings(after: string, limit: number): Promise<readonly HeldCredits[]> {
    const { results } = await this.#binding.prepare(HOLDINGS).bind(after, limit).all<HeldCredits>();
    return results;
  }

  /** The last entry of an account that D1 has, and its time; null: D1 does not have the account. */
  async readDelivered(account_id: string): Promise<DeliveredAccount | null> {
    const { line, updated_at_ms } = accounts;
    const rows = await this.#database
      .select({ line, updated_at_ms })
      .from(accounts)
      .where(eq(accounts.id, account_id));
    return rows[0] ?? null;
  }

  /**
   * Identities of accounts that hold credits and have had no entry since `before_ms`. Looks at a bounded number of
   * accounts with an id after `start`, then at the first ones.
   */
  async listSilent(before_ms: number, start: string, limit: number): Promise<readonly string[]> {
    const after = await this.#silentAfter(start, before_ms, limit);
    if (after.length >= limit) return after;
    const first = await this.#silentAfter("", before_ms, limit);
    return [...new Set([...after, ...first])].slice(0, limit);
  }

  /**
   * Identities of accounts that have entries after their newest segment, if that was written before `before_ms`. An account
   * without a segment counts from its creation. Looks at a bounded number of accounts with an id after `start`, then at the
   * first ones.
   */
  async listUnarchived(search: UnarchivedSearch): Promise<readonly string[]> {
    const { start, limit } = search;
    const after = await this.#unarchivedAfter(search);
    if (after.length >= limit || start === "") return after;
    const first = await this.#unarchivedAfter({ ...search, start: "" });
    return [...new Set([...after, ...first])].slice(0, limit);
  }

  async #unarchivedAfter({ before_ms, start, limit }: UnarchivedSearch): Promise<string[]> {
    const { results } = await this.#binding
      .prepare(UNARCHIVED)
      .bind(start, before_ms, limit)
      .all<{ identity_id: string }>();
    return results.map(({ identity_id }) => identity_id);
  }

  /** By plan: how many accounts have its rules, and how many of them each version. */
  async countPlans(): Promise<ReadonlyMap<string, PlanCount>> {
    const { plan, plan_version } = accounts;
    const rows = await this.#database
      .select({ plan, plan_version, count: count() })
      .from(accounts)
      .where(sql`plan_version > 0`)
      .groupBy(plan, plan_version);
    const counts = new Map<string, PlanCount>();
    for (const row of rows) {
      const known = counts.get(row.plan) ?? { accounts: 0, versions: new Map() };
      const versions = new Map(known.versions).set(row.plan_version, row.count);
      counts.set(row.plan, { accounts: known.accounts + row.count, versions });
    }
    return counts;
  }

  /** Identities of accounts that have older rules of a plan than `version`. */
  async listBehindPlan(plan: string, version: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#database
      .select({ identity_id: accounts.identity_id })
      .from(accounts)
      .where(sql`plan_version > 0 and plan = ${plan} and plan_version < ${version}`)
      .limit(limit);
    return rows.map(({ identity_id }) => identity_id);
  }

  /** Accounts with their newest segments, with an id after `after_id`, in the order of their ids. */
  async listArchiveHeads(after_id: string, limit: number): Promise<readonly ArchivedAccount[]> {
    const { id, identity_id, line } = accounts;
    return this.#database
      .select({ id, identity_id, line, head: archiveHeads })
      .from(accounts)
      .leftJoin(archiveHeads, eq(archiveHeads.account_id, id))
      .where(gt(id, after_id))
      .orderBy(asc(id))
      .limit(limit);
  }

  /** An account of an identity that the archive has, with its newest segment; null: the archive has none of it. */
  async findArchived(identity_id: string): Promise<KnownArchived | null> {
    const { line, sha256 } = archiveHeads;
    const [found] = await this.#database
      .select({ account: accounts, head: { line, sha256 } })
      .from(accounts)
      .innerJoin(archiveHeads, eq(archiveHeads.account_id, accounts.id))
      .where(eq(accounts.identity_id, identity_id))
      .orderBy(desc(line))
      .limit(1);
    return found ?? null;
  }

  /** Accounts that used at least half of their storage when they last wrote to the archive, the fullest first. */
  async listFilling(limit: number): Promise<readonly FillingAccount[]> {
    const { storage_percent } = archiveHeads;
    const rows = await this.#database
      .select({ account_id: archiveHeads.account_id, storage_percent })
      .from(archiveHeads)
      .where(isNotNull(storage_percent))
      .orderBy(desc(storage_percent))
      .limit(limit);
    return rows.map((row) => ({ ...row, storage_percent: row.storage_percent ?? 0 }));
  }

  /** The identities among these whose account D1 has. */
  async knownIdentities(identity_ids: readonly string[]): Promise<ReadonlySet<string>> {
    const listed = sql`(select value from json_each(${JSON.stringify(identity_ids)}))`;
    const { identity_id } = accounts;
    const rows = await this.#database
      .select({ identity_id })
      .from(accounts)
      .where(inArray(identity_id, listed));
    return new Set(rows.map((row) => row.identity_id));
  }

  /** The time of the newest entry of any account; null without accounts. */
  async readNewest(): Promise<number | null> {
    const [row] = await this.#database
      .select({ newest: max(accounts.updated_at_ms) })
      .from(accounts);
    return row?.newest ?? null;
  }

  /** Credits that these apps granted on a UTC day, in whole days since the epoch, by slug. */
  async readGranted(
    day: number,
    app_slugs: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const { results } = await this.#binding
      .prepare(GRANTED)
      .bind(day, JSON.stringify(app_slugs))
      .all<{ app_slug: string; granted: number }>();
    return new Map(results.map((row) => [row.app_slug, row.granted]));
  }

  /** The next accounts of the walk over those that were active since a UTC day; see `webhooks/replay.ts`. */
  async listActive(
    { first_day, day, app_slug, account_id }: ActiveSince,
    limit: number,
  ): Promise<readonly ActiveAccount[]> {
    const { results } = await this.#binding
      .prepare(ACTIVE)
      .bind(day, app_slug, account_id, first_day, limit)
      .all<Omit<ActiveAccount, "is_known"> & { is_known: number }>();
    return results.map((row) => ({ ...row, is_known: row.is_known === 1 }));
  }

  /** The jobs of these identities that are started after their deadline. Reads all their stored jobs. */
  async readOverdue(identity_ids: readonly string[], now_ms: number): Promise<OverdueJobs> {
    const overdue = this.#binding.prepare(OVERDUE).bind(JSON.stringify(identity_ids), now_ms);
    return (await overdue.first<OverdueJobs>()) ?? { overdue: 0, oldest_at_ms: null };
  }

  async #silentAfter(start: string, before_ms: number, limit: number) {
    const { id, identity_id, reserved, updated_at_ms } = accounts;
    const looked_at = this.#database
      .select({ identity_id, reserved, updated_at_ms })
      .from(accounts)
      .where(gt(id, start))
      .orderBy(asc(id))
      .limit(SILENT_ACCOUNTS_READ)
      .as("looked_at");
    const rows = await this.#database
      .select({ identity_id: looked_at.identity_id })
      .from(looked_at)
      .where(and(gt(looked_at.reserved, 0), lt(looked_at.updated_at_ms, before_ms)))
      .limit(limit);
    return rows.map((row) => row.identity_id);
  }
}

const listOf = (values: readonly (string | number)[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`;

function isOneOf({ id, identity_ids }: NonNullable<AccountSearch["only"]>): SQL | undefined {
  return or(eq(accounts.id, id), inArray(accounts.identity_id, listOf(identity_ids)));
}

/** SQL: what finds the jobs of a time by the primary key. A job is created on a day on which its account is active. */
function isActiveThen({ app_slug, from_ms, to_ms }: JobSearch): SQL | undefined {
  if (app_slug === undefined || from_ms === undefined || to_ms === undefined) return undefined;
  if (to_ms - from_ms > DAYS_SEARCHED_MAX * DAY_MS) return undefined;
  const active = sql`(select account_id from account_days where app_slug = ${app_slug}
    and day in ${listOf(daysBetween(from_ms, to_ms))})`;
  // Ids follow their time, except after a clock that went back.
  return and(
    inArray(jobs.account_id, active),
    gte(jobs.id, firstIdOf(from_ms - CLOCK_MARGIN_MS)),
    lt(jobs.id, firstIdOf(to_ms + CLOCK_MARGIN_MS)),
  );
}

/** The UTC days that a time touches; the index of activity takes equal days only. */
function daysBetween(from_ms: number, to_ms: number): readonly number[] {
  const first = utcDayOf(from_ms);
  const count = Math.max(0, utcDayOf(to_ms) - first + 1);
  return Array.from({ length: count }, (_, at) => first + at);
}

function isStartedBy(id: string): SQL {
  return sql`(${jobs.started_by_json} ->> '$.slug' = ${id}
    or instr(' ' || ${jobs.allowance_path} || ' ', ${` ${id} `}) > 0)`;
}

const GRANTEES = (app_slug: string): SQL => sql`(select account_id from grants
  where app_slug = ${app_slug} order by granted_at_ms desc limit ${GRANTEES_LISTED_MAX})`;

/** The query of a list of accounts. Accounts with equal values are sorted by id. */
export function accountsQuery(database: DrizzleD1Database, search: AccountSearch) {
  const { only, state, app_slug, identity_ids, created_from_ms, sort, order, limit } = search;
  const { id, identity_id, created_at_ms, credits, suspended_at_ms } = accounts;
  const column = sort === "created" ? created_at_ms : credits;
  const by_value = order === "desc" ? desc(column) : asc(column);
  // The order by id is that of the index, forwards and backwards.
  const by_id = order === "desc" ? asc(id) : desc(id);
  return database
    .select()
    .from(accounts)
    .where(
      and(
        only && isOneOf(only),
        identity_ids && inArray(identity_id, listOf(identity_ids)),
        app_slug === undefined ? undefined : inArray(id, GRANTEES(app_slug)),
        state && (state === "active" ? isNull(suspended_at_ms) : isNotNull(suspended_at_ms)),
        created_from_ms === undefined ? undefined : gte(created_at_ms, created_from_ms),
        isAfter(search),
      ),
    )
    .orderBy(by_value, by_id)
    .limit(limit);
}

/** SQL: whether a row comes after the cursor. The first condition is for the index, which "or" cannot use. */
function isAfter({ sort, order, after }: AccountSearch): SQL | undefined {
  if (after === undefined) return undefined;
  const { id, created_at_ms, credits } = accounts;
  const column = sort === "created" ? created_at_ms : credits;
  return order === "desc"
    ? and(lte(column, after.value), or(lt(column, after.value), gt(id, after.id)))
    : and(gte(column, after.value), or(gt(column, after.value), lt(id, after.id)));
}
