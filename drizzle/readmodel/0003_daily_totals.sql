CREATE TABLE `daily_totals` (
	`day` integer NOT NULL,
	`app_slug` text NOT NULL,
	`granted` integer NOT NULL,
	`reserved` integer NOT NULL,
	`settled` integer NOT NULL,
	`refunded` integer NOT NULL,
	`purchased` integer NOT NULL,
	`adjusted` integer NOT NULL,
	`jobs` integer NOT NULL,
	`failed` integer NOT NULL,
	`active_accounts` integer NOT NULL,
	PRIMARY KEY(`day`, `app_slug`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upkeep` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`after_account_id` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `accounts` ADD `days_json` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
UPDATE `accounts` SET `line` = 0;
