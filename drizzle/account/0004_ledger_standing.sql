ALTER TABLE `entries` ADD `reserved_after` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `entries` ADD `note` text;--> statement-breakpoint
ALTER TABLE `entries` ADD `recent_after_job_id` text;--> statement-breakpoint
ALTER TABLE `entries` ADD `recent_jobs` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `entries` SET `reserved_after` = `held`.`reserved` FROM (
	SELECT `posted`.`line`, sum(CASE
		WHEN `kind` IN ('reserve', 'refund') THEN -`amount`
		WHEN `kind` = 'settle' AND `timed_out`.`job_id` IS NULL THEN -`jobs`.`reserved`
		ELSE 0 END) OVER (ORDER BY `posted`.`line`) AS `reserved`
	FROM (SELECT `line`, `kind`, `amount`, `job_id` FROM `entries`) AS `posted`
	LEFT JOIN (SELECT DISTINCT `job_id` FROM `entries` WHERE `kind` = 'refund') AS `timed_out` ON `timed_out`.`job_id` = `posted`.`job_id`
	LEFT JOIN `jobs` ON `jobs`.`id` = `posted`.`job_id`
) AS `held` WHERE `held`.`line` = `entries`.`line`;--> statement-breakpoint
ALTER TABLE `entries` DROP COLUMN `oldest_open_job_id`;--> statement-breakpoint
ALTER TABLE `entries` DROP COLUMN `projected_line`;--> statement-breakpoint
CREATE TABLE `long_jobs` (
	`expires_at_ms` integer NOT NULL,
	`job_id` text NOT NULL,
	PRIMARY KEY(`expires_at_ms`, `job_id`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `long_jobs` SELECT `expires_at_ms`, `id` FROM `jobs` WHERE `status` = 'started';--> statement-breakpoint
UPDATE `entries` SET `recent_after_job_id` = (SELECT max(`id`) FROM `jobs`)
WHERE `line` = (SELECT max(`line`) FROM `entries`);--> statement-breakpoint
CREATE TABLE `stuck_jobs` (
	`job_id` text PRIMARY KEY NOT NULL,
	`since_ms` integer NOT NULL,
	`retry_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `__new_idempotency` (
	`day` integer NOT NULL,
	`endpoint` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`token_id` text,
	`answer_json` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`day`, `endpoint`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_idempotency`(`day`, `endpoint`, `key`, `fingerprint`, `token_id`, `answer_json`, `created_at_ms`) SELECT `created_at_ms` / 86400000, `endpoint`, `key`, `fingerprint`, `token_id`, `answer_json`, `created_at_ms` FROM `idempotency`;--> statement-breakpoint
DROP TABLE `idempotency`;--> statement-breakpoint
ALTER TABLE `__new_idempotency` RENAME TO `idempotency`;--> statement-breakpoint
DROP TABLE `projection_debt`;--> statement-breakpoint
CREATE TABLE `projection_debt` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`since_ms` integer NOT NULL,
	`rebuilt_to_job_id` text
);
