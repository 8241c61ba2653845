/** The tables of OAuth clients and protected resources, in D1 `DIRECTORY`. */
import { sql } from "drizzle-orm";
import {
  check,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/**
 * OAuth clients of apps; see `domain/oauth_client.ts`. Of a confidential client's secret only the SHA-256 is
 * stored, in hexadecimal.
 */
export const oauthClients = sqliteTable(
  "oauth_clients",
  {
    app_slug: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    redirect_uris: text("redirect_uris_json", { mode: "json" })
      .$type<readonly string[]>()
      .notNull(),
    post_logout_redirect_uris: text("post_logout_redirect_uris_json", { mode: "json" })
      .$type<readonly string[]>()
      .notNull(),
    public: integer({ mode: "boolean" }).notNull(),
    pkce_optional: integer({ mode: "boolean" }).notNull(),
    /** Null: a public client. */
    secret_hash: text(),
    /** Replaced secrets that still work, `{ hash, until_ms }` each. */
    old_secrets_json: text().notNull().default("[]"),
    /** The audit entry of the last replacement, by which a retry is recognised. */
    secret_audit_id: text(),
    created_at_ms: integer().notNull(),
    /** The start of the UTC day of its last authentication; null: it never authenticated. See `last_uses.ts`. */
    last_used_at_ms: integer(),
    /** Null: not deleted. The row stays, because its id is not used again: people's old connections name it. */
    deleted_at_ms: integer(),
    /** Increases with each save, from 1. A save names the version that it changes. */
    version: integer().notNull().default(1),
    /** The audit entry of the last save, by which a retry of that save is recognised. */
    last_audit_id: text().notNull(),
  },
  ({ app_slug, id, redirect_uris, post_logout_redirect_uris, ...client }) => [
    primaryKey({ columns: [app_slug, id] }),
    check(
      "oauth_clients_id",
      sql`length(${id}) between 1 and 64 and ${id} glob '[a-z0-9]*' and ${id} not glob '*[^a-z0-9._-]*'`,
    ),
    check(
      "oauth_clients_redirect_uris_json",
      sql`case when json_valid(${redirect_uris}) then json_type(${redirect_uris}) = 'array' else 0 end`,
    ),
    check(
      "oauth_clients_post_logout_redirect_uris_json",
      sql`case when json_valid(${post_logout_redirect_uris}) then json_type(${post_logout_redirect_uris}) = 'array' else 0 end`,
    ),
    check("oauth_clients_secret", sql`${client.public} = 0 or ${client.secret_hash} is null`),
    check(
      "oauth_clients_old_secrets_json",
      sql`case when json_valid(${client.old_secrets_json}) then json_type(${client.old_secrets_json}) = 'array' else 0 end`,
    ),
    // A public client proves nothing without PKCE.
    check("oauth_clients_pkce", sql`${client.pkce_optional} = 0 or ${client.public} = 0`),
  ],
);

/** Protected resources of apps. No two apps own one address. */
export const resources = sqliteTable(
  "resources",
  {
    app_slug: text().notNull(),
    id: text().notNull(),
    uri: text().notNull(),
    scopes: text("scopes_json", { mode: "json" }).$type<readonly string[]>().notNull(),
    charges: integer({ mode: "boolean" }).notNull(),
    created_at_ms: integer().notNull(),
    /** As of clients. */
    version: integer().notNull().default(1),
    last_audit_id: text().notNull(),
  },
  ({ app_slug, id, uri, scopes }) => [
    primaryKey({ columns: [app_slug, id] }),
    uniqueIndex("resources_uri").on(uri),
    check(
      "resources_scopes_json",
      sql`case when json_valid(${scopes}) then json_type(${scopes}) = 'array' else 0 end`,
    ),
  ],
);
