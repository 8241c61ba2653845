/** The tables of the registry of apps, in D1 `DIRECTORY`. */
import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

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
