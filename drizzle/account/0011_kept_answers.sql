CREATE TABLE `kept_answers` (
	`endpoint` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`personal_token_id` text,
	`answer_json` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`endpoint`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `kept_answers_before` (
	`endpoint` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`personal_token_id` text,
	`answer_json` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`endpoint`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `account` ADD `kept_since_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `account` ADD `kept_since_line` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `account` ADD `kept_before_lines` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT OR REPLACE INTO `kept_answers`(`endpoint`, `key`, `fingerprint`, `personal_token_id`, `answer_json`, `created_at_ms`) SELECT `endpoint`, `key`, `fingerprint`, `personal_token_id`, `answer_json`, `created_at_ms` FROM `idempotency` ORDER BY `day`;--> statement-breakpoint
DROP TABLE `idempotency`;
