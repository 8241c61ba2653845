CREATE TABLE `alerts` (
	`name` text PRIMARY KEY NOT NULL,
	`sent_at_ms` integer NOT NULL,
	`value` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `app_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`app_slug` text NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`paused_at_ms` integer,
	`message` text,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `app_events_app` ON `app_events` (`app_slug`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `app_events_event_id` ON `app_events` (`event_id`);--> statement-breakpoint
CREATE TABLE `app_icons` (
	`hash` text PRIMARY KEY NOT NULL,
	`media_type` text NOT NULL,
	`bytes` blob NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `app_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`app_slug` text NOT NULL,
	`request_key` text,
	`label` text NOT NULL,
	`last_four` text NOT NULL,
	`key_hash` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`revoked_at_ms` integer,
	`last_used_at_ms` integer,
	CONSTRAINT "app_keys_key_hash_form" CHECK(length("app_keys"."key_hash") = 64 and "app_keys"."key_hash" not glob '*[^0-9a-f]*')
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `app_keys_key_hash` ON `app_keys` (`key_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `app_keys_request` ON `app_keys` (`app_slug`,`request_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `app_keys_label` ON `app_keys` (`app_slug`,`label`) WHERE "app_keys"."revoked_at_ms" is null;--> statement-breakpoint
CREATE TABLE `apps` (
	`slug` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`starter_credits` integer NOT NULL,
	`origins_json` text DEFAULT '[]' NOT NULL,
	`created_at_ms` integer NOT NULL,
	`daily_starter_budget` integer,
	`settle` text DEFAULT 'holder' NOT NULL,
	`on_expiry` text DEFAULT 'refund' NOT NULL,
	`max_overage_percent` integer,
	`upstream_providers_json` text DEFAULT '[]' NOT NULL,
	`icon` text,
	`icon_hash` text,
	`color` text,
	`suggested_cap_json` text,
	`starter_excluded_domains_json` text DEFAULT '[]' NOT NULL,
	`paused_at_ms` integer,
	`pause_message` text,
	`starter_expires_after_days` integer,
	`starter_only_here` integer DEFAULT false NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`last_audit_id` text,
	CONSTRAINT "apps_slug" CHECK(typeof("apps"."slug") = 'text' and length("apps"."slug") between 1 and 64 and "apps"."slug" glob '[a-z0-9]*' and "apps"."slug" not glob '*[^a-z0-9._-]*'),
	CONSTRAINT "apps_name" CHECK(typeof("apps"."name") = 'text' and length("apps"."name") between 1 and 200),
	CONSTRAINT "apps_starter_credits" CHECK(typeof("apps"."starter_credits") = 'integer' and "apps"."starter_credits" between 0 and 1000000000000),
	CONSTRAINT "apps_origins_json" CHECK(typeof("apps"."origins_json") = 'text' and case when json_valid("apps"."origins_json") then json_type("apps"."origins_json") = 'array' else 0 end),
	CONSTRAINT "apps_created_at_ms" CHECK(typeof("apps"."created_at_ms") = 'integer'),
	CONSTRAINT "apps_daily_starter_budget" CHECK("apps"."daily_starter_budget" is null or (typeof("apps"."daily_starter_budget") = 'integer' and "apps"."daily_starter_budget" between 0 and 1000000000000)),
	CONSTRAINT "apps_starter_expires_after_days" CHECK("apps"."starter_expires_after_days" is null or (typeof("apps"."starter_expires_after_days") = 'integer' and "apps"."starter_expires_after_days" between 1 and 3650)),
	CONSTRAINT "apps_starter_only_here" CHECK("apps"."starter_only_here" in (0, 1)),
	CONSTRAINT "apps_settle" CHECK("apps"."settle" in ('holder', 'app')),
	CONSTRAINT "apps_on_expiry" CHECK("apps"."on_expiry" in ('refund', 'charge')),
	CONSTRAINT "apps_max_overage_percent" CHECK("apps"."max_overage_percent" is null or (typeof("apps"."max_overage_percent") = 'integer' and "apps"."max_overage_percent" between 0 and 1000)),
	CONSTRAINT "apps_upstream_providers_json" CHECK(typeof("apps"."upstream_providers_json") = 'text' and case when json_valid("apps"."upstream_providers_json") then json_type("apps"."upstream_providers_json") = 'array' else 0 end),
	CONSTRAINT "apps_icon_hash" CHECK("apps"."icon_hash" is null or (length("apps"."icon_hash") = 32 and "apps"."icon_hash" not glob '*[^0-9a-f]*')),
	CONSTRAINT "apps_color" CHECK("apps"."color" is null or (length("apps"."color") = 7 and "apps"."color" glob '#*' and substr("apps"."color", 2) not glob '*[^0-9a-f]*')),
	CONSTRAINT "apps_suggested_cap_json" CHECK("apps"."suggested_cap_json" is null or case when json_valid("apps"."suggested_cap_json") then "apps"."suggested_cap_json" ->> 'credits' >= 0 and "apps"."suggested_cap_json" ->> 'period' is not null else 0 end),
	CONSTRAINT "apps_starter_excluded_domains_json" CHECK(typeof("apps"."starter_excluded_domains_json") = 'text' and case when json_valid("apps"."starter_excluded_domains_json") then json_type("apps"."starter_excluded_domains_json") = 'array' else 0 end)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `audit` (
	`id` text PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL,
	`actor` text NOT NULL,
	`act` text NOT NULL,
	`subject` text NOT NULL,
	`reason` text,
	`request_id` text NOT NULL,
	`details_json` text NOT NULL,
	`idempotency_key` text,
	`fingerprint` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_subject` ON `audit` (`subject`,`id`);--> statement-breakpoint
CREATE INDEX `audit_request` ON `audit` (`request_id`);--> statement-breakpoint
CREATE INDEX `audit_of_apps` ON `audit` (`id`) WHERE actor like 'app_key:%';--> statement-breakpoint
CREATE TABLE `audit_outcomes` (
	`audit_id` text NOT NULL,
	`outcome` text NOT NULL,
	`at_ms` integer NOT NULL,
	`changed_json` text,
	PRIMARY KEY(`audit_id`, `outcome`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `deletions` (
	`identity_id` text PRIMARY KEY NOT NULL,
	`requested_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deletions_requested_at_ms` ON `deletions` (`requested_at_ms`);--> statement-breakpoint
CREATE TABLE `directory_copy` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`under_way_json` text,
	`completed_id` text,
	`completed_at_ms` integer,
	`key_id` text
);
--> statement-breakpoint
CREATE TABLE `directory_marker` (
	`one` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`is_whole` integer,
	CONSTRAINT "directory_marker_one" CHECK("directory_marker"."one" = 1)
);
--> statement-breakpoint
CREATE TABLE `failures` (
	`kind` text NOT NULL,
	`period` integer NOT NULL,
	`count` integer NOT NULL,
	`newest_at_ms` integer NOT NULL,
	`oldest_at_ms` integer NOT NULL,
	`reason` text NOT NULL,
	PRIMARY KEY(`kind`, `period`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `payment_reconciliation` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`cursor` text,
	`ran_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `plans` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`recurring_json` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`last_audit_id` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `scheduled_tasks` (
	`task` text PRIMARY KEY NOT NULL,
	`ended_at_ms` integer NOT NULL,
	`failing_since_ms` integer,
	`reason` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `support_credits` (
	`operator` text NOT NULL,
	`day` integer NOT NULL,
	`id` text NOT NULL,
	`audit_id` text NOT NULL,
	`credits` integer NOT NULL,
	PRIMARY KEY(`operator`, `day`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `webhooks` (
	`uid` text PRIMARY KEY NOT NULL,
	`app_slug` text NOT NULL,
	`id` text NOT NULL,
	`url` text NOT NULL,
	`events_json` text NOT NULL,
	`thresholds_json` text NOT NULL,
	`paused_at_ms` integer,
	`paused_reason` text,
	`last_success_at_ms` integer,
	`last_error` text,
	`last_error_at_ms` integer,
	`failing_since_ms` integer,
	`created_at_ms` integer NOT NULL,
	`secret_key_id` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`previous_key_id` text,
	`previous_sealed` text,
	`previous_until_ms` integer,
	`last_audit_id` text NOT NULL,
	`rotated_audit_id` text,
	`version` integer DEFAULT 1 NOT NULL,
	CONSTRAINT "webhooks_id" CHECK(length("webhooks"."id") between 1 and 64 and "webhooks"."id" glob '[a-z0-9]*' and "webhooks"."id" not glob '*[^a-z0-9._-]*'),
	CONSTRAINT "webhooks_events_json" CHECK(case when json_valid("webhooks"."events_json") then json_type("webhooks"."events_json") = 'array' else 0 end),
	CONSTRAINT "webhooks_thresholds_json" CHECK(case when json_valid("webhooks"."thresholds_json") then json_type("webhooks"."thresholds_json") = 'array' else 0 end)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_app_id` ON `webhooks` (`app_slug`,`id`);--> statement-breakpoint
CREATE TABLE `oauth_clients` (
	`app_slug` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`redirect_uris_json` text NOT NULL,
	`post_logout_redirect_uris_json` text NOT NULL,
	`public` integer NOT NULL,
	`pkce_optional` integer NOT NULL,
	`secret_hash` text,
	`old_secrets_json` text DEFAULT '[]' NOT NULL,
	`secret_audit_id` text,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer,
	`deleted_at_ms` integer,
	`version` integer DEFAULT 1 NOT NULL,
	`last_audit_id` text NOT NULL,
	PRIMARY KEY(`app_slug`, `id`),
	CONSTRAINT "oauth_clients_id" CHECK(length("oauth_clients"."id") between 1 and 64 and "oauth_clients"."id" glob '[a-z0-9]*' and "oauth_clients"."id" not glob '*[^a-z0-9._-]*'),
	CONSTRAINT "oauth_clients_redirect_uris_json" CHECK(case when json_valid("oauth_clients"."redirect_uris_json") then json_type("oauth_clients"."redirect_uris_json") = 'array' else 0 end),
	CONSTRAINT "oauth_clients_post_logout_redirect_uris_json" CHECK(case when json_valid("oauth_clients"."post_logout_redirect_uris_json") then json_type("oauth_clients"."post_logout_redirect_uris_json") = 'array' else 0 end),
	CONSTRAINT "oauth_clients_secret" CHECK("oauth_clients"."public" = 0 or "oauth_clients"."secret_hash" is null),
	CONSTRAINT "oauth_clients_old_secrets_json" CHECK(case when json_valid("oauth_clients"."old_secrets_json") then json_type("oauth_clients"."old_secrets_json") = 'array' else 0 end),
	CONSTRAINT "oauth_clients_pkce" CHECK("oauth_clients"."pkce_optional" = 0 or "oauth_clients"."public" = 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `resources` (
	`app_slug` text NOT NULL,
	`id` text NOT NULL,
	`uri` text NOT NULL,
	`scopes_json` text NOT NULL,
	`charges` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`last_audit_id` text NOT NULL,
	PRIMARY KEY(`app_slug`, `id`),
	CONSTRAINT "resources_scopes_json" CHECK(case when json_valid("resources"."scopes_json") then json_type("resources"."scopes_json") = 'array' else 0 end)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `resources_uri` ON `resources` (`uri`);--> statement-breakpoint
CREATE TABLE `debts` (
	`person_id` text NOT NULL,
	`id` text NOT NULL,
	`credits` integer NOT NULL,
	`owed_by` text,
	`is_taken` integer NOT NULL,
	`may_change` integer NOT NULL,
	PRIMARY KEY(`person_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `identities` (
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`issuer` text NOT NULL,
	`client_id` text NOT NULL,
	`passkey_name` text,
	`algorithm` integer,
	`public_key` text,
	`sign_count` integer,
	`last_used_at_ms` integer,
	PRIMARY KEY(`provider`, `subject`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identities_user_id` ON `identities` (`user_id`);--> statement-breakpoint
CREATE INDEX `identities_provider_issuer` ON `identities` (`provider`,`issuer`);--> statement-breakpoint
CREATE INDEX `identities_issuer_subject` ON `identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`secret_hash` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`provider` text,
	`browser` text,
	`city` text,
	`country` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_id` ON `sessions` (`id`);--> statement-breakpoint
CREATE INDEX `sessions_user_id` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires_at_ms` ON `sessions` (`expires_at_ms`);--> statement-breakpoint
CREATE TABLE `tombstones` (
	`pseudonym` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`left_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tombstones_person_id` ON `tombstones` (`person_id`);--> statement-breakpoint
CREATE TABLE `unkept` (
	`kind` text NOT NULL,
	`id` text NOT NULL,
	`version` text NOT NULL,
	`due_at_ms` integer NOT NULL,
	PRIMARY KEY(`kind`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `unkept_due_at_ms` ON `unkept` (`due_at_ms`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`email` text,
	`email_domain` text GENERATED ALWAYS AS (lower(substr(email, instr(email, '@') + 1))) VIRTUAL,
	`email_verified` integer DEFAULT false NOT NULL,
	`created_at_ms` integer NOT NULL,
	`opens_as_returned` integer DEFAULT false NOT NULL,
	`person_id` text NOT NULL,
	`recovery_code_hash` text,
	`recovery_code_at_ms` integer,
	`language` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `users_recovery_code_hash` ON `users` (`recovery_code_hash`) WHERE recovery_code_hash is not null;--> statement-breakpoint
CREATE INDEX `users_email` ON `users` (lower("email"));--> statement-breakpoint
CREATE INDEX `users_email_domain` ON `users` (`email_domain`,`created_at_ms`);--> statement-breakpoint
CREATE INDEX `users_person_id` ON `users` (`person_id`);--> statement-breakpoint
-- Each change of a person is noted in its own transaction: see `unkept` in src/identity/builtin/schema.ts.
CREATE TRIGGER users_added AFTER INSERT ON users BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', new.id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER users_changed AFTER UPDATE OF name, email, email_verified, person_id, recovery_code_hash, language ON users BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', new.id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER users_deleted AFTER DELETE ON users BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', old.id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER identities_added AFTER INSERT ON identities BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', new.user_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER identities_deleted AFTER DELETE ON identities BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', old.user_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER tombstones_added AFTER INSERT ON tombstones BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('tombstone', new.pseudonym, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER tombstones_changed AFTER UPDATE ON tombstones BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('tombstone', new.pseudonym, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER debts_added AFTER INSERT ON debts BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', new.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER debts_changed AFTER UPDATE ON debts BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', old.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', new.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER debts_deleted AFTER DELETE ON debts BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', old.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
