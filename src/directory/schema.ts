/** The tables of the app registry and the audit log, in D1 `DIRECTORY`. */
import { sql } from "drizzle-orm";
import {
  blob,
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { EXPIRY_OUTCOMES, SETTLERS } from "../domain/app_policy.ts";
import type { Changes } from "../domain/audit.ts";
import type { PlanRule } from "../domain/plans.ts";
import type { SpendingCap } from "../domain/spending_cap.ts";
import { APP_EVENTS, type SubscribableEvent } from "../domain/webhook.ts";

const JSON_TEXT = { mode: "json" } as const;

/** Plans: the credits that their accounts get again and again. Each account has a copy of the rules; see `domain/plans.ts`. */
export const plans = sqliteTable("plans", {
  id: text().primaryKey(),
  name: text().notNull(),
  recurring: text("recurring_json", JSON_TEXT).$type<readonly PlanRule[]>().notNull(),
  created_at_ms: integer().notNull(),
  /** Increases with each save, from 1. A save names the version that it changes. */
  version: integer().notNull().default(1),
  last_audit_id: text().notNull(),
});

/**
 * Registered client apps. The table checks its rows itself
 * (`APP_SLUG_PATTERN`, `COST_MAX_CREDITS`, JSON), because operators may write to it with SQL. The numbers are
 * written out, because a migration must not change with the code.
 */
export const apps = sqliteTable(
  "apps",
  {
    slug: text().primaryKey(),
    name: text().notNull(),
    starter_credits: integer().notNull(),
    /** Entries of an allowlist. */
    origins: text("origins_json", JSON_TEXT).$type<readonly string[]>().notNull().default([]),
    created_at_ms: integer().notNull(),
    /** The most credits that its starter grants of one UTC day add up to; null: no limit. */
    daily_starter_budget: integer(),
    /** See `domain/app_policy`. */
    settle: text({ enum: SETTLERS }).notNull().default("holder"),
    on_expiry: text({ enum: EXPIRY_OUTCOMES }).notNull().default("refund"),
    max_overage_percent: integer(),
    /** The ids of the sign-in providers whose upstream tokens the app's pages get. */
    upstream_providers: text("upstream_providers_json", JSON_TEXT)
      .$type<readonly string[]>()
      .notNull()
      .default([]),
    /** The address that the icon was copied from, and the hash of the copy in `app_icons`; null: no icon. */
    icon: text(),
    icon_hash: text(),
    /** `#rrggbb` in lower case; null: none. */
    color: text(),
    /** Suggested when a person approves a device for the app; null: none. */
    suggested_cap: text("suggested_cap_json", JSON_TEXT).$type<SpendingCap>(),
    /** E-mail domains: see `domain/starter_rule`. */
    starter_excluded_domains: text("starter_excluded_domains_json", JSON_TEXT)
      .$type<readonly string[]>()
      .notNull()
      .default([]),
    /** Since when the app is paused, and what people read about it; null: it is not paused. See `app_pauses.ts`. */
    paused_at_ms: integer(),
    pause_message: text(),
    /** The terms of its starter credits: null: they never expire; and whether only this app can use them. */
    starter_expires_after_days: integer(),
    starter_only_here: integer({ mode: "boolean" }).notNull().default(false),
    /** Increases with each save, from 1. A save names the version that it changes. A pause does not count. */
    version: integer().notNull().default(1),
    /** The audit entry of the last save, by which a retry of that save is recognised. */
    last_audit_id: text(),
  },
  ({ slug, name, starter_credits, origins, created_at_ms, ...policy }) => [
    check(
      "apps_slug",
      sql`typeof(${slug}) = 'text' and length(${slug}) between 1 and 64 and ${slug} glob '[a-z0-9]*' and ${slug} not glob '*[^a-z0-9._-]*'`,
    ),
    check("apps_name", sql`typeof(${name}) = 'text' and length(${name}) between 1 and 200`),
    check(
      "apps_starter_credits",
      sql`typeof(${starter_credits}) = 'integer' and ${starter_credits} between 0 and 1000000000000`,
    ),
    // With "case" instead of "and": json_type raises an error if the text is not JSON.
    check(
      "apps_origins_json",
      sql`typeof(${origins}) = 'text' and case when json_valid(${origins}) then json_type(${origins}) = 'array' else 0 end`,
    ),
    check("apps_created_at_ms", sql`typeof(${created_at_ms}) = 'integer'`),
    check(
      "apps_daily_starter_budget",
      sql`${policy.daily_starter_budget} is null or (typeof(${policy.daily_starter_budget}) = 'integer' and ${policy.daily_starter_budget} between 0 and 1000000000000)`,
    ),
    check(
      "apps_starter_expires_after_days",
      sql`${policy.starter_expires_after_days} is null or (typeof(${policy.starter_expires_after_days}) = 'integer' and ${policy.starter_expires_after_days} between 1 and 3650)`,
    ),
    check("apps_starter_only_here", sql`${policy.starter_only_here} in (0, 1)`),
    check("apps_settle", sql`${policy.settle} in ('holder', 'app')`),
    check("apps_on_expiry", sql`${policy.on_expiry} in ('refund', 'charge')`),
    check(
      "apps_max_overage_percent",
      sql`${policy.max_overage_percent} is null or (typeof(${policy.max_overage_percent}) = 'integer' and ${policy.max_overage_percent} between 0 and 1000)`,
    ),
    check(
      "apps_upstream_providers_json",
      sql`typeof(${policy.upstream_providers}) = 'text' and case when json_valid(${policy.upstream_providers}) then json_type(${policy.upstream_providers}) = 'array' else 0 end`,
    ),
    check(
      "apps_icon_hash",
      sql`${policy.icon_hash} is null or (length(${policy.icon_hash}) = 32 and ${policy.icon_hash} not glob '*[^0-9a-f]*')`,
    ),
    check(
      "apps_color",
      sql`${policy.color} is null or (length(${policy.color}) = 7 and ${policy.color} glob '#*' and substr(${policy.color}, 2) not glob '*[^0-9a-f]*')`,
    ),
    check(
      "apps_suggested_cap_json",
      sql`${policy.suggested_cap} is null or case when json_valid(${policy.suggested_cap}) then ${policy.suggested_cap} ->> 'credits' >= 0 and ${policy.suggested_cap} ->> 'period' is not null else 0 end`,
    ),
    check(
      "apps_starter_excluded_domains_json",
      sql`typeof(${policy.starter_excluded_domains}) = 'text' and case when json_valid(${policy.starter_excluded_domains}) then json_type(${policy.starter_excluded_domains}) = 'array' else 0 end`,
    ),
  ],
);

/** What webhooks of an app receive about the app itself, for some weeks; see `app_pauses.ts`. */
export const appEvents = sqliteTable(
  "app_events",
  {
    /** Never used again, because webhooks remember up to which one they received. */
    id: integer().primaryKey({ autoIncrement: true }),
    app_slug: text().notNull(),
    /** The audit entry of the action. */
    event_id: text().notNull(),
    type: text({ enum: APP_EVENTS }).notNull(),
    paused_at_ms: integer(),
    message: text(),
    at_ms: integer().notNull(),
  },
  ({ app_slug, id, event_id }) => [
    index("app_events_app").on(app_slug, id),
    uniqueIndex("app_events_event_id").on(event_id),
  ],
);

/**
 * Copies of the apps' icons by the hash of their bytes: the start of the SHA-256, in hexadecimal. A copy never
 * changes. It is deleted with the save after which no app has it.
 */
export const appIcons = sqliteTable("app_icons", {
  hash: text().primaryKey(),
  /** One of `APP_ICON_TYPES`. */
  media_type: text().notNull(),
  bytes: blob({ mode: "buffer" }).$type<Uint8Array>().notNull(),
});

/**
 * Keys of apps' servers. A revoked key keeps its row, so that the request that created it never creates
 * another. Only the SHA-256 of a key is stored, in hexadecimal. A key has 256 random bits, so nobody can find
 * another one with the same hash.
 */
export const appKeys = sqliteTable(
  "app_keys",
  {
    id: text().primaryKey(),
    app_slug: text().notNull(),
    /** The `Idempotency-Key` of the request that created it; null: without one. */
    request_key: text(),
    /** No other valid key of the app has it. */
    label: text().notNull(),
    /** The end of the key, by which people tell keys apart. */
    last_four: text().notNull(),
    key_hash: text().notNull(),
    created_at_ms: integer().notNull(),
    /** When an operator revoked it; null: it is valid. */
    revoked_at_ms: integer(),
    /** The start of the UTC day of its last use; null: it was never used. See `last_uses.ts`. */
    last_used_at_ms: integer(),
  },
  ({ app_slug, request_key, label, key_hash, revoked_at_ms }) => [
    uniqueIndex("app_keys_key_hash").on(key_hash),
    uniqueIndex("app_keys_request").on(app_slug, request_key),
    uniqueIndex("app_keys_label")
      .on(app_slug, label)
      .where(sql`${revoked_at_ms} is null`),
    check(
      "app_keys_key_hash_form",
      sql`length(${key_hash}) = 64 and ${key_hash} not glob '*[^0-9a-f]*'`,
    ),
  ],
);

/**
 * The webhooks of apps. The table checks its rows itself, because operators may write to it with SQL. Only sealed
 * secrets are stored: see `webhook_secrets.ts`.
 */
export const webhooks = sqliteTable(
  "webhooks",
  {
    /** A UUID. A webhook that is deleted and created again under its id has another one. */
    uid: text().primaryKey(),
    app_slug: text().notNull(),
    id: text().notNull(),
    url: text().notNull(),
    events: text("events_json", JSON_TEXT).$type<readonly SubscribableEvent[]>().notNull(),
    /** For `credits.low`, in ascending order. */
    thresholds: text("thresholds_json", JSON_TEXT).$type<readonly number[]>().notNull(),
    /** Since when nothing is delivered, and why; null: it is active. The reason of a pause by its owner is null. */
    paused_at_ms: integer(),
    paused_reason: text(),
    /** The minute of the last successful delivery; null: none. */
    last_success_at_ms: integer(),
    last_error: text(),
    last_error_at_ms: integer(),
    /** The beginning of the response to that delivery, until the next success; null: it had no text. */
    /** When the first delivery failed after the last success; null: the last one succeeded. */
    failing_since_ms: integer(),
    created_at_ms: integer().notNull(),
    secret_key_id: text().notNull(),
    secret_sealed: text().notNull(),
    /** The secret before the last rotation, and until when it signs too; null: it was never rotated. */
    previous_key_id: text(),
    previous_sealed: text(),
    previous_until_ms: integer(),
    /** The audit entries of the last save and of the last rotation, by which a retry is recognised. */
    last_audit_id: text().notNull(),
    rotated_audit_id: text(),
    /** Increases with each save, from 1. A save names the version that it changes. A pause by the service does not count. */
    version: integer().notNull().default(1),
  },
  ({ app_slug, id, events, thresholds }) => [
    uniqueIndex("webhooks_app_id").on(app_slug, id),
    check(
      "webhooks_id",
      sql`length(${id}) between 1 and 64 and ${id} glob '[a-z0-9]*' and ${id} not glob '*[^a-z0-9._-]*'`,
    ),
    check(
      "webhooks_events_json",
      sql`case when json_valid(${events}) then json_type(${events}) = 'array' else 0 end`,
    ),
    check(
      "webhooks_thresholds_json",
      sql`case when json_valid(${thresholds}) then json_type(${thresholds}) = 'array' else 0 end`,
    ),
  ],
);

/** Requested account deletions; see `deletions.ts`. Only the account's object knows whether it is deleted. */
export const deletions = sqliteTable(
  "deletions",
  { identity_id: text().primaryKey(), requested_at_ms: integer().notNull() },
  (table) => [index("deletions_requested_at_ms").on(table.requested_at_ms)],
);

/** One row: where the schedule's reconciliation of payments continues; see `reconciliation_progress.ts`. */
export const paymentReconciliation = sqliteTable("payment_reconciliation", {
  singleton: integer().primaryKey(),
  /** Null: the last pass has ended. */
  cursor: text(),
  ran_at_ms: integer().notNull(),
});

/** SQL: an act of an app's key. The index below serves only queries with the same words. */
export const OF_APPS = sql`actor like 'app_key:%'`;

/**
 * Operators' actions, one row each, written before the action; see `audit.ts`. Ids are UUIDv7, so the primary
 * key gives newest-first lists.
 */
export const audit = sqliteTable(
  "audit",
  {
    id: text().primaryKey(),
    at_ms: integer().notNull(),
    /** The operator's identity, or `app_key:` and the id of an app's key. */
    actor: text().notNull(),
    act: text().notNull(),
    /** The identity or app slug that was changed. */
    subject: text().notNull(),
    reason: text(),
    request_id: text().notNull(),
    details: text("details_json", JSON_TEXT).$type<Readonly<Record<string, unknown>>>().notNull(),
    /** The operator's `Idempotency-Key`, and a digest of the actor and the request. */
    idempotency_key: text(),
    fingerprint: text(),
  },
  (table) => [
    index("audit_subject").on(table.subject, table.id),
    // A request is found by its id, which a response or the log has.
    index("audit_request").on(table.request_id),
    // For deleting old acts of apps' keys: only those have a row in this index.
    index("audit_of_apps").on(table.id).where(OF_APPS),
  ],
);

/** Outcomes of actions. Rows are only added: an action that was refused may succeed when it is sent again. */
export const auditOutcomes = sqliteTable(
  "audit_outcomes",
  {
    audit_id: text().notNull(),
    outcome: text({ enum: ["done", "refused", "replayed"] }).notNull(),
    at_ms: integer().notNull(),
    /** Null: the action changed no field, or it is unknown what it changed. */
    changed: text("changed_json", JSON_TEXT).$type<Changes>(),
  },
  (table) => [primaryKey({ columns: [table.audit_id, table.outcome] })],
);

/** Credits that operators with the role support changed, one row for each attempt; see `support_credits.ts`. */
export const supportCredits = sqliteTable(
  "support_credits",
  {
    /** The operator's entry in `OPERATORS`. */
    operator: text().notNull(),
    /** Whole UTC days since the epoch. */
    day: integer().notNull(),
    id: text().notNull(),
    audit_id: text().notNull(),
    credits: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.operator, table.day, table.id] })],
);

