/** The tables of the registry of apps and of the audit log, in D1 `DIRECTORY`. */
import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { EXPIRY_OUTCOMES, SETTLERS } from "../domain/app_policy.ts";

/**
 * Client apps the operators registered. `origins_json`: an array of allowlist entries. Whoever writes
 * here past the service is held to `APP_SLUG_PATTERN`, `COST_MAX_CREDITS` and JSON by the table itself;
 * the numbers are written out, since a migration never changes with the code.
 */
export const apps = sqliteTable(
  "apps",
  {
    slug: text().primaryKey(),
    name: text().notNull(),
    starter_credits: integer().notNull(),
    origins_json: text().notNull().default("[]"),
    created_at_ms: integer().notNull(),
    /** What all starter grants of a UTC day may add up to, in credits; null: no bound. */
    daily_starter_budget: integer(),
    /** See `domain/app_policy`. */
    settle: text({ enum: SETTLERS }).notNull().default("holder"),
    on_expiry: text({ enum: EXPIRY_OUTCOMES }).notNull().default("refund"),
    max_overage_percent: integer(),
    /** JSON array of the providers whose upstream tokens the app's pages get. */
    upstream_providers_json: text().notNull().default("[]"),
    /** Grows with each save: who saves says which version they read. */
    version: integer().notNull().default(1),
    /** The audit record of the last save, so that a retry of that save is recognised. */
    last_audit_id: text(),
  },
  ({ slug, name, starter_credits, origins_json, created_at_ms, ...policy }) => [
    check(
      "apps_slug",
      sql`typeof(${slug}) = 'text' and length(${slug}) between 1 and 64 and ${slug} glob '[a-z0-9]*' and ${slug} not glob '*[^a-z0-9._-]*'`,
    ),
    check("apps_name", sql`typeof(${name}) = 'text' and length(${name}) between 1 and 200`),
    check(
      "apps_starter_credits",
      sql`typeof(${starter_credits}) = 'integer' and ${starter_credits} between 0 and 1000000000000`,
    ),
    // Not "and" alone: json_type raises an error of its own where the text is no JSON.
    check(
      "apps_origins_json",
      sql`typeof(${origins_json}) = 'text' and case when json_valid(${origins_json}) then json_type(${origins_json}) = 'array' else 0 end`,
    ),
    check("apps_created_at_ms", sql`typeof(${created_at_ms}) = 'integer'`),
    check(
      "apps_daily_starter_budget",
      sql`${policy.daily_starter_budget} is null or (typeof(${policy.daily_starter_budget}) = 'integer' and ${policy.daily_starter_budget} between 0 and 1000000000000)`,
    ),
    check("apps_settle", sql`${policy.settle} in ('holder', 'app')`),
    check("apps_on_expiry", sql`${policy.on_expiry} in ('refund', 'charge')`),
    check(
      "apps_max_overage_percent",
      sql`${policy.max_overage_percent} is null or (typeof(${policy.max_overage_percent}) = 'integer' and ${policy.max_overage_percent} between 0 and 1000)`,
    ),
    check(
      "apps_upstream_providers_json",
      sql`typeof(${policy.upstream_providers_json}) = 'text' and case when json_valid(${policy.upstream_providers_json}) then json_type(${policy.upstream_providers_json}) = 'array' else 0 end`,
    ),
  ],
);

/**
 * Keys of apps' servers. A revoked key keeps its row, so that the request that made it never makes another.
 * Only the SHA-256 of a key is kept, in hexadecimal: with 256 random bits nobody finds another key to it.
 */
export const appKeys = sqliteTable(
  "app_keys",
  {
    id: text().primaryKey(),
    app_slug: text().notNull(),
    /** The `Idempotency-Key` of the request that made it; null without one. */
    request_key: text(),
    label: text().notNull(),
    key_hash: text().notNull(),
    created_at_ms: integer().notNull(),
    /** When an operator revoked it; null: it is valid. */
    revoked_at_ms: integer(),
  },
  ({ app_slug, request_key, key_hash }) => [
    uniqueIndex("app_keys_key_hash").on(key_hash),
    uniqueIndex("app_keys_request").on(app_slug, request_key),
    check(
      "app_keys_key_hash_form",
      sql`length(${key_hash}) = 64 and ${key_hash} not glob '*[^0-9a-f]*'`,
    ),
  ],
);

/**
 * Accounts that were asked to be deleted lately; see `deletions.ts`. Whether one is deleted, its object
 * says.
 */
export const deletions = sqliteTable(
  "deletions",
  { identity_id: text().primaryKey(), asked_at_ms: integer().notNull() },
  (table) => [index("deletions_asked_at_ms").on(table.asked_at_ms)],
);

/**
 * What operators set out to do, a line each, written before it is done; see `audit.ts`. Ids are UUIDv7,
 * so the key gives newest-first listing.
 */
export const audit = sqliteTable(
  "audit",
  {
    id: text().primaryKey(),
    at_ms: integer().notNull(),
    /** The operator's identity. */
    actor: text().notNull(),
    act: text().notNull(),
    /** What it was done to: an identity, an app's slug. */
    subject: text().notNull(),
    reason: text(),
    request_id: text().notNull(),
    details_json: text().notNull(),
    /** The operator's `Idempotency-Key`, and a digest of who asked for what under it. */
    idempotency_key: text(),
    fingerprint: text(),
  },
  (table) => [index("audit_subject").on(table.subject, table.id)],
);

/** What became of it. Also only ever added to: an act that was refused may succeed when sent again. */
export const auditOutcomes = sqliteTable(
  "audit_outcomes",
  {
    audit_id: text().notNull(),
    outcome: text({ enum: ["done", "refused", "replayed"] }).notNull(),
    at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.audit_id, table.outcome] })],
);
