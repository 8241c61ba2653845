/**
 * Operators' queries of the read model: lists across accounts. The data is some seconds late, and no decision
 * depends on it.
 */
import { asc, desc, eq, gt, inArray, isNotNull, sql } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { PLAN_ACCOUNTS_COUNTED } from "../domain/limits.ts";
import type { ArchiveHead } from "../domain/archive_segment.ts";
import type { FillingAccount } from "../domain/health.ts";
import type { ActiveAccount, ActiveSince } from "../domain/webhook_delivery.ts";
import { accounts, archiveHeads } from "./schema.ts";
import { ACCOUNTS_LOOKED_AT, END_OF_ACCOUNTS } from "./account_walk.ts";
import { readSums } from "./carried.ts";
import { findAccounts, type AccountPage, type AccountSearch } from "./account_lists.ts";
import { findJob, findJobs, type FoundJob, type JobPage, type JobSearch } from "./job_lists.ts";
import { readMarks, type DayMark, type MarksRequest } from "./today.ts";
import { readTopSpenders, type TopAccounts } from "./top_spenders.ts";
import {
  readAppTotals,
  readDailyTotals,
  readMonthTotals,
  readNewest,
  readRevenue,
  type AppTotals,
  type DailyTotals,
  type MonthTotals,
  type Revenue,
} from "./totals.ts";

interface PlanCount {
  readonly accounts: number;
  readonly behind: number;
}

const counted = (condition: string): string => `(select count(*) from (select 1 from accounts
  where plan_version > 0 and plan = ?1 ${condition} limit ${PLAN_ACCOUNTS_COUNTED}))`;
const COUNT_PLAN = `select ${counted("")} as accounts, ${counted("and plan_version < ?2")} as behind`;

/** Accounts that one search for entries without an archive reads. */
const UNARCHIVED_ACCOUNTS_READ = 4_500;

export type { DayMark };

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

/** `next`: the `after` of the next portion; null: there is none. */
interface Holdings {
  readonly accounts: readonly HeldCredits[];
  readonly next: string | null;
}

/** The last entry of an account that was delivered. */
interface DeliveredAccount {
  readonly line: number;
  readonly updated_at_ms: number;
}

const GRANTED = `select app_slug, granted from daily_totals
  where day = ?1 and app_slug in (select value from json_each(?2))`;

const HOLDINGS = `select id, identity_id, credits, reserved as held from (
    select * from accounts where id > ?1 order by id limit ${ACCOUNTS_LOOKED_AT})
  where credits <> 0 or reserved <> 0 order by id`;

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

/** Each method throws if D1 cannot be reached. */
export class ReadModel {
  readonly #binding: D1Database;
  readonly #database: DrizzleD1Database;

  constructor(binding: D1Database) {
    this.#binding = binding;
    this.#database = drizzle(binding);
  }

  /** A page of accounts. It may be short, and still have a next one. */
  findAccounts(search: AccountSearch): Promise<AccountPage> {
    return findAccounts(this.#binding, search);
  }

  /** A page of jobs across accounts. It may be short, and still have a next one. */
  findJobs(search: JobSearch): Promise<JobPage> {
    return findJobs(this.#binding, search);
  }

  /** A job by its id; null: it is not stored, or not any more. */
  findJob(id: string): Promise<FoundJob | null> {
    return findJob(this.#binding, id);
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

  /** The accounts that spent most in an app lately, as the schedule listed them; null: it has not listed any. */
  readTopSpenders(app_slug: string): Promise<TopAccounts | null> {
    return readTopSpenders(this.#binding, app_slug);
  }

  /** The money of the same days, by package and currency. */
  readRevenue(from: number, to: number): Promise<readonly Revenue[]> {
    return readRevenue(this.#binding, from, to);
  }

  /** The credits of all people before and after these days, and their changes. */
  readMonthTotals(from: number, to: number): Promise<MonthTotals> {
    return readMonthTotals(this.#binding, from, to);
  }

  /** The credits of all accounts now, from the totals. */
  async readOutstanding(): Promise<Outstanding> {
    const { all, held, holders } = await readSums(this.#binding);
    return { credits: all - held, held, accounts: holders };
  }

  /** A portion of the accounts that {@link Outstanding} counts, with an id after `after`, in the order of their ids. */
  async listHoldings(after: string): Promise<Holdings> {
    const [listed, end] = await this.#binding.batch([
      this.#binding.prepare(HOLDINGS).bind(after),
      this.#binding.prepare(END_OF_ACCOUNTS).bind(after),
    ]);
    const [last] = (end?.results ?? []) as readonly { readonly id: string }[];
    return { accounts: (listed?.results ?? []) as readonly HeldCredits[], next: last?.id ?? null };
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

  /** For each plan: how many accounts have its rules, and how many older ones, at most {@link PLAN_ACCOUNTS_COUNTED} each. */
  async countPlans(
    plans: readonly { readonly id: string; readonly version: number }[],
  ): Promise<readonly PlanCount[]> {
    if (plans.length === 0) return [];
    const counted = await this.#binding.batch<PlanCount>(
      plans.map(({ id, version }) => this.#binding.prepare(COUNT_PLAN).bind(id, version)),
    );
    return counted.map(({ results: [count] }) => count ?? { accounts: 0, behind: 0 });
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
  readNewest(): Promise<number | null> {
    return readNewest(this.#binding);
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
}
