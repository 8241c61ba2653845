/**
 * The tables of D1 `DB`. They mirror the Account objects for operators: late by about a second, rebuilt
 * at will, read by no decision about money. Nothing here grows without bound: accounts and grants with
 * people, jobs and active days with the window (`retention.ts`), totals with days and apps.
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
 * What happened on a UTC day, by app: "" for entries of no app; "*" has only the accounts active in any. Sums
 * in credits without sign but `adjusted`; `jobs` created, `failed`, and accounts with an entry that day. Kept
 * for good: a row a day and app. `accounts.line` says which entries are counted, so restore both tables or
 * neither.
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

/** On which days an account was active, and in which apps, so that each day counts it once. */
export const accountDays = sqliteTable(
  "account_days",
  {
    account_id: text().notNull(),
    /** Whole days since the epoch. */
    day: integer().notNull(),
    app_slug: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.day, table.app_slug] })],
);

/** One row: how far upkeep has come in its walk over the accounts. */
export const upkeep = sqliteTable("upkeep", {
  singleton: integer().primaryKey(),
  after_account_id: text().notNull(),
});
