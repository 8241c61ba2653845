ALTER TABLE `upkeep` ADD `closed_before_day` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `upkeep` ADD `closing_before_day` integer DEFAULT 0 NOT NULL;