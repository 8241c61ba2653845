ALTER TABLE `jobs` ADD `settle` text DEFAULT 'holder' NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `on_expiry` text DEFAULT 'refund' NOT NULL;