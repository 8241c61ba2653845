CREATE TABLE `account` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`identity_id` text NOT NULL,
	`plan` text NOT NULL,
	`plan_json` text,
	`created_at_ms` integer NOT NULL,
	`suspended_at_ms` integer,
	`suspended_public_reason` text,
	`deleted_at_ms` integer,
	`erasure` text,
	`returned` integer DEFAULT false NOT NULL,
	`left_credits` integer DEFAULT 0 NOT NULL,
	`events_after_line` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `allowances` (
	`id` text PRIMARY KEY NOT NULL,
	`parent_id` text,
	`parent_family_id` text,
	`path` text NOT NULL,
	`kind` text NOT NULL,
	`client_id` text,
	`client_host` text,
	`resource` text,
	`resource_app_slug` text,
	`label` text NOT NULL,
	`app_slug` text,
	`scopes` text NOT NULL,
	`session_id` text NOT NULL,
	`signin_method` text,
	`ends_with_session` integer NOT NULL,
	`app_slugs_json` text,
	`caps_json` text NOT NULL,
	`stored_bytes` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer,
	`expires_at_ms` integer NOT NULL,
	`revoked_at_ms` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `approvals` (
	`id` text PRIMARY KEY NOT NULL,
	`allowance_id` text NOT NULL,
	`app_slug` text NOT NULL,
	`action` text NOT NULL,
	`credits` integer NOT NULL,
	`cap_credits` integer NOT NULL,
	`cap_period` text NOT NULL,
	`state` text NOT NULL,
	`expires_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `apps` (
	`slug` text PRIMARY KEY NOT NULL,
	`starter_credits` integer NOT NULL,
	`granted_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`access` text NOT NULL,
	`is_registered` integer DEFAULT true NOT NULL,
	`opened_after_line` integer NOT NULL,
	`stopped_after_job_id` text,
	`started_jobs` text DEFAULT 'keep' NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `archive` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`line` integer NOT NULL,
	`sha256` text,
	`pending_line` integer,
	`requested_line` integer NOT NULL,
	`failing_since_ms` integer
);
--> statement-breakpoint
CREATE TABLE `balance_forward` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`line` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`balance` integer NOT NULL,
	`purchased` integer NOT NULL,
	`sha256` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `base_payments` (
	`number` integer NOT NULL,
	`id` text NOT NULL,
	`credits` integer NOT NULL,
	`currency` text,
	`paid_minor` integer NOT NULL,
	`paid_credits` integer NOT NULL,
	`before_credits` integer NOT NULL,
	PRIMARY KEY(`before_credits`, `number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `cap_claims` (
	`claimed_until_ms` integer NOT NULL,
	`job_id` text NOT NULL,
	PRIMARY KEY(`claimed_until_ms`, `job_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `codes` (
	`code_hash` text PRIMARY KEY NOT NULL,
	`family_id` text NOT NULL,
	`code_challenge` text,
	`created_at_ms` integer NOT NULL,
	`used_at_ms` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `data_format` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`migrations` integer NOT NULL,
	`oldest_build` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `debts` (
	`id` text PRIMARY KEY NOT NULL,
	`credits` integer NOT NULL,
	`at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `entries` (
	`line` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`balance_after` integer NOT NULL,
	`reserved_after` integer DEFAULT 0 NOT NULL,
	`job_id` text,
	`app_slug` text,
	`note` text,
	`at_ms` integer NOT NULL,
	`open_jobs` integer DEFAULT 0 NOT NULL,
	`recent_after_job_id` text,
	`recent_jobs` integer DEFAULT 0 NOT NULL,
	`previous_line` integer,
	`bought_after` integer DEFAULT 0 NOT NULL,
	`reserved_bought_after` integer DEFAULT 0 NOT NULL,
	`scoped_json` text,
	`lot_id` text,
	`terms_json` text,
	`paid_json` text
);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`day` integer NOT NULL,
	`caller` text NOT NULL,
	`endpoint` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`response_json` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`day`, `caller`, `endpoint`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`app_slug` text,
	`action` text NOT NULL,
	`cost_estimate` integer NOT NULL,
	`reserved` integer NOT NULL,
	`actual_cost` integer NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`from_json` text,
	`step` integer DEFAULT 0 NOT NULL,
	`spent` integer,
	`done` real,
	`message` text,
	`progress_json` text,
	`failure` text,
	`failure_reason` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`line` integer NOT NULL,
	`metadata_json` text,
	`allowance_path` text,
	`started_by_json` text,
	`is_capped` integer DEFAULT false NOT NULL,
	`approved` integer DEFAULT 0 NOT NULL,
	`takings_json` text,
	`claimed_until_ms` integer,
	`settle` text DEFAULT 'holder' NOT NULL,
	`on_expiry` text DEFAULT 'refund' NOT NULL,
	`max_overage_percent` integer,
	`idempotency_caller` text,
	`idempotency_key` text,
	`idempotency_fingerprint` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `kept_payments` (
	`payment_hash` text PRIMARY KEY NOT NULL,
	`credits` integer NOT NULL,
	`paid_minor` integer NOT NULL,
	`reversals_json` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `left_jobs` (
	`last_id` text PRIMARY KEY NOT NULL,
	`after_id` text NOT NULL,
	`line` integer NOT NULL,
	`sha256` text NOT NULL,
	`recalled_at_ms` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `left_segments` (
	`first` integer PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`sha256` text NOT NULL,
	`recalled_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `long_jobs` (
	`expires_at_ms` integer NOT NULL,
	`job_id` text NOT NULL,
	PRIMARY KEY(`expires_at_ms`, `job_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `lots` (
	`id` text PRIMARY KEY NOT NULL,
	`origin` text NOT NULL,
	`bought` integer NOT NULL,
	`app_slugs_json` text,
	`credits` integer NOT NULL,
	`credits_left` integer NOT NULL,
	`credits_held` integer NOT NULL,
	`expires_at_ms` integer,
	`line` integer NOT NULL,
	`note` text,
	`warnings` integer NOT NULL,
	`paid_json` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `purchase_entries` (
	`line` integer PRIMARY KEY NOT NULL,
	`checkout_session_id` text NOT NULL,
	`amount_minor` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `purchase_reversals` (
	`payment_intent_id` text NOT NULL,
	`source_id` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`state` text NOT NULL,
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
	`refunded_minor` integer NOT NULL,
	`created_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `purchases_payment_intent_id_unique` ON `purchases` (`payment_intent_id`);--> statement-breakpoint
CREATE INDEX `purchases_created_at_ms` ON `purchases` (`created_at_ms`,`checkout_session_id`);--> statement-breakpoint
CREATE TABLE `read_model_behind` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`since_ms` integer NOT NULL,
	`rebuilt_to_job_id` text
);
--> statement-breakpoint
CREATE TABLE `stuck_jobs` (
	`job_id` text PRIMARY KEY NOT NULL,
	`since_ms` integer NOT NULL,
	`retry_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `token_families` (
	`id` text PRIMARY KEY NOT NULL,
	`allowance_id` text NOT NULL,
	`scopes` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`needs_assertion` integer NOT NULL,
	`generation` integer NOT NULL,
	`rotated_at_ms` integer NOT NULL,
	`is_used` integer NOT NULL,
	`auth_time_ms` integer NOT NULL,
	`nonce` text,
	`session_id` text NOT NULL,
	`signin_method` text,
	`session_ends_at_ms` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `top_up` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`plan_json` text NOT NULL,
	`customer_id` text NOT NULL,
	`payment_method_id` text NOT NULL,
	`card` text NOT NULL,
	`off_reason` text,
	`failures` integer NOT NULL,
	`retry_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `top_up_setup` (
	`singleton` integer PRIMARY KEY NOT NULL,
	`nonce` text NOT NULL,
	`plan_json` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `top_ups` (
	`number` integer PRIMARY KEY NOT NULL,
	`attempt` integer NOT NULL,
	`outcome` text NOT NULL,
	`failure` text,
	`credits` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`package_json` text NOT NULL,
	`customer_id` text NOT NULL,
	`payment_method_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`asked` integer NOT NULL,
	`first_asked_at_ms` integer,
	`asked_at_ms` integer,
	`next_at_ms` integer NOT NULL,
	`payment_intent_id` text
);
--> statement-breakpoint
CREATE TABLE `unnumbered_events` (
	`id` integer PRIMARY KEY NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`app_slug` text NOT NULL,
	`line` integer NOT NULL,
	`details_json` text NOT NULL,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `upstream_tokens` (
	`provider` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`scope` text,
	`expires_at_ms` integer,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	`revision` text NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`issuer` text,
	`client_id` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upstream_unlinks` (
	`provider` text PRIMARY KEY NOT NULL,
	`linked_at_ms` integer NOT NULL
) WITHOUT ROWID;
