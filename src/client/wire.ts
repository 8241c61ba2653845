/**
 * What the service answers, field for field as on the wire (`/openapi.json`). Times are RFC 3339 in UTC;
 * credits are whole numbers.
 */
import type {
  CREATED_ITEM_REFUSALS,
  RefusalCode,
  SETTLED_ITEM_REFUSALS,
} from "../domain/refusal_codes.ts";

export interface Account {
  readonly id: string;
  readonly identity_id: string;
  readonly plan: string;
  /** Available now; may be negative after a job cost more than its estimate. */
  readonly credits: number;
}

/** An app the account was opened for. */
export interface AppEntry {
  readonly slug: string;
  readonly starter_credits: number;
  readonly granted: boolean;
  readonly granted_at: string | null;
}

export interface Wallet {
  readonly account: Account;
  readonly apps: readonly AppEntry[];
  /** The app that was asked for; `granted` only in the answer that made the grant. */
  readonly app_grant: {
    readonly slug: string;
    readonly starter_credits: number;
    readonly granted: boolean;
  } | null;
}

export const JOB_STATUSES = ["started", "completed", "failed"] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** Free-form; `description` and `previewUrl` are shown to people. */
export type Metadata = Readonly<Record<string, unknown>>;

export interface Job {
  readonly id: string;
  readonly app_slug: string | null;
  readonly action: string;
  readonly status: JobStatus;
  readonly reserved: number;
  /** 0 while the job is started. */
  readonly actual_cost: number;
  /** Why it failed: its client said so, or its time ran out. */
  readonly failure: "reported" | "expired" | null;
  /** What its client said of the failure; null: nothing. */
  readonly failure_reason: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
  readonly metadata: Metadata | null;
}

export interface CreatedJob {
  readonly job_id: string;
  readonly credits: number;
}

export interface SettledJob {
  readonly job: Job;
  readonly credits: number;
}

/** An item of a batch that was refused: nothing of it happened. */
export interface RefusedItem<Code extends RefusalCode> {
  readonly error: string;
  /** As of the item alone, such as `insufficient_credits`. */
  readonly code: Code;
}

/** Why an item of `createMany` was refused. */
export type CreatedItemCode = (typeof CREATED_ITEM_REFUSALS)[number];

/** Why an item of `completeMany` was refused. */
export type SettledItemCode = (typeof SETTLED_ITEM_REFUSALS)[number];

/** What became of each item, in order, and the balance after all of them. */
export interface CreatedJobs {
  readonly results: readonly (CreatedJob | RefusedItem<CreatedItemCode>)[];
  readonly credits: number;
}

export interface SettledJobs {
  readonly results: readonly (SettledJob | RefusedItem<SettledItemCode>)[];
  readonly credits: number;
}

/** A checkout that is open: `url` is where its buyer pays. */
export interface Checkout {
  readonly url: string;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  readonly next_cursor?: string | undefined;
}

export const ENTRY_KINDS = [
  "open",
  "grant",
  "reserve",
  "settle",
  "refund",
  "adjustment",
  "purchase",
  "purchase_refund",
  "plan",
  "debt",
] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** A line of the passbook. */
export interface Entry {
  readonly line: number;
  readonly kind: EntryKind;
  readonly amount: number;
  readonly balance_after: number;
  readonly job_id: string | null;
  readonly app: string | null;
  readonly note: string | null;
  readonly at: string;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly next_cursor?: string | undefined;
}

/** A line of the passbook as it was written, with what there was at that moment. */
export interface LineEvent {
  readonly line: number;
  readonly kind: EntryKind;
  readonly amount: number;
  readonly credits: number;
  readonly reserved: number;
  /** As it is now. */
  readonly job: Job | null;
  readonly app: string | null;
  readonly at: string;
}

/** Where a stream begins: what there is at this line, whatever came before. */
export interface SnapshotEvent {
  readonly line: number;
  readonly kind: "snapshot";
  readonly credits: number;
  readonly reserved: number;
}

export type AccountEvent = LineEvent | SnapshotEvent;

/** Who the caller is. */
export interface Me {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
  readonly plan: string;
  readonly operator: boolean;
}

export type PersonalTokenScope = "read" | "write" | "upstream" | "admin";

/** A personal access token as its owner sees it; the token itself is shown nowhere. */
export interface PersonalToken {
  readonly id: string;
  readonly label: string;
  readonly app: string | null;
  readonly scopes: readonly PersonalTokenScope[];
  readonly apps: readonly string[] | null;
  readonly cap: {
    readonly credits: number;
    readonly period: "total" | "30_days";
    readonly spent: number;
    readonly room: number;
  } | null;
  /** Whether it is the one that asks. */
  readonly current: boolean;
  readonly ends_with_session: boolean;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string;
}

/** What a device shows its user (RFC 8628, section 3.2). Times are in seconds. */
export interface DeviceAuthorization {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}
