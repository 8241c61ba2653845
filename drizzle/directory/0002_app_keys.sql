ALTER TABLE `apps` ADD `daily_starter_budget` integer CONSTRAINT "apps_daily_starter_budget" CHECK("daily_starter_budget" is null or (typeof("daily_starter_budget") = 'integer' and "daily_starter_budget" between 0 and 1000000000000));--> statement-breakpoint
ALTER TABLE `apps` ADD `settle` text DEFAULT 'holder' NOT NULL CONSTRAINT "apps_settle" CHECK("settle" in ('holder', 'app'));--> statement-breakpoint
ALTER TABLE `apps` ADD `on_expiry` text DEFAULT 'refund' NOT NULL CONSTRAINT "apps_on_expiry" CHECK("on_expiry" in ('refund', 'charge'));--> statement-breakpoint
CREATE TABLE `app_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`app_slug` text NOT NULL,
	`label` text NOT NULL,
	`key_hash` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	CONSTRAINT "app_keys_key_hash_form" CHECK(length("app_keys"."key_hash") = 64 and "app_keys"."key_hash" not glob '*[^0-9a-f]*')
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `app_keys_key_hash` ON `app_keys` (`key_hash`);--> statement-breakpoint
CREATE INDEX `app_keys_app_slug` ON `app_keys` (`app_slug`);
