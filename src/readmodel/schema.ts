/**
 * The tables of D1 `DB`. They copy the Account objects for operators: about a second late, rebuilt on demand,
 * and never used to decide about money. Nothing grows without limit: accounts and grants grow with people, jobs
 * and daily activity with the window (`retention.ts`), totals with days and apps.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { JOB_STATUSES, type JobFailure } from "../domain/job.ts";

/**
 * Accounts with their balance as of ledger entry `line`. Only this row says how much of an account was
 * delivered.
 */
export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    identity_id: text().notNull(),
    plan: text().notNull(),
    /** The version of the plan's rules that the account has; 0: it has none. */
    plan_version: integer().notNull().default(0),
    created_at_ms: integer().notNull(),
    /** The entry that the columns below belong to; 0: unknown. An older row never replaces a newer one. */
    line: integer().notNull(),
    credits: integer().notNull(),
    /** Credits that started jobs hold, not part of `credits`. */
    reserved: integer().notNull(),
    /** The bought part of `credits` and `reserved` together. */
    bought: integer().notNull().default(0),
    /** JSON of the `Worth` of that part; null: none with a known price. */
    paid_json: text(),
    /** The time of that entry. */
    updated_at_ms: integer().notNull(),
    /** Null: not suspended. */
    suspended_at_ms: integer(),
    /** The earliest deadline of its started jobs; null: none is started. As of its newest delivery. */
    due_at_ms: integer(),
  },
  (table) => [
    index("accounts_identity_id").on(table.identity_id),
    // Operators' lists, newest first. An index by credits would cost two more written rows per job.
    index("accounts_created").on(sql`created_at_ms desc`, table.id),
    // Which accounts have a plan, and which have older rules of it.
    index("accounts_plan")
      .on(table.plan, table.plan_version, table.identity_id)
      .where(sql`plan_version > 0`),
    index("accounts_suspended")
      .on(sql`created_at_ms desc`, table.id)
      .where(sql`suspended_at_ms is not null`),
  ],
);

export const grants = sqliteTable(
  "grants",
  {
    account_id: text().notNull(),
    app_slug: text().notNull(),
    amount: integer().notNull(),
    granted_at_ms: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.app_slug] }),
    index("grants_app").on(table.app_slug, table.granted_at_ms),
  ],
);

/**
 * Clustered by id, which begins with the time of creation: lists across accounts read the newest first, old jobs are deleted
 * from the beginning, and a row is one write. The jobs of one account are found through its active days. Metadata is not
 * copied: it belongs to the users and would be most of the bytes.
 */
export const jobs = sqliteTable("jobs", {
  id: text().primaryKey(),
  account_id: text().notNull(),
  app_slug: text(),
  action: text().notNull(),
  status: text({ enum: JOB_STATUSES }).notNull(),
  reserved: integer().notNull(),
  actual_cost: integer().notNull(),
  refunded: integer().notNull(),
  step: integer().notNull(),
  spent: integer(),
  failure: text().$type<JobFailure>(),
  failure_reason: text(),
  created_at_ms: integer().notNull(),
  updated_at_ms: integer().notNull(),
  expires_at_ms: integer().notNull(),
  /** Its starter, as in the account; see `domain/started_by.ts`. */
  allowance_path: text(),
  started_by_json: text(),
  /** The entry of the job's last change. An older row never replaces a newer one. */
  line: integer().notNull(),
});

/** Ids of deleted accounts, which are not used again. A late delivery must not restore their rows. */
export const forgottenAccounts = sqliteTable("forgotten_accounts", { id: text().primaryKey() });

/**
 * Totals of a UTC day, by app: "" for entries without an app; "*" only has the accounts active in any app. Sums in
 * credits without a sign, except `adjusted`, `taken_back` and `forfeited`; `job_refunded` is a part of `refunded`;
 * counts of `jobs` created, `failed` ones, and accounts with an entry; and the bought part of sums, see
 * `line_totals.ts`. Kept forever: one row per day and app. `accounts.line` says which entries are counted, so restore
 * both tables or neither.
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
    job_refunded: integer().notNull(),
    purchased: integer().notNull(),
    adjusted: integer().notNull(),
    taken_back: integer().notNull(),
    forfeited: integer().notNull(),
    expired: integer().notNull(),
    jobs: integer().notNull(),
    failed: integer().notNull(),
    active_accounts: integer().notNull(),
    adjusted_bought: integer().notNull().default(0),
    settled_bought: integer().notNull().default(0),
    job_refunded_bought: integer().notNull().default(0),
    expired_bought: integer().notNull().default(0),
    forfeited_bought: integer().notNull().default(0),
    /** Changes of the credits that jobs hold, and of the number of accounts with a balance or held credits that are not 0. */
    held: integer().notNull().default(0),
    holders: integer().notNull().default(0),
    /** The newest entry of the deliveries that were counted, in milliseconds since the epoch. */
    newest_at_ms: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.day, table.app_slug] })],
);

