CREATE TABLE `purchase_reversals` (
	`payment_intent_id` text NOT NULL,
	`source_id` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`standing` text NOT NULL,
	`updated_at_ms` integer NOT NULL,
	PRIMARY KEY(`payment_intent_id`, `source_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `purchases` (
	`checkout_session_id` text PRIMARY KEY NOT NULL,
	`payment_intent_id` text NOT NULL,
	`package_id` text NOT NULL,
	`package_name` text NOT NULL,
	`credits` integer NOT NULL,
	`paid_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`taken_back` integer NOT NULL,
	`created_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `purchases_payment_intent_id_unique` ON `purchases` (`payment_intent_id`);