ALTER TABLE `accounts` ADD `line` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `credits` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `reserved` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `updated_at_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `accounts` SET (`credits`, `reserved`) = (
	SELECT `account_balances`.`credits`, `account_balances`.`reserved` FROM `account_balances` WHERE `account_id` = `accounts`.`id`
), `updated_at_ms` = `created_at_ms`;--> statement-breakpoint
DROP VIEW `account_balances`;--> statement-breakpoint
ALTER TABLE `accounts` DROP COLUMN `version`;--> statement-breakpoint
CREATE INDEX `accounts_identity_id` ON `accounts` (`identity_id`);--> statement-breakpoint
ALTER TABLE `jobs` DROP COLUMN `metadata_json`;--> statement-breakpoint
ALTER TABLE `jobs` RENAME COLUMN `version` TO `line`;