/**
 * Money of a UTC day, by package and currency, in the currency's smallest unit. Counted and kept as the daily totals.
 * `refunded_minor` belongs to the day of the refund or dispute, and is lower on the day on which a dispute was won.
 */
export const dailyRevenue = sqliteTable(
  "daily_revenue",
  {
    /** Whole days since the epoch. */
    day: integer().notNull(),
    package_id: text().notNull(),
    currency: text().notNull(),
    purchases: integer().notNull(),
    amount_minor: integer().notNull(),
    refunded_minor: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.package_id, table.currency] })],
);

/**
 * Changes of a UTC day of bought credits with a known price, by currency, and of what was paid for them: `minor` in whole
 * smallest units, and `nanos` in thousand-millionths of one. Counted and kept as the daily totals.
 */
export const dailyOwed = sqliteTable(
  "daily_owed",
  {
    /** Whole days since the epoch. */
    day: integer().notNull(),
    currency: text().notNull(),
    credits: integer().notNull(),
    minor: integer().notNull(),
    nanos: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.currency] })],
);

/**
 * Sums of all daily totals before a day, so that no query adds up all days: see `carried.ts`. `what`: a sum of the daily
 * totals, or a currency of the daily owed.
 */
export const carriedTotals = sqliteTable(
  "carried_totals",
  {
    /** Whole days since the epoch. */
    day: integer().notNull(),
    what: text().notNull(),
    credits: integer().notNull(),
    minor: integer().notNull(),
    nanos: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.what] })],
);

/** The days on which an account was active, by app, so that each day counts it once. */
export const accountDays = sqliteTable(
  "account_days",
  {
    account_id: text().notNull(),
    /** Whole days since the epoch. */
    day: integer().notNull(),
    app_slug: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.day, table.app_slug] }),
    // The accounts of a day, or of a day and an app, and so their jobs, without reading those of others.
    index("account_days_day").on(table.day, table.app_slug),
  ],
);

/** Totals of an app's UTC day before the first entry that arrived in a minute of it. Kept for three days; see `today.ts`. */
export const dayMinutes = sqliteTable(
  "day_minutes",
  {
    /** Whole days since the epoch. */
    day: integer().notNull(),
    app_slug: text().notNull(),
    /** Of that day. */
    minute: integer().notNull(),
    settled: integer().notNull(),
    job_refunded: integer().notNull(),
    jobs: integer().notNull(),
    failed: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.app_slug, table.minute] })],
);

/** The newest segment of each account in the archive, which ends the chain of its segments; see docs/keep.md. */
export const archiveHeads = sqliteTable(
  "archive_heads",
  {
    account_id: text().primaryKey(),
    /** The last entry of the segment. */
    line: integer().notNull(),
    /** The SHA-256 of its stored bytes, in hexadecimal. */
    sha256: text().notNull(),
    written_at_ms: integer().notNull(),
    /** How much of its storage the account used then, in percent; null: less than half. */
    storage_percent: integer(),
  },
  (table) => [
    index("archive_heads_storage_percent")
      .on(table.storage_percent)
      .where(sql`storage_percent is not null`),
  ],
);

/** One row: the round in which the schedule compares all accounts; see `operations/compared_accounts.ts`. */
export const comparison = sqliteTable("comparison", {
  singleton: integer().primaryKey(),
  /** The last identity that was compared. */
  after_id: text().notNull(),
  began_at_ms: integer().notNull(),
  /** How many people the round before compared; 0: unknown. */
  accounts: integer().notNull(),
  /** How many this round has compared. */
  compared: integer().notNull().default(0),
  /** When the daily totals were compared. */
  totals_at_ms: integer().notNull(),
});

/** What the last comparison of an account found; "": the whole service. A comparison without a difference leaves no row. */
export const differences = sqliteTable(
  "differences",
  {
    account_id: text().notNull(),
    place: text().notNull(),
    what: text().notNull(),
    expected: integer(),
    found: integer(),
    found_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.place, table.what] })],
);

/** How far the tasks of the schedule have come that walk through a table: the last row that each has visited. */
export const upkeep = sqliteTable("upkeep", {
  task: text().primaryKey(),
  after_id: text().notNull(),
  /** What the task has found so far in its walk. */
  found_json: text(),
});

/** Lists in an order that changes with each delivery. The schedule writes them; see `lists.ts`. */
export const lists = sqliteTable("lists", {
  name: text().primaryKey(),
  /** The first and the last moment that the list is about, in milliseconds since the epoch. */
  from_ms: integer().notNull(),
  as_of_ms: integer().notNull(),
  rows_json: text().notNull(),
});
