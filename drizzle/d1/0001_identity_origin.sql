ALTER TABLE `identities` ADD `issuer` text;--> statement-breakpoint
ALTER TABLE `identities` ADD `client_id` text;--> statement-breakpoint
CREATE INDEX `identities_provider_issuer` ON `identities` (`provider`,`issuer`);--> statement-breakpoint
ALTER TABLE `sessions` ADD `provider` text;