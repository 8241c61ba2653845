CREATE TABLE `tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`app_slug` text,
	`access` text NOT NULL,
	`app_slugs_json` text,
	`cap_credits` integer,
	`cap_period` text,
	`spent` integer NOT NULL,
	`spent_window` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer,
	`expires_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `jobs` ADD `token_id` text;