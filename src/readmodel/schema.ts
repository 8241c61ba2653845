/**
 * D1's tables. `accounts`, `grants` and `jobs` mirror the Account objects for operators: late by about
 * a second, rebuilt at will, read by no decision about money. `apps`, `users`, `identities` and
 * `sessions` are the truth about what they hold.
 */
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
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
    created_at_ms: integer().notNull(),
    updated_at_ms: integer().notNull(),
    expires_at_ms: integer().notNull(),
    /** The ledger line of the job's last change. An older row never replaces a newer. */
    line: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.id] })],
);

/** Client apps the operators registered. `origins_json`: an array of allowlist entries. */
export const apps = sqliteTable("apps", {
  slug: text().primaryKey(),
  name: text().notNull(),
  starter_credits: integer().notNull(),
  origins_json: text().notNull().default("[]"),
  created_at_ms: integer().notNull(),
});

/** People, as the built-in identity provider knows them. `id` is the `identity_id` of the API. */
export const users = sqliteTable("users", {
  id: text().primaryKey(),
  name: text(),
  email: text(),
  email_verified: integer({ mode: "boolean" }).notNull().default(false),
  created_at_ms: integer().notNull(),
});

/** How a person signs in: unique by (provider, subject), never by e-mail address. */
export const identities = sqliteTable(
  "identities",
  {
    provider: text().notNull(),
    subject: text().notNull(),
    user_id: text().notNull(),
    created_at_ms: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.subject] }),
    index("identities_user_id").on(table.user_id),
  ],
);

/** Browser sessions. Only the SHA-256 of the cookie's secret is kept; `id` is the JWT's `sid`. */
export const sessions = sqliteTable(
  "sessions",
  {
    secret_hash: text().primaryKey(),
    id: text().notNull(),
    user_id: text().notNull(),
    created_at_ms: integer().notNull(),
    expires_at_ms: integer().notNull(),
  },
  (table) => [uniqueIndex("sessions_id").on(table.id), index("sessions_user_id").on(table.user_id)],
);
