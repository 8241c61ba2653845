ALTER TABLE `tokens` ADD `upstream` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `tokens` ADD `session_id` text;--> statement-breakpoint
UPDATE `tokens` SET `upstream` = 1 WHERE `access` = 'write' AND `app_slugs_json` IS NULL AND `cap_credits` IS NULL;
