CREATE TABLE `account_days` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`app_slug` text NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `app_slug`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_days_day` ON `account_days` (`day`,`app_slug`);--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`identity_id` text NOT NULL,
	`plan` text NOT NULL,
	`plan_version` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`line` integer NOT NULL,
	`credits` integer NOT NULL,
	`reserved` integer NOT NULL,
	`bought` integer DEFAULT 0 NOT NULL,
	`paid_json` text,
	`updated_at_ms` integer NOT NULL,
	`suspended_at_ms` integer,
	`due_at_ms` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `accounts_identity_id` ON `accounts` (`identity_id`);--> statement-breakpoint
CREATE INDEX `accounts_created` ON `accounts` (created_at_ms desc,`id`);--> statement-breakpoint
CREATE INDEX `accounts_plan` ON `accounts` (`plan`,`plan_version`,`identity_id`) WHERE plan_version > 0;--> statement-breakpoint
CREATE INDEX `accounts_suspended` ON `accounts` (created_at_ms desc,`id`) WHERE suspended_at_ms is not null;--> statement-breakpoint
CREATE TABLE `archive_heads` (
	`account_id` text PRIMARY KEY NOT NULL,
	`line` integer NOT NULL,
	`sha256` text NOT NULL,
	`written_at_ms` integer NOT NULL,
	`storage_percent` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `archive_heads_storage_percent` ON `archive_heads` (`storage_percent`) WHERE storage_percent is not null;--> statement-breakpoint
CREATE TABLE `carried_totals` (
	`day` integer NOT NULL,
	`what` text NOT NULL,
	`credits` integer NOT NULL,
	`minor` integer NOT NULL,
	`nanos` integer NOT NULL,
	PRIMARY KEY(`day`, `what`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `comparison` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`after_id` text NOT NULL,
	`began_at_ms` integer NOT NULL,
	`accounts` integer NOT NULL,
	`compared` integer DEFAULT 0 NOT NULL,
	`totals_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `daily_owed` (
	`day` integer NOT NULL,
	`currency` text NOT NULL,
	`credits` integer NOT NULL,
	`minor` integer NOT NULL,
	`nanos` integer NOT NULL,
	PRIMARY KEY(`day`, `currency`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `daily_revenue` (
	`day` integer NOT NULL,
	`package_id` text NOT NULL,
	`currency` text NOT NULL,
	`purchases` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	`refunded_minor` integer NOT NULL,
	PRIMARY KEY(`day`, `package_id`, `currency`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `daily_totals` (
	`day` integer NOT NULL,
	`app_slug` text NOT NULL,
	`granted` integer NOT NULL,
	`reserved` integer NOT NULL,
	`settled` integer NOT NULL,
	`refunded` integer NOT NULL,
	`job_refunded` integer NOT NULL,
	`purchased` integer NOT NULL,
	`adjusted` integer NOT NULL,
	`taken_back` integer NOT NULL,
	`forfeited` integer NOT NULL,
	`expired` integer NOT NULL,
	`jobs` integer NOT NULL,
	`failed` integer NOT NULL,
	`active_accounts` integer NOT NULL,
	`adjusted_bought` integer DEFAULT 0 NOT NULL,
	`settled_bought` integer DEFAULT 0 NOT NULL,
	`job_refunded_bought` integer DEFAULT 0 NOT NULL,
	`expired_bought` integer DEFAULT 0 NOT NULL,
	`forfeited_bought` integer DEFAULT 0 NOT NULL,
	`held` integer DEFAULT 0 NOT NULL,
	`holders` integer DEFAULT 0 NOT NULL,
	`newest_at_ms` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`day`, `app_slug`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `day_minutes` (
	`day` integer NOT NULL,
	`app_slug` text NOT NULL,
	`minute` integer NOT NULL,
	`settled` integer NOT NULL,
	`job_refunded` integer NOT NULL,
	`jobs` integer NOT NULL,
	`failed` integer NOT NULL,
	PRIMARY KEY(`day`, `app_slug`, `minute`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `differences` (
	`account_id` text NOT NULL,
	`place` text NOT NULL,
	`what` text NOT NULL,
	`expected` integer,
	`found` integer,
	`found_at_ms` integer NOT NULL,
	PRIMARY KEY(`account_id`, `place`, `what`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `forgotten_accounts` (
	`id` text PRIMARY KEY NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `grants` (
	`account_id` text NOT NULL,
	`app_slug` text NOT NULL,
	`amount` integer NOT NULL,
	`granted_at_ms` integer NOT NULL,
	PRIMARY KEY(`account_id`, `app_slug`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `grants_app` ON `grants` (`app_slug`,`granted_at_ms`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`app_slug` text,
	`action` text NOT NULL,
	`status` text NOT NULL,
	`reserved` integer NOT NULL,
	`actual_cost` integer NOT NULL,
	`refunded` integer NOT NULL,
	`step` integer NOT NULL,
	`spent` integer,
	`failure` text,
	`failure_reason` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`allowance_path` text,
	`started_by_json` text,
	`line` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `lists` (
	`name` text PRIMARY KEY NOT NULL,
	`from_ms` integer NOT NULL,
	`as_of_ms` integer NOT NULL,
	`rows_json` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upkeep` (
	`task` text PRIMARY KEY NOT NULL,
	`after_id` text NOT NULL,
	`found_json` text
) WITHOUT ROWID;
