CREATE TABLE `kept_key_pages` (
	`slot` integer PRIMARY KEY NOT NULL,
	`last_line` integer NOT NULL,
	`newest_ms` integer NOT NULL,
	`keys_json` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `entries` ADD `kept_key` text;--> statement-breakpoint
ALTER TABLE `entries` ADD `keyed_before_line` integer;--> statement-breakpoint
ALTER TABLE `entries` ADD `keyed_lines` integer DEFAULT 0 NOT NULL;