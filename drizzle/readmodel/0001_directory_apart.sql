DROP TABLE `apps`;--> statement-breakpoint
DROP TABLE `identities`;--> statement-breakpoint
DROP TABLE `sessions`;--> statement-breakpoint
DROP TABLE `users`;