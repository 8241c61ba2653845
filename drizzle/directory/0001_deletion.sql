CREATE TABLE `deletions` (
	`identity_id` text PRIMARY KEY NOT NULL,
	`asked_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deletions_asked_at_ms` ON `deletions` (`asked_at_ms`);--> statement-breakpoint
CREATE TABLE `tombstones` (
	`pseudonym` text PRIMARY KEY NOT NULL,
	`deleted_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `users` ADD `opens_as_returned` integer DEFAULT false NOT NULL;