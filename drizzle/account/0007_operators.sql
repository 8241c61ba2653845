ALTER TABLE `account` ADD `suspended_at_ms` integer;--> statement-breakpoint
ALTER TABLE `tokens` ADD `admin` integer DEFAULT false NOT NULL;