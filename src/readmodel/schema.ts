/**
 * D1's tables. `accounts`, `grants` and `jobs` mirror the Account objects for operators: late by about
 * a second, rebuilt at will, read by no decision about money. `apps` is the truth about
 * what it holds.
 */
import { sql } from "drizzle-orm";
import { integer, primaryKey, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import { JOB_STATUSES, type JobFailure } from "../domain/job.ts";

export const accounts = sqliteTable("accounts", {
  id: text().primaryKey(),
  identity_id: text().notNull(),
  plan: text().notNull(),
  created_at_ms: integer().notNull(),
  /** Ledger line of the account's last change of its own; an older one never overwrites a newer. */
  version: integer().notNull(),
});

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

/** Clustered by account, so that a balance is one range and a row is one write. */
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
    created_at_ms: integer().notNull(),
    updated_at_ms: integer().notNull(),
    expires_at_ms: integer().notNull(),
    metadata_json: text(),
    version: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.id] })],
);

/**
 * Balances, derived: what was granted, less what jobs hold or have cost. A column of `accounts` would
 * double the rows written for each job.
 */
export const accountBalances = sqliteView("account_balances", {
  account_id: text().notNull(),
  credits: integer().notNull(),
  reserved: integer().notNull(),
}).as(sql`
  select
    accounts.id as account_id,
    coalesce((select sum(grants.amount) from grants where grants.account_id = accounts.id), 0)
      - coalesce((select sum(iif(jobs.status = 'started', jobs.reserved, jobs.actual_cost))
          from jobs where jobs.account_id = accounts.id), 0) as credits,
    coalesce((select sum(jobs.reserved) from jobs
      where jobs.account_id = accounts.id and jobs.status = 'started'), 0) as reserved
  from accounts
`);

/** Client apps the operators registered. `origins_json`: an array of allowlist entries. */
export const apps = sqliteTable("apps", {
  slug: text().primaryKey(),
  name: text().notNull(),
  starter_credits: integer().notNull(),
  origins_json: text().notNull().default("[]"),
  created_at_ms: integer().notNull(),
});