/** Failures by kind and period; see `failures.ts`. */
export const failures = sqliteTable(
  "failures",
  {
    kind: text().notNull(),
    /** Whole periods of ten minutes since the epoch. */
    period: integer().notNull(),
    count: integer().notNull(),
    newest_at_ms: integer().notNull(),
    /** Since when the one that waits longest waits. */
    oldest_at_ms: integer().notNull(),
    reason: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.period] })],
);

/** The last run of each task of the schedule; see `schedule_record.ts`. */
export const scheduledTasks = sqliteTable("scheduled_tasks", {
  task: text().primaryKey(),
  ended_at_ms: integer().notNull(),
  /** Since when every run has failed; null: the last one succeeded. */
  failing_since_ms: integer(),
  reason: text(),
});

/** The id of this database, in one row; see `marker.ts`. */
export const directoryMarker = sqliteTable(
  "directory_marker",
  {
    one: integer().primaryKey(),
    id: text().notNull(),
    /** False: it replaced a lost one, and is not rebuilt yet. Null: not known yet, which counts as false. */
    is_whole: integer({ mode: "boolean" }),
  },
  (table) => [check("directory_marker_one", sql`${table.one} = 1`)],
);

/** One row: the daily copy of this database; see `directory_copy.ts`. */
export const directoryCopy = sqliteTable("directory_copy", {
  singleton: integer().primaryKey(),
  /** How far the present copy has come; null: none is under way. */
  under_way: text("under_way_json"),
  /** The newest complete copy; null: there was none yet. */
  completed_id: text(),
  completed_at_ms: integer(),
  /** The key that sealed people when the newest copy began. */
  key_id: text(),
});

/** Warnings that were sent to the operators; see `alert_records.ts`. */
export const alerts = sqliteTable("alerts", {
  name: text().primaryKey(),
  sent_at_ms: integer().notNull(),
  /** The figure's value in that message; null: it was unknown. */
  value: integer(),
});
