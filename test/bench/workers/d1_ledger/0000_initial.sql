create table accounts (identity_id text primary key, id text not null, plan text not null,
  credits integer not null, created_at_ms integer not null);
--> statement-breakpoint
create table jobs (id text primary key, identity_id text not null, status text not null,
  app_slug text, action text not null, reserved integer not null, actual_cost integer not null,
  created_at_ms integer not null, updated_at_ms integer not null, metadata_json text);
--> statement-breakpoint
create index jobs_by_account on jobs (identity_id, id);
--> statement-breakpoint
create table entries (line integer primary key, identity_id text not null, kind text not null,
  amount integer not null, job_id text, at_ms integer not null);
--> statement-breakpoint
create index entries_by_account on entries (identity_id, line);
