/**
 * The tables of D1 `DB`. They mirror the Account objects for operators: late by about a second, rebuilt
 * at will, read by no decision about money. Nothing here grows without bound: accounts and grants with
 * people, jobs with the window (`retention.ts`), totals with days and apps.
 */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { JOB_STATUSES, type JobFailure } from "../domain/job.ts";

/**
 * Accounts with their balance, as of `line` of their passbook: what the read model knows of an account
 * is in its own row, and nowhere else.
 */
export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    identity_id: text().notNull(),
    plan: text().notNull(),
    created_at_ms: integer().notNull(),
    /** The ledger line that the columns below are of; 0: not known. An older never replaces a newer. */
    line: integer().notNull(),
    credits: integer().notNull(),
    /** What started jobs hold, beside `credits`. */
    reserved: integer().notNull(),
    /** When that line was written. */
    updated_at_ms: integer().notNull(),
    /** What the lines up to `line` added to days whose totals are not closed; see `remembered_days.ts`. */
    days_json: text().notNull().default("[]"),
  },
  (table) => [index("accounts_identity_id").on(table.identity_id)],
);

export const grants = sqliteTable(
  "grants",
  {
    account_id: text().notNull(),
    app_slug: text().notNull(),
    amount: integer().notNull(),
    granted_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.app_slug] })],
);

/**
 * Clustered by account, so that one account's jobs are one range and a row is one write. Their metadata
 * stays in the object: it is the users', and would be most of the bytes.
 */
export const jobs = sqliteTable(
  "jobs",
  {
    account_id: text().notNull(),
    id: text().notNull(),
    app_slug: text(),
    action: text().notNull(),
    status: text({ enum: JOB_STATUSES }).notNull(),
    reserved: integer().notNull(),
    actual_cost: integer().notNull(),
    failure: text().$type<JobFailure>(),
    failure_reason: text(),
    created_at_ms: integer().notNull(),
    updated_at_ms: integer().notNull(),
    expires_at_ms: integer().notNull(),
    /** The ledger line of the job's last change. An older row never replaces a newer. */
    line: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.id] })],
);

/**
 * Accounts whose holders deleted them, by ids that are of nobody any more: what was on its way here when
 * that happened must not bring them back.
 */
export const forgottenAccounts = sqliteTable("forgotten_accounts", { id: text().primaryKey() });

/**
 * What happened on a UTC day, by app ("*": all together), of days that were closed. Sums in credits
 * without sign but `adjusted`; `jobs` created, `failed`, and accounts with a line that day. Kept for
 * good: a row a day and app.
 */
export const dailyTotals = sqliteTable(
  "daily_totals",
  {
    /** Whole days since the epoch. */
    day: integer().notNull(),
    app_slug: text().notNull(),
    granted: integer().notNull(),
    reserved: integer().notNull(),
    settled: integer().notNull(),
    refunded: integer().notNull(),
    purchased: integer().notNull(),
    adjusted: integer().notNull(),
    jobs: integer().notNull(),
    failed: integer().notNull(),
    active_accounts: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.app_slug] })],
);

/**
 * One row: how far upkeep has come in its walk over the accounts, and which days `daily_totals` has of
 * them. It goes with that table: either without the other counts days twice, or not at all.
 */
export const upkeep = sqliteTable("upkeep", {
  singleton: integer().primaryKey(),
  after_account_id: text().notNull(),
  /** Days before this one are closed for the accounts after `after_account_id`. */
  closed_before_day: integer().notNull().default(0),
  /** And before this one for those up to it. */
  closing_before_day: integer().notNull().default(0),
});
