CREATE TABLE `forgotten_accounts` (
	`id` text PRIMARY KEY NOT NULL
) WITHOUT ROWID;
