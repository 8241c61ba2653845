ALTER TABLE `tokens` RENAME TO `personal_tokens`;--> statement-breakpoint
ALTER TABLE `jobs` RENAME COLUMN `token_id` TO `personal_token_id`;--> statement-breakpoint
ALTER TABLE `idempotency` RENAME COLUMN `token_id` TO `personal_token_id`;
