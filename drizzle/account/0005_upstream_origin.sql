CREATE TABLE `upstream_unlinks` (
	`provider` text PRIMARY KEY NOT NULL,
	`linked_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `upstream_tokens` ADD `issuer` text;--> statement-breakpoint
ALTER TABLE `upstream_tokens` ADD `client_id` text;