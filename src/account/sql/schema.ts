/**
 * The tables inside one Account object. Migrations under `drizzle/account` are generated from this
 * file; text-keyed tables there are WITHOUT ROWID, added by hand since the generator has no word
 * for it, so that one logical row is one written row.
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { APP_ACCESS, EXPIRY_OUTCOMES, SETTLERS } from "../../domain/app_policy.ts";
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { CAP_PERIODS, PERSONAL_TOKEN_ACCESS } from "../../domain/personal_token.ts";
import { REVERSAL_STATES } from "../../domain/purchases.ts";
import { JOB_STATUSES, type JobFailure } from "../../domain/job.ts";

/** One row: which migrations ran, and the oldest build that may run on their result. See `migrate.ts`. */
export const dataFormat = sqliteTable("data_format", {
  singleton: integer().primaryKey(),
  /** How many migrations ran. */
  migrations: integer().notNull(),
  oldest_build: integer().notNull(),
});

/** The one account this object holds. Its balance is not here: it is the newest entry's. */
export const account = sqliteTable("account", {
  singleton: integer().primaryKey(),
  id: text().notNull(),
  identity_id: text().notNull(),
  plan: text().notNull(),
  created_at_ms: integer().notNull(),
  /** Since when operators keep its holder out; null: they do not. */
  suspended_at_ms: integer(),
  /** Since when there is no such account any more; null: there is. From then on this row is its tombstone. */
  deleted_at_ms: integer(),
  /** How far a deleted account's rows are gone; see `erasure.ts`. Null: the account is there. */
  erasure: text({ enum: ["closing", "wiping", "forgetting", "done"] }),
  /** Whether its holder had an account before and deleted it: no app gives them starter credits again. */
  returned: integer({ mode: "boolean" }).notNull().default(false),
  /** What a deleted account owed, in credits: its holder owes it again with the next one. */
  owed_credits: integer().notNull().default(0),
});

/**
 * The ledger, append-only. Each line closes the books of its moment, so that no other row has to be
 * written for them: the balance, what is held, and beside them
 * `open_jobs` how many jobs are started;
 * `recent_after_job_id` started jobs up to this one have a row in `long_jobs` (null: none was before);
 * `recent_jobs` how many jobs there are after it, started or not: at most `RECENT_JOBS_MAX`.
 */
export const entries = sqliteTable("entries", {
  line: integer().primaryKey(),
  kind: text({ enum: ENTRY_KINDS }).notNull(),
  amount: integer().notNull(),
  balance_after: integer().notNull(),
  reserved_after: integer().notNull().default(0),
  job_id: text(),
  app_slug: text(),
  /** What the account's owner is told of it; null: nothing more than the kind says. */
  note: text(),
  at_ms: integer().notNull(),
  open_jobs: integer().notNull().default(0),
  recent_after_job_id: text(),
  recent_jobs: integer().notNull().default(0),
});

/** Apps this account was upserted for; `granted_at_ms` is null until starter credits were granted. */
export const apps = sqliteTable("apps", {
  slug: text().primaryKey(),
  starter_credits: integer().notNull(),
  granted_at_ms: integer(),
  created_at_ms: integer().notNull(),
  /** What the app's key may do here; see `app_access.ts`. */
  access: text({ enum: APP_ACCESS }).notNull(),
});

/** Jobs. Ids are UUIDv7, made in order, so the key gives newest-first listing without an index. */
export const jobs = sqliteTable("jobs", {
  id: text().primaryKey(),
  status: text({ enum: JOB_STATUSES }).notNull(),
  app_slug: text(),
  action: text().notNull(),
  reserved: integer().notNull(),
  actual_cost: integer().notNull(),
  failure: text().$type<JobFailure>(),
  /** What its client said of the failure; null: nothing. */
  failure_reason: text(),
  created_at_ms: integer().notNull(),
  updated_at_ms: integer().notNull(),
  expires_at_ms: integer().notNull(),
  /** The ledger line of the job's last change: its version in the read model. */
  line: integer().notNull(),
  metadata_json: text(),
  /** The personal access token that created the job; null: a browser session or the app did. */
  personal_token_id: text(),
  /** That token's spending cap, which bounds the job's overage also after the token ended; null: it had none. */
  token_cap_credits: integer(),
  /** The app's policy when the job was created; see `domain/app_policy`. */
  settle: text({ enum: SETTLERS }).notNull().default("holder"),
  on_expiry: text({ enum: EXPIRY_OUTCOMES }).notNull().default("refund"),
  max_overage_percent: integer(),
  /** The request that completed or failed the job, if it had a key; see `idempotency/job_keys.ts`. */
  idempotency_caller: text(),
  idempotency_key: text(),
  idempotency_fingerprint: text(),
});

/**
 * Started jobs that are not among the recent ones, by the moment their time runs out. An index on
 * `jobs` would cost two more written rows for every job; this costs them for those that last.
 */
export const longJobs = sqliteTable(
  "long_jobs",
  { expires_at_ms: integer().notNull(), job_id: text().notNull() },
  (table) => [primaryKey({ columns: [table.expires_at_ms, table.job_id] })],
);

