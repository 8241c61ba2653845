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
CREATE TABLE `audit_outcomes` (
	`audit_id` text NOT NULL,
	`outcome` text NOT NULL,
	`at_ms` integer NOT NULL,
	PRIMARY KEY(`audit_id`, `outcome`)
) WITHOUT ROWID;
