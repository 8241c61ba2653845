CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`identity_id` text NOT NULL,
	`plan` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`version` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `apps` (
	`slug` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`starter_credits` integer NOT NULL,
	`origins_json` text DEFAULT '[]' NOT NULL,
	`created_at_ms` integer NOT NULL
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
CREATE TABLE `identities` (
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`provider`, `subject`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identities_user_id` ON `identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`app_slug` text,
	`action` text NOT NULL,
	`status` text NOT NULL,
	`reserved` integer NOT NULL,
	`actual_cost` integer NOT NULL,
	`failure` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`metadata_json` text,
	`version` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `sessions` (
	`secret_hash` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_id` ON `sessions` (`id`);--> statement-breakpoint
CREATE INDEX `sessions_user_id` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`email` text,
	`email_verified` integer DEFAULT false NOT NULL,
	`created_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE VIEW `account_balances` AS 
  select
    accounts.id as account_id,
    coalesce((select sum(grants.amount) from grants where grants.account_id = accounts.id), 0)
      - coalesce((select sum(iif(jobs.status = 'started', jobs.reserved, jobs.actual_cost))
          from jobs where jobs.account_id = accounts.id), 0) as credits,
    coalesce((select sum(jobs.reserved) from jobs
      where jobs.account_id = accounts.id and jobs.status = 'started'), 0) as reserved
  from accounts
;