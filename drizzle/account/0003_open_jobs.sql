ALTER TABLE `entries` ADD `open_jobs` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `idempotency` ADD `token_id` text;--> statement-breakpoint
UPDATE `entries` SET `open_jobs` = (SELECT count(*) FROM `jobs` WHERE `status` = 'started')
WHERE `line` = (SELECT max(`line`) FROM `entries`);
