/**
 * The service's responses, field for field as in the API. Generated from docs/openapi.json by `npm run openapi`:
 * change the schemas there, not this file. Times are RFC 3339 in UTC; credits are whole numbers.
 */

export interface Wallet {
  readonly account: Account;
  readonly apps: readonly AppEntry[];
  /** The app that the query names; null without one. */
  readonly app_grant: {
    /** An app's slug. */
    readonly slug: string;
    readonly starter_credits: number;
    /** True only in the answer that made the grant. */
    readonly granted: boolean;
  } | null;
}

export interface Account {
  /** A UUID. */
  readonly id: string;
  /** The person at the identity provider; `sub` of session tokens. */
  readonly identity_id: string;
  /** `free`, or what an operator set. */
  readonly plan: string;
  /** What is available now: reserves are taken off. */
  readonly credits: number;
}

export interface AppEntry {
  /** An app's slug. */
  readonly slug: string;
  /** What was granted, or would be now. */
  readonly starter_credits: number;
  /** Whether the grant was ever made. */
  readonly granted: boolean;
  /** RFC 3339, in UTC with milliseconds. */
  readonly granted_at: string | null;
}

/** The JSON of one message of the event stream. */
export type AccountEvent = EntryEvent | SnapshotEvent;

/** A new ledger entry, with the balance after it. */
export interface EntryEvent {
  /** The number of the ledger entry. */
  readonly line: number;
  readonly kind: EntryKind;
  /** Signed: what was added to the balance. */
  readonly amount: number;
  /** The balance after this entry. */
  readonly credits: number;
  /** What started jobs held after this entry. */
  readonly reserved: number;
  /** The job as it is now; null for an entry without a job. */
  readonly job: Job | null;
  /** An app's slug. */
  readonly app: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
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

export interface Job {
  /** A UUID. */
  readonly id: string;
  /** An app's slug. */
  readonly app_slug: string | null;
  readonly action: string;
  readonly status: JobStatus;
  /** Credits reserved when the job was created. */
  readonly reserved: number;
  /** 0 while started; what the job cost once it ended. */
  readonly actual_cost: number;
  /** Why it failed: its client said so, or its time ran out. */
  readonly failure: "reported" | "expired" | null;
  /** The `reason` that its client gave; null without one. */
  readonly failure_reason: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly updated_at: string;
  /** A job still started then fails by itself, with a full refund. */
  readonly expires_at: string;
  readonly metadata: Metadata | null;
}

export const JOB_STATUSES = ["started", "completed", "failed"] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** Free-form. `description` and `previewUrl` are shown to people. */
export type Metadata = Readonly<Record<string, unknown>>;

/** The state of the account when the stream begins. */
export interface SnapshotEvent {
  /** The number of the newest ledger entry. */
  readonly line: number;
  readonly kind: "snapshot";
  /** The balance. */
  readonly credits: number;
  /** What started jobs hold. */
  readonly reserved: number;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
}

export interface CreatedJob {
  /** A UUID. */
  readonly job_id: string;
  /** The balance afterwards; may be negative after an overage. */
  readonly credits: number;
}

export interface CreatedJobs {
  /** In the order of the items. */
  readonly results: readonly (CreatedJob | CreatedItemRefusal)[];
  /** The balance after all of them. */
  readonly credits: number;
}

/** The item was refused; no job was created. */
export type CreatedItemRefusal =
  | {
      /** A sentence for people. */
      readonly error: string;
      /** A stable word for programs. */
      readonly code:
        | "invalid_request"
        | "metadata_too_large"
        | "balance_limit"
        | "scope"
        | "app_settles"
        | "suspended"
        | "unavailable"
        | "too_many_open_jobs"
        | "account_full"
        | "token_storage_full";
    }
  | {
      /** A sentence for people. */
      readonly error: string;
      /** A stable word for programs. */
      readonly code: "token_budget_exceeded";
      readonly cap: {
        readonly credits: number;
        readonly period: "total" | "30_days";
      };
      /** What the token has spent of its cap. */
      readonly spent: number;
      /** What it may still spend. */
      readonly room: number;
      /** What the request needed. */
      readonly required: number;
      /** When the next period of the cap begins; null for a total. */
      readonly resets_at: string | null;
    }
  | {
      /** A sentence for people. */
      readonly error: string;
      /** A stable word for programs. */
      readonly code: "insufficient_credits";
      /** What is available: the balance without what is held. */
      readonly credits: number;
      /** What started jobs have reserved. */
      readonly held: number;
      /** What the request needed. */
      readonly required: number;
    };

export interface SettledJobs {
  /** In the order of the items. */
  readonly results: readonly (SettledJob | SettledItemRefusal)[];
  /** The balance after all of them. */
  readonly credits: number;
}

export interface SettledJob {
  readonly job: Job;
  /** The balance afterwards; may be negative after an overage. */
  readonly credits: number;
}

/** The item was refused; its job is unchanged. */
export type SettledItemRefusal =
  | {
      /** A sentence for people. */
      readonly error: string;
      /** A stable word for programs. */
      readonly code:
        | "invalid_request"
        | "metadata_too_large"
        | "balance_limit"
        | "scope"
        | "app_settles"
        | "suspended"
        | "unavailable"
        | "job_unknown"
        | "job_not_started";
    }
  | {
      /** A sentence for people. */
      readonly error: string;
      /** A stable word for programs. */
      readonly code: "token_budget_exceeded";
      readonly cap: {
        readonly credits: number;
        readonly period: "total" | "30_days";
      };
      /** What the token has spent of its cap. */
      readonly spent: number;
      /** What it may still spend. */
      readonly room: number;
      /** What the request needed. */
      readonly required: number;
      /** When the next period of the cap begins; null for a total. */
      readonly resets_at: string | null;
    }
  | {
      /** A sentence for people. */
      readonly error: string;
      /** A stable word for programs. */
      readonly code: "overage_limit";
      /** The most that this job may cost. */
      readonly limit: number;
    };

export interface Checkout {
  /** Where to send the buyer. */
  readonly url: string;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
}

/** A line of the passbook. */
export interface Entry {
  /** Numbered from 1, without gaps. */
  readonly line: number;
  readonly kind: EntryKind;
  /** Signed: what was added to the balance. */
  readonly amount: number;
  readonly balance_after: number;
  /** A UUID. */
  readonly job_id: string | null;
  /** An app's slug. */
  readonly app: string | null;
  /** An operator's reason; null where no operator wrote it. */
  readonly note: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

export interface Me {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
  readonly plan: string;
  /**
   * Whether this caller may operate the service: its person is an operator, and its token has the
   * scope `admin`, or it is a page of the service.
   */
  readonly operator: boolean;
}

export interface TokenResponse {
  readonly token: string;
}

/** RFC 8628, section 3.2. */
export interface DeviceAuthorization {
  /** The program's secret: never shown. */
  readonly device_code: string;
  /** What the person compares or types. */
  readonly user_code: string;
  readonly verification_uri: string;
  /** With the code filled in, for a link or a QR code. */
  readonly verification_uri_complete: string;
  /** Seconds. */
  readonly expires_in: number;
  /** Seconds between two polls. */
  readonly interval: number;
}

/** The token itself is stored and shown nowhere. */
export interface PersonalToken {
  /** A UUID. */
  readonly id: string;
  readonly label: string;
  /** The app that asked for the token, by its own word. */
  readonly app: string | null;
  readonly scopes: readonly PersonalTokenScope[];
  /** The only apps it may act for; null: all. */
  readonly apps: readonly string[] | null;
  readonly cap: {
    readonly credits: number;
    readonly period: "total" | "30_days";
    readonly spent: number;
    readonly room: number;
  } | null;
  /** Whether it is the one that asks. */
  readonly current: boolean;
  /** Whether it ends with the session that approved it. */
  readonly ends_with_session: boolean;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** Late by at most an hour. */
  readonly last_used_at: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly expires_at: string;
}

export const PERSONAL_TOKEN_SCOPES = ["read", "write", "upstream", "admin"] as const;

export type PersonalTokenScope = (typeof PERSONAL_TOKEN_SCOPES)[number];

export interface FoundAccountPage {
  readonly accounts: readonly FoundAccount[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
  /** When the read model was asked; an account may be ahead of it by seconds. */
  readonly as_of: string;
}

export interface FoundAccount {
  /** A UUID. */
  readonly id: string;
  /** The person at the identity provider; `sub` of session tokens. */
  readonly identity_id: string;
  /** `free`, or what an operator set. */
  readonly plan: string;
  /** What is available now: reserves are taken off. */
  readonly credits: number;
  readonly name: string | null;
  readonly email: string | null;
  /** Credits that started jobs hold, not included in `credits`. */
  readonly reserved: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

export interface InspectedAccount {
  readonly account: {
    /** A UUID. */
    readonly id: string;
    /** The person at the identity provider; `sub` of session tokens. */
    readonly identity_id: string;
    /** `free`, or what an operator set. */
    readonly plan: string;
    /** What is available now: reserves are taken off. */
    readonly credits: number;
    readonly name: string | null;
    readonly email: string | null;
    readonly email_verified: boolean;
    /** RFC 3339, in UTC with milliseconds. */
    readonly created_at: string;
    /** Since when its holder is kept out. */
    readonly suspended_at: string | null;
  };
  readonly reserved: number;
  readonly apps: readonly AppEntry[];
  readonly personal_tokens: readonly PersonalToken[];
  readonly sessions: readonly {
    readonly id: string;
    /** RFC 3339, in UTC with milliseconds. */
    readonly created_at: string;
    /** RFC 3339, in UTC with milliseconds. */
    readonly last_used_at: string | null;
    readonly browser: string | null;
    readonly place: string | null;
  }[];
  /** The newest 200; `/jobs?status=started` has them all. */
  readonly started_jobs: readonly Job[];
}

export interface AdjustedCredits {
  readonly entry: Entry;
  /** The balance afterwards; may be negative after an overage. */
  readonly credits: number;
}

export interface ChangedPlan {
  readonly ok: true;
  readonly account: Account;
}

export interface RepairedPage {
  /** How many people there are; first page only. */
  readonly people?: number | undefined;
  /** People whose accounts were compared with the read model. */
  readonly checked: number;
  /** Accounts that sent what was missing. */
  readonly repaired: number;
  /** Identities whose accounts could not be repaired. */
  readonly failed: readonly string[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
}

export interface FoundJobPage {
  readonly jobs: readonly FoundJob[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
  /** When the read model was asked; an account may be ahead of it by seconds. */
  readonly as_of: string;
}

export interface FoundJob {
  /** A UUID. */
  readonly id: string;
  /** An app's slug. */
  readonly app_slug: string | null;
  readonly action: string;
  readonly status: JobStatus;
  /** Credits reserved when the job was created. */
  readonly reserved: number;
  /** 0 while started; what the job cost once it ended. */
  readonly actual_cost: number;
  /** Why it failed: its client said so, or its time ran out. */
  readonly failure: "reported" | "expired" | null;
  /** The `reason` that its client gave; null without one. */
  readonly failure_reason: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly updated_at: string;
  /** A job still started then fails by itself, with a full refund. */
  readonly expires_at: string;
  readonly identity_id: string;
}

export interface Stats {
  readonly series: readonly DailyTotals[];
  /** When the read model was asked; an account may be ahead of it by seconds. */
  readonly as_of: string;
}

/** One UTC day. Sums are in credits. */
export interface DailyTotals {
  /** A UTC day; a day on which nothing happened is left out. */
  readonly day: string;
  readonly granted: number;
  readonly reserved: number;
  /**
   * The real cost of jobs that ended that day, less what late completions refunded of charged
   * time-outs.
   */
  readonly settled: number;
  readonly refunded: number;
  /** Gross. */
  readonly purchased: number;
  /** Signed. */
  readonly adjusted: number;
  readonly jobs: number;
  readonly failed: number;
  readonly active_accounts: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
}

/** One line of the audit log. */
export interface AuditEntry {
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  /** The operator's identity. */
  readonly actor: string;
  readonly act: string;
  /** What the operator changed: an identity or an app's slug. */
  readonly subject: string;
  readonly reason: string | null;
  readonly request_id: string;
  /** `outcome`: `done`, `refused`, `replayed`, or `unknown` if the end was not seen. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AppPage {
  readonly apps: readonly RegisteredApp[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
}

export interface RegisteredApp {
  /** An app's slug. */
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly origins: readonly string[];
  /** The most that its grants of one UTC day may add up to; null: no limit. */
  readonly daily_starter_budget: number | null;
  /** Who completes and fails its jobs. */
  readonly settle: "holder" | "app";
  /** What a time-out does with the reserve. */
  readonly on_expiry: "refund" | "charge";
  /** How far a job's cost may exceed its estimate, in percent; null: no limit. */
  readonly max_overage_percent: number | null;
  /** Sign-in providers whose upstream tokens the app's pages get. */
  readonly upstream_providers: readonly string[];
  /** Grows with each save. Send it with the next one. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

export interface AppKeyPage {
  readonly keys: readonly AppKey[];
  /** There is more: give it back as `cursor`. Left out on the last page. */
  readonly next_cursor?: string | undefined;
}

export interface AppKey {
  /** A UUID. */
  readonly id: string;
  readonly label: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

export interface NewAppKey {
  /** A UUID. */
  readonly id: string;
  readonly label: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** The secret, shown only once; null in the response to a repeated request. */
  readonly key: string | null;
}
