CREATE TABLE `upstream_tokens` (
	`provider` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`scope` text,
	`expires_at_ms` integer,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	`revision` text NOT NULL,
	`updated_at_ms` integer NOT NULL
) WITHOUT ROWID;
