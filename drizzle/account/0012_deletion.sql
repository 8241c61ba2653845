ALTER TABLE `account` ADD `deleted_at_ms` integer;--> statement-breakpoint
ALTER TABLE `account` ADD `erasure` text;--> statement-breakpoint
ALTER TABLE `account` ADD `returned` integer DEFAULT false NOT NULL;