/** Jobs whose time ran out and that could not be ended: a defect, set aside and tried again. */
export const stuckJobs = sqliteTable("stuck_jobs", {
  job_id: text().primaryKey(),
  since_ms: integer().notNull(),
  retry_at_ms: integer().notNull(),
});

/**
 * Personal access tokens that live, and expired ones until the next is issued. A revoked one is gone:
 * the row is what makes a token valid. `spent` of its cap, and in which window (`domain/personal_token`).
 */
export const personalTokens = sqliteTable("personal_tokens", {
  id: text().primaryKey(),
  label: text().notNull(),
  /** The app that asked for the token, by its own word. */
  app_slug: text(),
  access: text({ enum: PERSONAL_TOKEN_ACCESS }).notNull(),
  /** Whether it may be handed third parties' tokens. */
  upstream: integer({ mode: "boolean" }).notNull().default(false),
  /** Whether it operates the service, where its owner does. */
  admin: integer({ mode: "boolean" }).notNull().default(false),
  /** The session that approved it, and the sign-in method behind that; null: one unlinked before. */
  session_id: text().notNull(),
  signin_method: text(),
  /** Whether it ends with that session, whatever the person wants; with the method it always does. */
  ends_with_session: integer({ mode: "boolean" }).notNull(),
  /** JSON array of the only apps it may act for; null: all. */
  app_slugs_json: text(),
  cap_credits: integer(),
  cap_period: text({ enum: CAP_PERIODS }),
  spent: integer().notNull(),
  spent_window: integer().notNull(),
  /** What its jobs have stored so far, in bytes; see `TOKEN_STORAGE_MAX_BYTES`. */
  stored_bytes: integer().notNull(),
  created_at_ms: integer().notNull(),
  /** Late by at most an hour; null: never used. */
  last_used_at_ms: integer(),
  expires_at_ms: integer().notNull(),
  /** When it was ended. Only a capped token's row stays, for what its jobs still spend; null: it was not ended. */
  ended_at_ms: integer(),
});

/**
 * Responses for retries of all other requests with an `Idempotency-Key`. `day`: the UTC day of
 * `created_at_ms`, first in the key, so that old rows are found without an index; see
 * `idempotency/responses.ts`.
 */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    day: integer().notNull(),
    caller: text().notNull(),
    endpoint: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    response_json: text().notNull(),
    created_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.caller, table.endpoint, table.key] })],
);

/**
 * What third-party providers gave for the user, a row for each. `sealed` holds the tokens themselves
 * (see `vault/sealing.ts`); `revision` changes with them, and only with them. `issuer` and `client_id`
 * say whose they are, since a provider's id can be pointed elsewhere; null in rows older than them.
 */
export const upstreamTokens = sqliteTable("upstream_tokens", {
  provider: text().primaryKey(),
  subject: text().notNull(),
  scope: text(),
  /** When the access token runs out; null where the provider did not say. */
  expires_at_ms: integer(),
  key_id: text().notNull(),
  sealed: text().notNull(),
  revision: text().notNull(),
  updated_at_ms: integer().notNull(),
  issuer: text(),
  client_id: text(),
});

/**
 * Providers that the user unlinked: what a sign-in brings through an identity linked no later than this
 * comes too late, and is dropped.
 */
export const upstreamUnlinks = sqliteTable("upstream_unlinks", {
  provider: text().primaryKey(),
  linked_at_ms: integer().notNull(),
});

/** Debts of the holder's deleted accounts that this one took over: each once, by this row. */
export const debts = sqliteTable("debts", {
  id: text().primaryKey(),
  at_ms: integer().notNull(),
});

/** Checkouts that were paid: each credits once, by this row. Amounts of money in their smallest unit. */
export const purchases = sqliteTable("purchases", {
  checkout_session_id: text().primaryKey(),
  payment_intent_id: text().notNull().unique(),
  package_id: text().notNull(),
  package_name: text().notNull(),
  credits: integer().notNull(),
  paid_minor: integer().notNull(),
  currency: text().notNull(),
  /** Credits that went back with the money so far. */
  taken_back: integer().notNull(),
  created_at_ms: integer().notNull(),
});

/** Refunds and disputes as far as they are known, also of payments whose purchase is still to come. */
export const purchaseReversals = sqliteTable(
  "purchase_reversals",
  {
    payment_intent_id: text().notNull(),
    source_id: text().notNull(),
    amount_minor: integer().notNull(),
    state: text({ enum: REVERSAL_STATES }).notNull(),
    updated_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.payment_intent_id, table.source_id] })],
);

/**
 * One row while the read model could not be reached, or is being sent the whole account anew; none
 * where all goes well. See `outbox.ts`.
 */
export const projectionDebt = sqliteTable("projection_debt", {
  singleton: integer().primaryKey(),
  since_ms: integer().notNull(),
  /** A rebuild has sent the jobs up to this one, "" before the first; null: none is under way. */
  rebuilt_to_job_id: text(),
});

export type AccountRow = typeof account.$inferSelect;
export type EntryRow = typeof entries.$inferSelect;
export type AppRow = typeof apps.$inferSelect;
export type JobRow = typeof jobs.$inferSelect;

/** What a started job counts for: the personal token and the app that it was created with. */
export type JobCreator = Pick<JobRow, "personal_token_id" | "app_slug">;
