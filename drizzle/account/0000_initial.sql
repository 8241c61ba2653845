CREATE TABLE `account` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`identity_id` text NOT NULL,
	`plan` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `apps` (
	`slug` text PRIMARY KEY NOT NULL,
	`starter_credits` integer NOT NULL,
	`granted_at_ms` integer,
	`created_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `entries` (
	`line` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`balance_after` integer NOT NULL,
	`job_id` text,
	`app_slug` text,
	`at_ms` integer NOT NULL,
	`oldest_open_job_id` text,
	`projected_line` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `idempotency` (
	`endpoint` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`answer_json` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`endpoint`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`app_slug` text,
	`action` text NOT NULL,
	`reserved` integer NOT NULL,
	`actual_cost` integer NOT NULL,
	`failure` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`line` integer NOT NULL,
	`metadata_json` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `projection_debt` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`projected_line` integer NOT NULL
);
