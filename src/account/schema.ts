/**
 * The tables inside one Account object. Migrations under `drizzle/account` are generated from this
 * file; text-keyed tables there are WITHOUT ROWID, added by hand since the generator has no word
 * for it, so that one logical row is one written row.
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ENTRY_KINDS } from "../domain/ledger.ts";
import { CAP_PERIODS, PERSONAL_TOKEN_ACCESS } from "../domain/personal_token.ts";
import { JOB_STATUSES, type JobFailure } from "../domain/job.ts";

/** The one account this object holds. Its balance is not here: it is the newest entry's. */
export const account = sqliteTable("account", {
  singleton: integer().primaryKey(),
  id: text().notNull(),
  identity_id: text().notNull(),
  plan: text().notNull(),
  created_at_ms: integer().notNull(),
});

/**
 * The ledger, append-only. Beside its amount and the balance, each line closes the books of its
 * moment, so that no other row has to be written for them:
 * `oldest_open_job_id` no started job is older than this one (null: none is started);
 * `open_jobs` how many are started;
 * `projected_line` lines up to this one were known to be in the read model when this was written.
 */
export const entries = sqliteTable("entries", {
  line: integer().primaryKey(),
  kind: text({ enum: ENTRY_KINDS }).notNull(),
  amount: integer().notNull(),
  balance_after: integer().notNull(),
  job_id: text(),
  app_slug: text(),
  at_ms: integer().notNull(),
  oldest_open_job_id: text(),
  open_jobs: integer().notNull().default(0),
  projected_line: integer().notNull(),
});

/** Apps this account was upserted for; `granted_at_ms` is null until starter credits were granted. */
export const apps = sqliteTable("apps", {
  slug: text().primaryKey(),
  starter_credits: integer().notNull(),
  granted_at_ms: integer(),
  created_at_ms: integer().notNull(),
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
  created_at_ms: integer().notNull(),
  updated_at_ms: integer().notNull(),
  expires_at_ms: integer().notNull(),
  /** The ledger line of the job's last change: its version in the read model. */
  line: integer().notNull(),
  metadata_json: text(),
  /** The personal access token that created the job; null: a browser session did. */
  token_id: text(),
});

/**
 * Personal access tokens that live, and expired ones until the next is issued. A revoked one is gone:
 * the row is what makes a token valid. `spent` of its cap and since which window: `domain/personal_token`.
 */
export const tokens = sqliteTable("tokens", {
  id: text().primaryKey(),
  label: text().notNull(),
  /** The app that asked for the token, by its own word. */
  app_slug: text(),
  access: text({ enum: PERSONAL_TOKEN_ACCESS }).notNull(),
  /** Whether it may be handed third parties' tokens. */
  upstream: integer({ mode: "boolean" }).notNull().default(false),
  /** The session that it ends with; null: it outlives the one that approved it. */
  session_id: text(),
  /** JSON array of the only apps it may act for; null: all. */
  app_slugs_json: text(),
  cap_credits: integer(),
  cap_period: text({ enum: CAP_PERIODS }),
  spent: integer().notNull(),
  spent_window: integer().notNull(),
  created_at_ms: integer().notNull(),
  /** Late by at most an hour; null: never used. */
  last_used_at_ms: integer(),
  expires_at_ms: integer().notNull(),
});

/** Answers kept for retries, by endpoint and `Idempotency-Key`. */
export const idempotency = sqliteTable(
  "idempotency",
  {
    endpoint: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    /** The personal access token that asked; null: a session. */
    token_id: text(),
    answer_json: text().notNull(),
    created_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.endpoint, table.key] })],
);

/**
 * What third-party providers gave for the user, a row for each. `sealed` holds the tokens themselves
 * (see `sealing.ts`); `revision` changes with them, and only with them.
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
});

/** One row while the read model is behind because it could not be reached; see `outbox.ts`. */
export const projectionDebt = sqliteTable("projection_debt", {
  singleton: integer().primaryKey(),
  projected_line: integer().notNull(),
});
