/** The tables of the registry of apps and of the audit log, in D1 `DIRECTORY`. */
import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

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
  },
  ({ slug, name, starter_credits, origins_json, created_at_ms }) => [
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
  ],
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
