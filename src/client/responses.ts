/**
 * The service's responses, field for field as in the API. Generated from docs/openapi.json by `npm run openapi`:
 * change the schemas there, not this file. Times are RFC 3339 in UTC; credits are whole numbers.
 */

/**
 * The body of a request to a webhook, a Standard Webhook. Its headers are `webhook-id` (the same
 * in every attempt), `webhook-timestamp` and `webhook-signature`.
 */
export type WebhookEvent =
  | JobWebhookEvent
  | ProgressedJobWebhookEvent
  | ChangedCreditsWebhookEvent
  | CreditsWebhookEvent
  | LowCreditsWebhookEvent
  | ExpiringCreditsWebhookEvent
  | ExpiredCreditsWebhookEvent
  | FailedTopUpWebhookEvent
  | DisabledTopUpWebhookEvent
  | ApprovalWebhookEvent
  | ConnectionRevokedWebhookEvent
  | ConnectionLimitWebhookEvent
  | AppAccessWebhookEvent
  | AppWebhookEvent
  | PingWebhookEvent;

/** One of the app's own jobs. */
export interface JobWebhookEvent {
  readonly type: "job.created" | "job.completed" | "job.failed" | "job.expired";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. Null unless the account was open for the app then and is open now. */
    readonly credits: number | null;
    /** As `credits`: what started jobs hold. */
    readonly held: number | null;
    /** The job as it is when the event is sent. */
    readonly job: Job;
  };
}

/** All values of `JobStatus`. */
export const JOB_STATUSES = ["started", "completed", "failed"] as const;

/** A part of `Job`. */
export type JobStatus = (typeof JOB_STATUSES)[number];

/** The credential that started the job. It stays the same if another one settles the job. */
export type StartedBy =
  | {
      /** The person's session, through no page of a registered app: mostly this service's own pages. */
      readonly kind: "browser";
      readonly id: null;
      readonly name: null;
    }
  | {
      /** A key of the app, or the person's session through a page of the app. */
      readonly kind: "app";
      /** An app's slug. */
      readonly id: string;
      /** Null: the app was not registered. */
      readonly name: string | null;
    }
  | {
      /** An OAuth client's connection, or a personal access token. */
      readonly kind: "connection" | "token";
      /** A UUID. */
      readonly id: string;
      /** If it was exchanged: the connection or token that the person approved. */
      readonly root_id?: string | undefined;
      /**
       * The name that it had then. Null for a token if the caller may not learn the names of the
       * person's tokens: an app, a client, and another token with limits may not.
       */
      readonly name: string | null;
    };

/** A part of `Job`. */
export interface JobPart {
  /** Null: credits without terms. */
  readonly lot_id: string | null;
  readonly bought: boolean;
  readonly credits: number;
}

/** Any JSON object. Pages show `description` and `previewUrl`. */
export type Metadata = Readonly<Record<string, unknown>>;

/** In the response of `GET /api/jobs/{id}`, `GET /api/admin/accounts/{identity_id}/jobs/{job_id}`. */
export interface Job {
  /** A UUID. */
  readonly id: string;
  /** An app's slug. */
  readonly app_slug: string | null;
  readonly action: string;
  readonly status: JobStatus;
  /** Credits reserved: at creation, or by the last progress report. */
  readonly reserved: number;
  /** 0 while the job is started, then its final cost. */
  readonly actual_cost: number;
  /** Credits of the cost that operators gave back later. */
  readonly refunded: number;
  /** The number of the last progress report; 0 before the first. */
  readonly step: number;
  /** Credits that the job costs if it expires; null until a progress report says so. */
  readonly spent: number | null;
  /** How much of the work is done, by the last progress report that said so. */
  readonly done: number | null;
  /** What the client said about its progress, for people to read. */
  readonly message: string | null;
  /**
   * `reported`: its client failed it. `expired`: its time ran out. `cancelled`: the holder cancelled
   * it.
   */
  readonly failure: "reported" | "expired" | "cancelled" | null;
  /** The client's `reason`; null without one. */
  readonly failure_reason: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly updated_at: string;
  /**
   * A job that is still started at this time expires. It is charged what it has `spent`. Without a
   * progress report, its reserve is refunded, or charged if the app's `on_expiry` says so.
   */
  readonly expires_at: string;
  readonly by: StartedBy;
  /**
   * Where its credits come from, in the order in which they were taken: what it holds, later what it
   * cost. Only for the holder and operators.
   */
  readonly from?: readonly JobPart[] | undefined;
  readonly metadata: Metadata | null;
}

/**
 * A step of one of the app's own jobs, as it was then. Of steps that wait, only the newest of each
 * job is sent.
 */
export interface ProgressedJobWebhookEvent {
  readonly type: "job.progressed";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    readonly job_id: string;
    /** Grows with each step of the job. */
    readonly step: number;
    /** Credits spent so far; null: never reported. */
    readonly spent: number | null;
    /** The part that is done; null: unknown. */
    readonly done: number | null;
    readonly message: string | null;
  };
}

/**
 * The newest balance of an account that is open for the app, at most once a second. Changes in
 * between have no event.
 */
export interface ChangedCreditsWebhookEvent {
  readonly type: "credits.changed";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    /** The bought part of `credits`. */
    readonly bought: number;
  };
}

/** An account that is open for the app. `credits.refused`: a request got 402. */
export interface CreditsWebhookEvent {
  readonly type:
    | "credits.granted"
    | "credits.refused"
    | "purchase.completed"
    | "purchase.refunded"
    | "account.deleted";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    /** The app's own job whose cost an operator gave back. */
    readonly job?: Job | undefined;
  };
}

/** The credits that the app can use crossed a threshold. */
export interface LowCreditsWebhookEvent {
  readonly type: "credits.low";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    /** The credits that the app can use, which the thresholds count. */
    readonly spendable: number;
    /** The lowest threshold that they fell to or below. */
    readonly threshold: number;
  };
}

/** Sent a week and a day before credits expire that the app can use. */
export interface ExpiringCreditsWebhookEvent {
  readonly type: "credits.expiring";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    readonly lot_id: string;
    /** What is left of the lot, without held credits. */
    readonly expiring: number;
    /** RFC 3339, in UTC with milliseconds. */
    readonly expires_at: string;
  };
}

/** Credits that the app could use have expired. */
export interface ExpiredCreditsWebhookEvent {
  readonly type: "credits.expired";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    readonly lot_id: string;
    /** The credits that expired. */
    readonly expired: number;
  };
}

/** A charge of automatic top-up failed. After three in a row it is switched off. */
export interface FailedTopUpWebhookEvent {
  readonly type: "topup.failed";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    readonly reason: "declined" | "authentication_required" | "refused";
    /** The failed charges in a row, with this one. */
    readonly attempt: number;
  };
}

/** Automatic top-up was switched off: by the `holder`, or for another reason. */
export interface DisabledTopUpWebhookEvent {
  readonly type: "topup.disabled";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The number of the ledger entry, or of the newest one when it happened. */
    readonly line: number;
    /** The balance after that entry. */
    readonly credits: number;
    /** Credits that started jobs hold after that entry. */
    readonly held: number;
    readonly reason:
      | "holder"
      | "declined"
      | "authentication_required"
      | "refused"
      | "package_changed"
      | "suspended";
  };
}

/** The holder decided about a job beyond a cap, which one of the app's clients requested. */
export interface ApprovalWebhookEvent {
  readonly type: "approval.approved" | "approval.denied";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The request that the 402 response named. */
    readonly approval: string;
    /** An app's slug. */
    readonly app: string;
    readonly action: string;
    /** The most that the job may reserve. */
    readonly credits: number;
    /** The token that requested it; without `client_id` it is a personal access token. */
    readonly token: {
      /** A UUID. */
      readonly id: string;
      readonly client_id: string | null;
    };
  };
}

/** A connection of one of the app's clients was revoked. */
export interface ConnectionRevokedWebhookEvent {
  readonly type: "connection.revoked";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The connection, as in `GET /api/access`, and its OAuth client. */
    readonly connection: {
      /** A UUID. */
      readonly id: string;
      readonly client_id: string;
    };
    /**
     * `client`: the OAuth client itself, or the one whose token it was exchanged from. `service`: what
     * it depended on has ended, such as a session.
     */
    readonly by: "holder" | "client" | "operator" | "service";
  };
}

/**
 * A cap of a connection of one of the app's clients refused a request, for the first time in its
 * period.
 */
export interface ConnectionLimitWebhookEvent {
  readonly type: "connection.limit_reached";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** The connection, as in `GET /api/access`, and its OAuth client. */
    readonly connection: {
      /** A UUID. */
      readonly id: string;
      readonly client_id: string;
    };
    readonly cap: {
      readonly credits: number;
      readonly period: CapPeriod;
    };
    /** The start of the cap's next period; null: `total` has none. */
    readonly resets_at: string | null;
  };
}

/** All values of `CapPeriod`. */
export const CAP_PERIODS = ["day", "week", "month", "total"] as const;

/** A part of `ConnectionLimitWebhookEvent`. */
export type CapPeriod = (typeof CAP_PERIODS)[number];

/** The holder stopped the app, or allowed it again. */
export interface AppAccessWebhookEvent {
  readonly type: "access.stopped" | "access.allowed";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The account's holder. */
    readonly identity_id: string;
    /** An app's slug. */
    readonly app: string;
  };
}

/** An operator paused the app or changed the message of its pause, or let it continue. */
export interface AppWebhookEvent {
  readonly type: "app.paused" | "app.continued";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {
    /** The app's slug. */
    readonly app: string;
    /** An operator's pause of the app; null: it is not paused. */
    readonly paused: AppPause | null;
  };
}

/** A part of `AppWebhookEvent`. */
export interface AppPause {
  /** RFC 3339, in UTC with milliseconds. */
  readonly since: string;
  /** The error of requests for jobs. */
  readonly message: string;
}

/** Sent by a test. */
export interface PingWebhookEvent {
  readonly type: "ping";
  /** When it happened. The same in every attempt. */
  readonly timestamp: string;
  /** Only in a test: the event is a sample. */
  readonly test?: true | undefined;
  readonly data: {};
}

/** In the response of `GET /api/wallet`. */
export interface Wallet {
  readonly account: Account;
  /** Credits that started jobs hold, not included in the account's `credits`. */
  readonly held: number;
  /** The bought part of the account's `credits`. */
  readonly bought: number;
  /**
   * Credits with terms, in the order of use. An app, or a token limited to apps, gets those that it
   * can use.
   */
  readonly lots: readonly Lot[];
  /** What expires next if it is not used or held; null: nothing expires. */
  readonly next_expiry: {
    readonly credits: number;
    /** RFC 3339, in UTC with milliseconds. */
    readonly at: string;
  } | null;
  /**
   * Automatic top-up; null: it was never set. Only a session gets it: neither an app's key nor a
   * personal access token or connection.
   */
  readonly topup?: TopUp | null | undefined;
  readonly apps: readonly AppEntry[];
  /** The app of the query; null without `app`. */
  readonly app_grant: {
    /** An app's slug. */
    readonly slug: string;
    readonly starter_credits: number;
    /** True only in the response to the request that made the grant. */
    readonly granted: boolean;
  } | null;
  /** The credits that the caller's caps still allow; only for a token with a cap. */
  readonly room?: number | undefined;
  /**
   * With `app`: the credits that this app can reserve for the caller now. A token with a cap gets at
   * most its `room`, also without `app`. Below zero if the account owes credits.
   */
  readonly spendable?: number | undefined;
}

/** A part of `Wallet`. */
export interface Account {
  /** A UUID. */
  readonly id: string;
  /** The person's id at the identity provider; also `sub` of session tokens. */
  readonly identity_id: string;
  /** `free`, or a plan that an operator set. */
  readonly plan: string;
  /** The available credits, without the credits that started jobs reserve. */
  readonly credits: number;
}

/** Credits with terms. Credits without terms are in no lot. */
export interface Lot {
  /** Null: the credits never expire. */
  readonly expires_at: string | null;
  /** The only apps that can use the credits; null: all apps. */
  readonly app_slugs: readonly string[] | null;
  /** Whether they were bought; else they were given. */
  readonly bought: boolean;
  /** A UUID. */
  readonly id: string;
  /** `returned`: a job gave them back after their lot had expired. */
  readonly origin: "starter" | "purchase" | "adjustment" | "recurring" | "rollover" | "returned";
  /** Credits available. */
  readonly left: number;
  /** Credits that started jobs hold, in addition to `left`. They do not expire. */
  readonly held: number;
  /** An operator's reason or a package's name; null for an app. */
  readonly note: string | null;
}

/** A part of `Wallet`. */
export interface TopUp {
  readonly on: boolean;
  /** A charge follows when fewer credits are available. */
  readonly threshold: number;
  /** The id of the package that is bought. */
  readonly package: string;
  readonly currency: string;
  /** The most that may be charged in a calendar month (UTC), in the smallest unit. */
  readonly month_limit_minor: number;
  /** The charges of this month, with those that are pending. */
  readonly month_spent_minor: number;
  /**
   * `ready`; `pending`: a charge is due; `retrying`: one failed, and the next follows;
   * `limit_reached`: nothing more fits into the month. It is off if the `holder` switched it off,
   * the card was `declined` three times, the bank requires the person's confirmation
   * (`authentication_required`), Stripe `refused` the card or a refund or dispute left too few
   * credits, the package changed (`package_changed`), or the account was `suspended`.
   */
  readonly state:
    | "ready"
    | "pending"
    | "retrying"
    | "limit_reached"
    | "holder"
    | "declined"
    | "authentication_required"
    | "refused"
    | "package_changed"
    | "suspended";
}

/** A part of `Wallet`. */
export interface AppEntry {
  /** An app's slug. */
  readonly slug: string;
  /** The granted amount, or the amount that a grant would have now. */
  readonly starter_credits: number;
  /** Whether the starter credits were ever granted. */
  readonly granted: boolean;
  /** RFC 3339, in UTC with milliseconds. */
  readonly granted_at: string | null;
}

/** The JSON of one message of the event stream. */
export type AccountEvent = EntryEvent | SnapshotEvent | JobProgressedEvent | AccessEvent;

/** A new ledger entry, with the balance after it. */
export interface EntryEvent {
  /** The number of the ledger entry. */
  readonly line: number;
  readonly kind: EntryKind;
  /** The signed change of the balance. */
  readonly amount: number;
  /** The balance after this entry. */
  readonly credits: number;
  /** The credits that started jobs hold after this entry. */
  readonly held: number;
  /** The job as it is now; null for an entry without a job. */
  readonly job: Job | null;
  /** An app's slug. */
  readonly app: string | null;
  /** The lot that the entry concerns; null: none, or several. */
  readonly lot_id: string | null;
  /** Of an entry that brought credits: the terms that they have now; null for others. */
  readonly terms: Terms | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** All values of `EntryKind`. */
export const ENTRY_KINDS = [
  "open",
  "grant",
  "reserve",
  "settle",
  "refund",
  "job_refund",
  "adjustment",
  "purchase",
  "purchase_refund",
  "plan",
  "suspend",
  "restore",
  "debt",
  "expire",
  "recurring",
  "rollover",
  "recovery",
] as const;

/** A part of `EntryEvent`. */
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** A part of `EntryEvent`. */
export interface Terms {
  /** Null: the credits never expire. */
  readonly expires_at: string | null;
  /** The only apps that can use the credits; null: all apps. */
  readonly app_slugs: readonly string[] | null;
  /** Whether they were bought; else they were given. */
  readonly bought: boolean;
}

/** The state of the account when the stream begins. */
export interface SnapshotEvent {
  /** The number of the newest ledger entry. */
  readonly line: number;
  readonly kind: "snapshot";
  /** The balance. */
  readonly credits: number;
  /** The credits that started jobs hold. */
  readonly held: number;
}

/**
 * A report of progress that changed no credits and no expiry. It has no entry, and is not
 * replayed.
 */
export interface JobProgressedEvent {
  /** A UUID. */
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  readonly kind: "job.progressed";
  readonly job: Job;
}

/** The access to the account has changed. The event has no entry, and is not replayed. */
export type AccessEvent =
  | ApprovalEvent
  | ConnectionRevokedEvent
  | ConnectionLimitEvent
  | AppAccessEvent;

/** The holder decided about a job beyond a cap. */
export interface ApprovalEvent {
  /** The same as in the event for webhooks. */
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  readonly kind: "approval.approved" | "approval.denied";
  /** The request that the 402 response named. */
  readonly approval: string;
  /** An app's slug. */
  readonly app: string;
  readonly action: string;
  /** The most that the job may reserve. */
  readonly credits: number;
  /** The token that requested it; without `client_id` it is a personal access token. */
  readonly token: {
    /** A UUID. */
    readonly id: string;
    readonly client_id: string | null;
  };
}

/** A connection was revoked. */
export interface ConnectionRevokedEvent {
  /** The same as in the event for webhooks. */
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  readonly kind: "connection.revoked";
  /** The connection, as in `GET /api/access`, and its OAuth client. */
  readonly connection: {
    /** A UUID. */
    readonly id: string;
    readonly client_id: string;
  };
  /**
   * `client`: the OAuth client itself, or the one whose token it was exchanged from. `service`: what
   * it depended on has ended, such as a session.
   */
  readonly by: "holder" | "client" | "operator" | "service";
}

/** A cap of a connection refused a request, for the first time in its period. */
export interface ConnectionLimitEvent {
  /** The same as in the event for webhooks. */
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  readonly kind: "connection.limit_reached";
  /** The connection, as in `GET /api/access`, and its OAuth client. */
  readonly connection: {
    /** A UUID. */
    readonly id: string;
    readonly client_id: string;
  };
  readonly cap: {
    readonly credits: number;
    readonly period: CapPeriod;
  };
  /** The start of the cap's next period; null: `total` has none. */
  readonly resets_at: string | null;
}

/** The holder stopped an app, or allowed it again. */
export interface AppAccessEvent {
  /** The same as in the event for webhooks. */
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  readonly kind: "access.stopped" | "access.allowed";
  /** An app's slug. */
  readonly app: string;
}

/** In the response of `GET /api/jobs`, `GET /api/admin/accounts/{identity_id}/jobs`. */
export interface JobPage {
  readonly jobs: readonly Job[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `GET /api/jobs`, `GET /api/admin/jobs`. */
export interface FoundJobPage {
  readonly jobs: readonly FoundJob[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
  /** The time of the query to the read model, which can be some seconds behind the accounts. */
  readonly as_of: string;
}

/** A part of `FoundJobPage`. */
export interface FoundJob {
  /** A UUID. */
  readonly id: string;
  /** An app's slug. */
  readonly app_slug: string | null;
  readonly action: string;
  readonly status: JobStatus;
  /** Credits reserved: at creation, or by the last progress report. */
  readonly reserved: number;
  /** 0 while the job is started, then its final cost. */
  readonly actual_cost: number;
  /** Credits of the cost that operators gave back later. */
  readonly refunded: number;
  /** The number of the last progress report; 0 before the first. */
  readonly step: number;
  /** Credits that the job costs if it expires; null until a progress report says so. */
  readonly spent: number | null;
  /**
   * `reported`: its client failed it. `expired`: its time ran out. `cancelled`: the holder cancelled
   * it.
   */
  readonly failure: "reported" | "expired" | "cancelled" | null;
  /** The client's `reason`; null without one. */
  readonly failure_reason: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly updated_at: string;
  /**
   * A job that is still started at this time expires. It is charged what it has `spent`. Without a
   * progress report, its reserve is refunded, or charged if the app's `on_expiry` says so.
   */
  readonly expires_at: string;
  readonly by: StartedBy;
  /**
   * Where its credits come from, in the order in which they were taken: what it holds, later what it
   * cost. Only for the holder and operators.
   */
  readonly from?: readonly JobPart[] | undefined;
  readonly identity_id: string;
}

/** In the response of `POST /api/jobs`. */
export interface CreatedJob {
  /** A UUID. */
  readonly job_id: string;
  /**
   * The balance after this request. It can be negative after an overage. Null for an app that
   * charges for a connection.
   */
  readonly credits: number | null;
}

/** In the response of `POST /api/jobs/batch`. */
export interface CreatedJobs {
  /** One result per item, in the order of the items. */
  readonly results: readonly (CreatedJob | CreatedItemRefusal)[];
  /** The balance after all items. */
  readonly credits: number;
}

/** The item was refused; no job was created. */
export type CreatedItemRefusal =
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code:
        | "invalid_request"
        | "metadata_too_large"
        | "balance_limit"
        | "too_many_lots"
        | "scope"
        | "app_settles"
        | "app_stopped"
        | "unavailable"
        | "app_paused"
        | "account_full"
        | "token_storage_full"
        | "app_not_registered";
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "token_budget_exceeded";
      readonly cap: {
        readonly credits: number;
        readonly period: "day" | "week" | "month" | "total";
      };
      /** The credits that the token has spent of its cap. */
      readonly spent: number;
      /** The credits that the token can still spend. */
      readonly room: number;
      /** The credits that the request needs. */
      readonly required: number;
      /** The start of the next period of the cap; null for a cap with the period `total`. */
      readonly resets_at: string | null;
      /**
       * Repeat `POST /api/jobs` with this after the holder approved the job. Null if what was requested
       * cannot be approved.
       */
      readonly approval: string | null;
      /**
       * The page where the account's holder approves or denies this one job. `return_to` in its query is
       * an address of the app or the OAuth client that it leads back to.
       */
      readonly approval_url: string | null;
      /**
       * The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null:
       * nothing is for sale.
       */
      readonly topup_url: string | null;
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "suspended";
      /** Why, if an operator gave a reason for people. Only for a session. */
      readonly public_reason?: string | undefined;
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "insufficient_credits";
      /**
       * The available credits: the balance without held credits. Null for an app that charges for a
       * connection.
       */
      readonly credits: number | null;
      /**
       * The credits of these that the job's app can reserve: without those for other apps only. Null
       * where `credits` is.
       */
      readonly spendable: number | null;
      /** The credits that started jobs hold. Null where `credits` is. */
      readonly held: number | null;
      /** The credits that the request needs. */
      readonly required: number;
      /** An automatic top-up is due. A job does not wait for it; try again in a few seconds. */
      readonly topup?: "pending" | undefined;
      /**
       * The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null:
       * nothing is for sale.
       */
      readonly topup_url: string | null;
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "limit_reached";
      /** The limited thing. */
      readonly of:
        | "started_jobs"
        | "started_jobs_of_app"
        | "started_jobs_of_token"
        | "job_steps"
        | "streams"
        | "streams_of_token"
        | "apps"
        | "unregistered_apps"
        | "tokens"
        | "app_keys"
        | "webhooks"
        | "clients"
        | "resources"
        | "plans";
      /** How many there can be at once. */
      readonly limit: number;
    };

/** In the response of `POST /api/jobs/complete/batch`. */
export interface SettledJobs {
  /** One result per item, in the order of the items. */
  readonly results: readonly (SettledJob | SettledItemRefusal)[];
  /** The balance after all items. Null for an app's key if the account is not open for the app. */
  readonly credits: number | null;
}

/** In the response of `POST /api/jobs/complete`, `POST /api/jobs/fail`, `POST /api/jobs/cancel`. */
export interface SettledJob {
  readonly job: Job;
  /**
   * The balance after this request. It can be negative after an overage. Null for an app's key if
   * the account is not open for the app, and for an app that charges for a connection.
   */
  readonly credits: number | null;
}

/** The item was refused; its job is unchanged. */
export type SettledItemRefusal =
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code:
        | "invalid_request"
        | "metadata_too_large"
        | "balance_limit"
        | "too_many_lots"
        | "scope"
        | "app_settles"
        | "app_stopped"
        | "unavailable"
        | "account_unknown"
        | "job_unknown"
        | "job_ended";
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "token_budget_exceeded";
      readonly cap: {
        readonly credits: number;
        readonly period: "day" | "week" | "month" | "total";
      };
      /** The credits that the token has spent of its cap. */
      readonly spent: number;
      /** The credits that the token can still spend. */
      readonly room: number;
      /** The credits that the request needs. */
      readonly required: number;
      /** The start of the next period of the cap; null for a cap with the period `total`. */
      readonly resets_at: string | null;
      /**
       * Repeat `POST /api/jobs` with this after the holder approved the job. Null if what was requested
       * cannot be approved.
       */
      readonly approval: string | null;
      /**
       * The page where the account's holder approves or denies this one job. `return_to` in its query is
       * an address of the app or the OAuth client that it leads back to.
       */
      readonly approval_url: string | null;
      /**
       * The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null:
       * nothing is for sale.
       */
      readonly topup_url: string | null;
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "suspended";
      /** Why, if an operator gave a reason for people. Only for a session. */
      readonly public_reason?: string | undefined;
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "overage_limit";
      /** The highest allowed cost of this job. */
      readonly limit: number;
    }
  | {
      /** A message for people. */
      readonly error: string;
      /** A stable code for programs. */
      readonly code: "step_too_old";
      /** The job's last step. */
      readonly step: number;
    };

/** In the response of `POST /api/jobs/progress`. */
export interface ProgressedJob {
  readonly job: Job;
  /**
   * The balance after this request. It can be negative after an overage. Null for an app's key if
   * the account is not open for the app, and for an app that charges for a connection.
   */
  readonly credits: number | null;
}

/** In the response of `POST /api/checkout`. */
export interface Checkout {
  /** The checkout page for the buyer. */
  readonly url: string;
}

/** In the response of `GET /api/ledger`, `GET /api/admin/accounts/{identity_id}/ledger`. */
export interface EntryPage {
  readonly entries: readonly Entry[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** An entry of the ledger. */
export interface Entry {
  /**
   * The number of the entry. A report of progress that changes no credits has a number too; it is in
   * the stream, and not in lists.
   */
  readonly line: number;
  readonly kind: EntryKind;
  /** The signed change of the balance. */
  readonly amount: number;
  readonly balance_after: number;
  /** A UUID. */
  readonly job_id: string | null;
  /** An app's slug. */
  readonly app: string | null;
  /** An operator's reason; null for an entry that no operator made. */
  readonly note: string | null;
  /** The lot that the entry concerns; null: none, or several. */
  readonly lot_id: string | null;
  /** Of an entry that brought credits: the terms that they have now; null for others. */
  readonly terms: Terms | null;
  /** The starter of the entry's job; null for an entry without a job. */
  readonly by: StartedBy | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** In the response of `GET /api/me`. */
export interface Me {
  readonly identity_id: string;
  /**
   * Null if it is unknown, or if the caller may not learn it: an OAuth client needs the scope
   * `profile`, and a personal access token must be without limits.
   */
  readonly name: string | null;
  /** As the name; an OAuth client needs the scope `email`. */
  readonly email: string | null;
  /** Null if the caller may not learn the address. */
  readonly email_verified: boolean | null;
  readonly plan: string;
  /**
   * Whether this caller has operator rights: the person is an operator, and uses a token with the
   * scope `admin` or a page of the service.
   */
  readonly operator: boolean;
  /** Only with `operator: true`. */
  readonly role?: "viewer" | "support" | "admin" | undefined;
}

/**
 * In the response of `GET /api/sessionToken`, `GET /api/device/poll`, `GET
 * /api/oauthToken/{provider}` and others.
 */
export interface TokenResponse {
  readonly token: string;
}

/** RFC 8628, section 3.2. */
export interface DeviceAuthorization {
  /** The secret of the program. Do not display it. */
  readonly device_code: string;
  /** The code that the person compares or types. */
  readonly user_code: string;
  readonly verification_uri: string;
  /** Includes the user code, for a link or a QR code. */
  readonly verification_uri_complete: string;
  /** Seconds. */
  readonly expires_in: number;
  /** Seconds between two polls. */
  readonly interval: number;
}

/** In the response of `POST /api/access/apps/{slug}/stop`, `POST /api/access/apps/{slug}/allow`. */
export interface AccessApp {
  /** An app's slug. */
  readonly slug: string;
  /** The slug if the app is not registered. */
  readonly name: string;
  readonly icon: string | null;
  /** The host of its pages; null if none is registered. */
  readonly host: string | null;
  /** `open`: its key and its pages may use the account. `stopped`: the holder ended that. */
  readonly state: "open" | "stopped";
  /**
   * When its key or its pages last started a job. Null: none of the account's newest 20,000 entries
   * says so.
   */
  readonly last_used_at: string | null;
  /**
   * As of a connection, for jobs that its key or its pages started, also those of another app. Jobs
   * that the holder started in a browser count for the job's app, and what a connection or a token
   * spends in the app counts there.
   */
  readonly spent_this_month: number | null;
  /** Its jobs that are started now, whatever started them. */
  readonly started_jobs: number;
}

/** In the response of `GET /api/access`. */
export interface Access {
  readonly apps: readonly AccessApp[];
  readonly connections: readonly AccessConnection[];
  readonly tokens: readonly AccessToken[];
  /** At most 50. */
  readonly browsers: readonly AccessBrowser[];
}

/** A part of `Access`. */
export interface AccessConnection {
  /** A UUID. */
  readonly id: string;
  /** The address that it is for; null: this API. */
  readonly resource: string | null;
  /** `read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource. */
  readonly scopes: readonly string[];
  /** The only apps that the token may use; null: all apps. */
  readonly apps: readonly string[] | null;
  readonly caps: readonly {
    readonly credits: number;
    readonly period: CapPeriod;
    /** The credits that count in the current period. */
    readonly spent: number;
    /**
     * The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits`
     * by them.
     */
    readonly approved: number;
    readonly room: number;
    /** The start of the next period; null: `total` has none. */
    readonly resets_at: string | null;
  }[];
  /** Whether the token ends with the session that approved it. */
  readonly ends_with_session: boolean;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /**
   * Updated at most once an hour. A connection for a resource is used when its tokens are refreshed,
   * introspected or exchanged; what the resource accepts without that is not seen here.
   */
  readonly last_used_at: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly expires_at: string;
  /**
   * The cost of its jobs, and of its children's jobs, that ended in this month (UTC), less refunds
   * by operators. Null if the account has more than 20,000 entries of this month.
   */
  readonly spent_this_month: number | null;
  /** Null for a program's token that was exchanged without a client. */
  readonly client_id: string | null;
  readonly name: string;
  /** The host of the client's address; null if registered. */
  readonly host: string | null;
  /** Whether an operator of this service registered the client. */
  readonly registered: boolean;
  /** The tokens that were exchanged from it, and end with it. */
  readonly children: readonly AccessConnection[];
}

/** A part of `Access`. */
export interface AccessToken {
  /** A UUID. */
  readonly id: string;
  /** The address that it is for; null: this API. */
  readonly resource: string | null;
  /** `read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource. */
  readonly scopes: readonly string[];
  /** The only apps that the token may use; null: all apps. */
  readonly apps: readonly string[] | null;
  readonly caps: readonly {
    readonly credits: number;
    readonly period: CapPeriod;
    /** The credits that count in the current period. */
    readonly spent: number;
    /**
     * The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits`
     * by them.
     */
    readonly approved: number;
    readonly room: number;
    /** The start of the next period; null: `total` has none. */
    readonly resets_at: string | null;
  }[];
  /** Whether the token ends with the session that approved it. */
  readonly ends_with_session: boolean;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /**
   * Updated at most once an hour. A connection for a resource is used when its tokens are refreshed,
   * introspected or exchanged; what the resource accepts without that is not seen here.
   */
  readonly last_used_at: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly expires_at: string;
  /**
   * The cost of its jobs, and of its children's jobs, that ended in this month (UTC), less refunds
   * by operators. Null if the account has more than 20,000 entries of this month.
   */
  readonly spent_this_month: number | null;
  readonly label: string;
  /** Whether this request was sent with this token. */
  readonly current: boolean;
  /** The tokens that were exchanged from it, and end with it. */
  readonly children: readonly AccessToken[];
}

/** A part of `Access`. */
export interface AccessBrowser {
  readonly id: string;
  /** Whether this request was sent from this browser. */
  readonly current: boolean;
  /** The browser and its system; null if unknown. */
  readonly browser: string | null;
  /** Where it was last used; null if unknown. */
  readonly place: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly started_at: string;
  /** Accurate to a day. */
  readonly last_used_at: string | null;
}

/** The token itself is not stored and not returned. */
export interface PersonalToken {
  /** A UUID. */
  readonly id: string;
  /**
   * `device`: a personal access token. `code`: a client that the person connected. `exchange`:
   * exchanged from the token `parent_id`, whose limits bind it too.
   */
  readonly kind: "device" | "code" | "exchange";
  /** A UUID. */
  readonly parent_id: string | null;
  /**
   * The OAuth client that holds it, or that collected a device’s token; null for another personal
   * access token.
   */
  readonly client: {
    readonly id: string;
    /** The host of the client's address, if it has one. */
    readonly host: string | null;
  } | null;
  /** The address that it is for; null: this API. */
  readonly resource: string | null;
  readonly label: string;
  /** The app that requested the token, as its client named it. */
  readonly app: string | null;
  /** `read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource. */
  readonly scopes: readonly string[];
  /** The only apps that the token may use; null: all apps. */
  readonly apps: readonly string[] | null;
  readonly caps: readonly {
    readonly credits: number;
    readonly period: CapPeriod;
    /** The credits that count in the current period. */
    readonly spent: number;
    /**
     * The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits`
     * by them.
     */
    readonly approved: number;
    readonly room: number;
    /** The start of the next period; null: `total` has none. */
    readonly resets_at: string | null;
  }[];
  /** Whether this request was sent with this token. */
  readonly current: boolean;
  /** Whether the token ends with the session that approved it. */
  readonly ends_with_session: boolean;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** Updated at most once an hour. */
  readonly last_used_at: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly expires_at: string;
}

/** In the response of `GET /api/admin/accounts`. */
export interface FoundAccountPage {
  readonly accounts: readonly FoundAccount[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
  /** The time of the query to the read model, which can be some seconds behind the accounts. */
  readonly as_of: string;
}

/** A part of `FoundAccountPage`. */
export interface FoundAccount {
  /** A UUID. */
  readonly id: string;
  /** The person's id at the identity provider; also `sub` of session tokens. */
  readonly identity_id: string;
  /** `free`, or a plan that an operator set. */
  readonly plan: string;
  /** The available credits, without the credits that started jobs reserve. */
  readonly credits: number;
  readonly name: string | null;
  readonly email: string | null;
  /** Credits that started jobs hold, not included in `credits`. */
  readonly held: number;
  readonly state: "active" | "suspended";
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

/** In the response of `POST /api/admin/accounts/suspend`. */
export interface SuspendedAccounts {
  /** One result per identity, in their order: `ok`, or `error` and `code`. */
  readonly results: readonly {
    readonly identity_id: string;
    /** The account is suspended. */
    readonly ok?: true | undefined;
    /** Why it is not suspended, or may not be. */
    readonly error?: string | undefined;
    /** As in an error response. */
    readonly code?: string | undefined;
  }[];
}

/** In the response of `GET /api/admin/accounts/{identity_id}`. */
export interface InspectedAccount {
  readonly account: {
    /** A UUID. */
    readonly id: string;
    /** The person's id at the identity provider; also `sub` of session tokens. */
    readonly identity_id: string;
    /** `free`, or a plan that an operator set. */
    readonly plan: string;
    /** The available credits, without the credits that started jobs reserve. */
    readonly credits: number;
    readonly name: string | null;
    readonly email: string | null;
    readonly email_verified: boolean;
    /** RFC 3339, in UTC with milliseconds. */
    readonly created_at: string;
    /** The start of the suspension; null if the account is not suspended. */
    readonly suspended_at: string | null;
    /** Why it is suspended, as its holder reads it; null without such a reason. */
    readonly suspended_public_reason: string | null;
  };
  readonly held: number;
  /** Credits with terms, in the order of use. */
  readonly lots: readonly Lot[];
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
  /** Automatic top-up; null: it was never set. */
  readonly topup: TopUp | null;
  /** The newest 20 automatic top-ups. */
  readonly top_ups: readonly AutomaticTopUp[];
  /** The newest 200. `/jobs?status=started` lists all of them. */
  readonly started_jobs: readonly Job[];
}

/** A part of `InspectedAccount`. */
export interface AutomaticTopUp {
  readonly number: number;
  /** The failed charges in a row before it, plus 1. */
  readonly attempt: number;
  /** `due`: its charge is not known yet. `dropped`: nothing was charged. */
  readonly outcome: "due" | "done" | "failed" | "dropped";
  readonly failure: "declined" | "authentication_required" | "refused" | null;
  readonly package_name: string;
  readonly credits: number;
  readonly amount_minor: number;
  readonly currency: string;
  readonly payment_intent_id: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

/** In the response of `GET /api/admin/accounts/{identity_id}/export`. */
export type PersonData = Readonly<Record<string, unknown>>;

/** In the response of `POST /api/admin/accounts/{identity_id}/jobs/{job_id}/refund`. */
export interface RefundedJob {
  readonly job: Job;
  readonly entry: Entry;
  /** The balance after this request. It can be negative after an overage. */
  readonly credits: number;
}

/** In the response of `GET /api/admin/accounts/{identity_id}/purchases`. */
export interface AccountPurchasePage {
  readonly purchases: readonly AccountPurchase[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** A part of `AccountPurchasePage`. */
export interface AccountPurchase {
  /** The checkout's id at Stripe. */
  readonly checkout_session_id: string;
  /** The payment's id at Stripe. */
  readonly payment_intent_id: string;
  /** The payment in Stripe's dashboard; null if this service does not sell credits now. */
  readonly payment_url: string | null;
  readonly package: string;
  readonly package_name: string;
  readonly credits: number;
  /** Credits taken back for refunds and disputes. */
  readonly taken_back: number;
  readonly currency: string;
  /** The money paid, in the currency's smallest unit, such as cents. */
  readonly amount_minor: number;
  /** The money returned, in the currency's smallest unit, such as cents. */
  readonly refunded_minor: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** In the response of `POST /api/admin/accounts/{identity_id}/credits`. */
export interface AdjustedCredits {
  readonly entry: Entry;
  /** The balance after this request. It can be negative after an overage. */
  readonly credits: number;
}

/** In the response of `POST /api/admin/accounts/{identity_id}/plan`. */
export interface ChangedPlan {
  readonly ok: true;
  readonly account: Account;
}

/** In the response of `GET /api/admin/archive`. */
export interface ArchiveHeadPage {
  readonly heads: readonly {
    readonly account_id: string;
    readonly identity_id: string;
    /** The number of the account's newest entry. */
    readonly line: number;
    /** The newest segment; null before the first one. */
    readonly head: {
      /** The number of its last entry. */
      readonly line: number;
      /** The SHA-256 of its stored bytes, in hexadecimal. */
      readonly sha256: string;
    } | null;
  }[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `POST /api/admin/archive`. */
export interface ArchivedPage {
  /** People whose accounts got the request. */
  readonly requested: number;
  /** Identities whose accounts did not respond. */
  readonly failed: readonly string[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `GET /api/admin/accounts/{identity_id}/archive`. */
export interface AccountArchive {
  readonly account_id: string;
  readonly identity_id: string;
  /** The number of the account's newest entry. */
  readonly line: number;
  /** The newest segment; null before the first one. */
  readonly head: {
    /** The number of its last entry. */
    readonly line: number;
    /** The SHA-256 of its stored bytes, in hexadecimal. */
    readonly sha256: string;
  } | null;
  /** Names in the folder `ledger/v1/{account_id}/`. */
  readonly segments: readonly string[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `GET /api/admin/accounts/{identity_id}/archive/{segment}`. */
export interface ArchiveSegment {
  readonly name: string;
  /** The bytes in base64url (RFC 4648, section 5). */
  readonly content: string;
}

/** In the response of `POST /api/admin/directory/copy`. */
export interface CopiedDirectory {
  /** The id of the copy. */
  readonly copy: string;
  /** Rows that the copy has so far; 0 if it had ended before. */
  readonly rows: number;
  /** Changes of people that this call copied. */
  readonly people: number;
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `POST /api/admin/directory/rebuild`. */
export interface RebuiltDirectory {
  /** The copy that is restored; null: the archive has no copy, so only people are restored. */
  readonly copy: {
    readonly id: string;
    readonly completed_at: string;
  } | null;
  /** The table that the numbers are about. */
  readonly table: string;
  readonly restored: number;
  /** Rows that the directory had. */
  readonly known: number;
  readonly decide: readonly {
    /**
     * `newer_record`: the directory has another version, which stays. `page_missing`, `page_damaged`:
     * a file of the copy cannot be used. `person_taken`: another person has a sign-in method of this
     * one. `person_unreadable`: the encryption key of the copy is missing.
     */
    readonly why:
      | "newer_record"
      | "page_missing"
      | "page_damaged"
      | "person_taken"
      | "person_unreadable";
    /** A record, a file, or an identity. */
    readonly subject: string;
  }[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/**
 * In the response of `GET /api/admin/differences`, `GET
 * /api/admin/accounts/{identity_id}/differences`.
 */
export interface ComparedPage {
  /** Accounts that were compared. */
  readonly checked: number;
  readonly differences: readonly {
    /** Null: the whole service. */
    readonly identity_id: string | null;
    /** The copy that differs, or the account's own sums. */
    readonly where: "account" | "archive" | "read_model" | "payments";
    readonly what:
      | "balance"
      | "held"
      | "purchases"
      | "entry"
      | "segment_missing"
      | "segment_changed"
      | "purchase"
      | "daily_totals"
      | "daily_totals_bought"
      | "liability";
    /** What the account's rows give: credits, or the number of an entry. */
    readonly expected: number | null;
    readonly found: number | null;
  }[];
  /** Identities whose accounts or copies did not respond. */
  readonly failed: readonly string[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `GET /api/admin/accounts/{identity_id}/recovery`. */
export interface RecoveryPlan {
  readonly now: {
    /** The number of the entry. */
    readonly line: number;
    /** The time of the entry. */
    readonly at: string;
    readonly credits: number;
    readonly held: number;
    readonly started_jobs: number;
  };
  /** The account at the time. */
  readonly target: {
    /** The number of the entry. */
    readonly line: number;
    /** The time of the entry. */
    readonly at: string;
    readonly credits: number;
    readonly held: number;
    readonly started_jobs: number;
  };
  readonly undone_entries: number;
  /** The credits of purchases, refunds and debts after the time. They stay. */
  readonly kept_credits: number;
  /** What a person must decide, at most 500. */
  readonly decisions: readonly {
    /**
     * The job was created after the time; it ended after the time, and is started again for a day; an
     * operator's change of credits or plan is undone.
     */
    readonly what: "job_gone" | "job_open_again" | "credits_undone" | "plan_undone";
    /** The number of the undone entry. */
    readonly line: number;
    readonly job_id: string | null;
    /** What it changed of the balance. */
    readonly amount: number;
    readonly note: string | null;
  }[];
  readonly decisions_total: number;
}

/** In the response of `POST /api/admin/accounts/{identity_id}/recovery`. */
export interface RecoveredAccount {
  readonly now: {
    /** The number of the entry. */
    readonly line: number;
    /** The time of the entry. */
    readonly at: string;
    readonly credits: number;
    readonly held: number;
    readonly started_jobs: number;
  };
  /** The account at the time. */
  readonly target: {
    /** The number of the entry. */
    readonly line: number;
    /** The time of the entry. */
    readonly at: string;
    readonly credits: number;
    readonly held: number;
    readonly started_jobs: number;
  };
  readonly undone_entries: number;
  /** The credits of purchases, refunds and debts after the time. They stay. */
  readonly kept_credits: number;
  /** What a person must decide, at most 500. */
  readonly decisions: readonly {
    /**
     * The job was created after the time; it ended after the time, and is started again for a day; an
     * operator's change of credits or plan is undone.
     */
    readonly what: "job_gone" | "job_open_again" | "credits_undone" | "plan_undone";
    /** The number of the undone entry. */
    readonly line: number;
    readonly job_id: string | null;
    /** What it changed of the balance. */
    readonly amount: number;
    readonly note: string | null;
  }[];
  readonly decisions_total: number;
  /** Entries of requests that arrived while the account restarted. They are undone. */
  readonly lost: readonly {
    /** The number of the undone entry. */
    readonly line: number;
    readonly job_id: string | null;
    /** What it changed of the balance. */
    readonly amount: number;
  }[];
}

/** In the response of `GET /api/admin/accounts/{identity_id}/lost-storage`. */
export interface LostAccount {
  readonly account_id: string;
  readonly head: {
    /** The number of its last entry. */
    readonly line: number;
    /** The SHA-256 of its stored bytes, in hexadecimal. */
    readonly sha256: string;
  };
  /** The account as the read model knows it. The archive may have less. */
  readonly read_model: {
    /** The number of the entry. */
    readonly line: number;
    readonly credits: number;
    readonly held: number;
    /** The time of the entry. */
    readonly at: string;
  };
  /** Why it cannot be restored; null: it can. */
  readonly refusal: string | null;
}

/** In the response of `POST /api/admin/accounts/{identity_id}/lost-storage`. */
export interface RestoredAccount {
  readonly now: {
    /** The number of the entry. */
    readonly line: number;
    /** The time of the entry. */
    readonly at: string;
    readonly credits: number;
    readonly held: number;
    readonly started_jobs: number;
  };
  /** Entries that the read model had, and the archive has not. */
  readonly lost_entries: number;
}

/** In the response of `POST /api/admin/rebuild`. */
export interface RepairedPage {
  /** The number of people; only on the first page. */
  readonly people?: number | undefined;
  /** People whose accounts were compared with the read model. */
  readonly checked: number;
  /** Accounts that sent missing rows. */
  readonly repaired: number;
  /** Identities whose accounts could not be repaired. */
  readonly failed: readonly string[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `POST /api/admin/payments/reconcile`. */
export interface ReconciledPage {
  /** Stripe's objects that were compared with the accounts, also those of other services. */
  readonly checked: number;
  /** The missing objects that are booked now. */
  readonly booked: readonly {
    /** Its kind: a checkout, a refund or a dispute. */
    readonly list: "checkouts" | "top_ups" | "refunds" | "disputes";
    /** Its id at Stripe. */
    readonly id: string;
    /** The account's identity. */
    readonly identity_id: string;
    readonly payment_intent_id: string;
    /** The credits of the purchase; null for a refund or dispute. */
    readonly credits: number | null;
  }[];
  /** The missing objects that could not be booked. */
  readonly not_booked: readonly {
    /** Its kind: a checkout, a refund or a dispute. */
    readonly list: "checkouts" | "top_ups" | "refunds" | "disputes";
    /** Its id at Stripe. */
    readonly id: string;
    /** Why: an error code, or the name of an error in the log. */
    readonly code: string;
  }[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** In the response of `GET /api/admin/stats`. */
export interface Stats {
  readonly series: readonly DailyTotals[];
  /** The time of the query to the read model, which can be some seconds behind the accounts. */
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
  /** Credits that jobs gave back: the reserves of failed jobs, and `job_refunded`. */
  readonly refunded: number;
  /** Cost of ended jobs that operators gave back. */
  readonly job_refunded: number;
  /** Credits bought, before reversals. */
  readonly purchased: number;
  /** The signed sum of adjustments. */
  readonly adjusted: number;
  /** Credits whose time was over, below zero. */
  readonly expired: number;
  /**
   * Credits taken back because a purchase's money was returned, below zero; above zero if disputes
   * that were won gave back more.
   */
  readonly taken_back: number;
  /**
   * Credits of deleted accounts, below zero; their debts count above zero, and below zero again if
   * the holder returns.
   */
  readonly forfeited: number;
  readonly jobs: number;
  readonly failed: number;
  readonly active_accounts: number;
}

/** In the response of `GET /api/admin/money`. */
export interface Money {
  /** Now, whatever the period. */
  readonly outstanding: {
    /** The sum of all balances. A balance below zero lowers it. */
    readonly credits: number;
    /** Credits that started jobs hold, not included in `credits`. */
    readonly held: number;
    /** Accounts whose balance or held credits are not 0. */
    readonly accounts: number;
  };
  readonly by_app: readonly {
    readonly app: string;
    /** Starter credits. */
    readonly granted: number;
    /** The cost of jobs. */
    readonly settled: number;
    /** Credits that jobs gave back: the reserves of failed jobs, and `job_refunded`. */
    readonly refunded: number;
    /** Cost of ended jobs that operators gave back. */
    readonly job_refunded: number;
  }[];
  readonly revenue: readonly {
    /** Null: operators gave the credits, with `paid_minor`. */
    readonly package: string | null;
    readonly currency: string;
    readonly purchases: number;
    /** Money paid in the period, in the currency's smallest unit, such as cents. */
    readonly amount_minor: number;
    /**
     * Money returned in the period by refunds and disputes, in the currency's smallest unit, such as
     * cents. Negative if more was won back in disputes.
     */
    readonly refunded_minor: number;
  }[];
  /** The time of the query to the read model, which can be some seconds behind the accounts. */
  readonly as_of: string;
}

/** Each change has the sign by which it changes `closing`. */
export interface MonthMoney {
  /** A UTC month, such as 2026-10. */
  readonly month: string;
  /** All balances and held credits before the month: what the service owed. */
  readonly opening: CreditsByPart;
  /** Starter credits, and those of plans. */
  readonly granted: CreditsByPart;
  /** Credits bought. */
  readonly purchased: CreditsByPart;
  /** Operators' adjustments, up and down. */
  readonly adjusted: CreditsByPart;
  /**
   * The cost of jobs, below zero. Bought credits that pay what an account owed count as bought ones
   * spent, and as many given ones not spent.
   */
  readonly spent: CreditsByPart;
  /** Cost of ended jobs that operators gave back. */
  readonly job_refunded: CreditsByPart;
  /** Credits whose time was over, below zero. */
  readonly expired: CreditsByPart;
  /**
   * Credits that refunds and disputes of purchases took, below zero, less what won disputes gave
   * back.
   */
  readonly taken_back: CreditsByPart;
  /**
   * Credits of deleted accounts, below zero; their debts count above zero, and below zero again if
   * the holder returns.
   */
  readonly forfeited: CreditsByPart;
  /** After the month, or so far. Each part is that of `opening` with all changes added, exactly. */
  readonly closing: CreditsByPart;
  /**
   * The bought credits of `closing`, by the currency of their payments. All `credits` add up to
   * `closing.bought`.
   */
  readonly liability: readonly {
    /** Null: what was paid for these credits is unknown. */
    readonly currency: string | null;
    /** With those that started jobs hold. */
    readonly credits: number;
    /**
     * What was paid for these credits, in the currency's smallest unit, such as cents. Null without a
     * currency.
     */
    readonly amount_minor: number | null;
  }[];
  /** The time of the query to the read model, which can be some seconds behind the accounts. */
  readonly as_of: string;
}

/** Credits that were bought, and those that were given. */
export interface CreditsByPart {
  readonly bought: number;
  readonly given: number;
}

/** In the response of `GET /api/admin/health`. */
export interface Health {
  /** `warning` if any figure is one. */
  readonly status: "ok" | "warning";
  readonly figures: readonly HealthFigure[];
  /** Null: unknown. */
  readonly tasks: readonly ScheduledTask[] | null;
  /** Null: unknown. */
  readonly budgets: readonly UsedBudget[] | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly as_of: string;
}

/** A part of `Health`. */
export interface HealthFigure {
  /** docs/alerts.md has a paragraph for each. */
  readonly name:
    | "fast_burn"
    | "slow_burn"
    | "limited_requests"
    | "failed_requests"
    | "read_model_lag"
    | "failed_deliveries"
    | "archive_failing"
    | "people_waiting"
    | "directory_copy_age"
    | "database_size"
    | "half_full_accounts"
    | "filling_accounts"
    | "differences"
    | "comparison_age"
    | "overdue_jobs"
    | "schedule_age"
    | "failing_tasks"
    | "failed_payment_events"
    | "payments_not_booked"
    | "failed_top_ups"
    | "dropped_payment_events"
    | "paused_webhooks"
    | "failing_webhooks"
    | "used_up_budgets"
    | "spent_today";
  readonly status: "ok" | "warning";
  /** Null if it is unknown, which is a warning, unless its `reason` is `metrics_not_set`. */
  readonly value: number | null;
  /** A higher value is a warning; null: no limit. */
  readonly limit: number | null;
  readonly unit: string;
  /** The newest failure or run that it counts. */
  readonly newest_at: string | null;
  /** Why the value is unknown, or the reason of the newest failure. */
  readonly reason: string | null;
}

/** One task of the schedule, after its last run. */
export interface ScheduledTask {
  readonly task: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly ended_at: string;
  /** Null: the last run succeeded. */
  readonly failing_since: string | null;
  readonly reason: string | null;
}

/** The daily starter budget of one app. */
export interface UsedBudget {
  readonly app: string;
  /** Starter credits granted today (UTC), by the read model. */
  readonly used: number;
  readonly limit: number;
  /** Whether too few credits are left for another grant today. */
  readonly used_up: boolean;
}

/** In the response of `GET /api/admin/operators`. */
export interface OperatorList {
  readonly operators: readonly Operator[];
}

/** A part of `OperatorList`. */
export interface Operator {
  /** The entry of `OPERATORS`, without its role. */
  readonly entry: string;
  readonly role: "viewer" | "support" | "admin";
  /** Why the entry names nobody, and what to write; null: it can. */
  readonly problem: string | null;
}

/** In the response of `GET /api/admin/requests`. */
export interface Requests {
  /** `memory`: a local service, which remembers its last 1,000 requests. */
  readonly source: "metrics" | "memory";
  readonly hour: RequestSums;
  readonly day: RequestSums;
  readonly routes: readonly {
    readonly requests: number;
    /** Responses with a status of 500 or more. */
    readonly failed: number;
    /** Responses with the status 429. */
    readonly limited: number;
    readonly method: string;
    /** Null: no route matched. */
    readonly route: string | null;
    /** The median of the durations. */
    readonly p50_ms: number;
    /** 95 of 100 requests took no longer. */
    readonly p95_ms: number;
  }[];
  readonly requests: readonly Request[];
}

/** A part of `Requests`. */
export interface RequestSums {
  readonly requests: number;
  /** Responses with a status of 500 or more. */
  readonly failed: number;
  /** Responses with the status 429. */
  readonly limited: number;
}

/** A part of `Requests`. */
export interface Request {
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  readonly request_id: string;
  readonly method: string;
  readonly route: string | null;
  readonly status: number;
  /** The code of the refusal. */
  readonly code: string | null;
  readonly app: string | null;
  /** The kind of caller. */
  readonly caller: string | null;
  /** Stands for the account in logs and metrics. */
  readonly account: string | null;
  readonly release: string | null;
  /** Cloudflare's location. */
  readonly colo: string | null;
  /** Time spent waiting, without computing. */
  readonly duration_ms: number;
  /** Calls of accounts' objects. */
  readonly account_calls: number;
}

/** In the response of `GET /api/admin/audit`. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** One line of the audit log. */
export interface AuditEntry {
  readonly id: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  /** The operator's identity, or `app_key:` and the id of the app's key that acted. */
  readonly actor: string;
  readonly act: string;
  /** The subject of the change: an identity or an app's slug. */
  readonly subject: string;
  readonly reason: string | null;
  readonly request_id: string;
  /** The changed fields, before and after; null: none, or it is unknown. */
  readonly changed: Readonly<Record<string, FieldChange>> | null;
  /** `outcome`: `done`, `refused`, `replayed`, or `unknown` if the end was not seen. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A field's value before and after an action. */
export interface FieldChange {
  readonly from: unknown;
  readonly to: unknown;
}

/** In the response of `GET /api/admin/apps`. */
export interface AppPage {
  readonly apps: readonly RegisteredApp[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** A part of `AppPage`. */
export interface RegisteredApp {
  /** An app's slug. */
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly origins: readonly string[];
  /** The most that its grants of one UTC day may add up to; null: no limit. */
  readonly daily_starter_budget: number | null;
  /** The caller that completes and fails its jobs. */
  readonly settle: "holder" | "app";
  /** Whether the reserve of an expired job is refunded or charged. */
  readonly on_expiry: "refund" | "charge";
  /** How far a job's cost may exceed its estimate, in percent; null: no limit. */
  readonly max_overage_percent: number | null;
  /** Sign-in providers whose upstream tokens the app's origins may receive. */
  readonly upstream_providers: readonly string[];
  /** The address that the icon was copied from; null: no icon. Pages show the copy. */
  readonly icon: string | null;
  /** The app's colour, such as #12507b; null: none. */
  readonly color: string | null;
  /** The cap that the page suggests when a person approves a device for the app. */
  readonly suggested_cap: {
    readonly credits: number;
    readonly period: CapPeriod;
  } | null;
  /** E-mail domains whose people get no starter credits of this app. */
  readonly starter_excluded_domains: readonly string[];
  /** An operator's pause of the app; null: it is not paused. */
  readonly paused: AppPause | null;
  /** After how many days its starter credits expire; null: never. */
  readonly starter_expires_after_days: number | null;
  /** Whether only this app can use its starter credits. */
  readonly starter_only_here: boolean;
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /**
   * Starter credits granted since midnight UTC, some seconds late; null: unknown, because the read
   * model does not respond.
   */
  readonly granted_today: number | null;
}

/**
 * In the response of `PUT /api/admin/apps/{slug}`, `PATCH /api/admin/apps/{slug}`, `POST
 * /api/admin/apps/{slug}/pause` and others.
 */
export interface SavedApp {
  readonly app: AppRecord;
}

/** A part of `SavedApp`. */
export interface AppRecord {
  /** An app's slug. */
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly origins: readonly string[];
  /** The most that its grants of one UTC day may add up to; null: no limit. */
  readonly daily_starter_budget: number | null;
  /** The caller that completes and fails its jobs. */
  readonly settle: "holder" | "app";
  /** Whether the reserve of an expired job is refunded or charged. */
  readonly on_expiry: "refund" | "charge";
  /** How far a job's cost may exceed its estimate, in percent; null: no limit. */
  readonly max_overage_percent: number | null;
  /** Sign-in providers whose upstream tokens the app's origins may receive. */
  readonly upstream_providers: readonly string[];
  /** The address that the icon was copied from; null: no icon. Pages show the copy. */
  readonly icon: string | null;
  /** The app's colour, such as #12507b; null: none. */
  readonly color: string | null;
  /** The cap that the page suggests when a person approves a device for the app. */
  readonly suggested_cap: {
    readonly credits: number;
    readonly period: CapPeriod;
  } | null;
  /** E-mail domains whose people get no starter credits of this app. */
  readonly starter_excluded_domains: readonly string[];
  /** An operator's pause of the app; null: it is not paused. */
  readonly paused: AppPause | null;
  /** After how many days its starter credits expire; null: never. */
  readonly starter_expires_after_days: number | null;
  /** Whether only this app can use its starter credits. */
  readonly starter_only_here: boolean;
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

/** In the response of `GET /api/admin/apps/{slug}/keys`. */
export interface AppKeyPage {
  readonly keys: readonly ListedAppKey[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** A part of `AppKeyPage`. */
export interface ListedAppKey {
  /** A UUID. */
  readonly id: string;
  readonly label: string;
  /** The last four characters of the key. */
  readonly last_four: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** The start of the UTC day of its last use; null: it was never used. */
  readonly last_used_at: string | null;
}

/** In the response of `POST /api/admin/apps/{slug}/keys`. */
export interface NewAppKey {
  /** A UUID. */
  readonly id: string;
  readonly label: string;
  /** The last four characters of the key. */
  readonly last_four: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** The secret, shown only once; null in the response to a repeated request. */
  readonly key: string | null;
}

/** The app of the key. */
export interface OwnApp {
  /** An app's slug. */
  readonly slug: string;
  readonly name: string;
  /** The caller that completes and fails its jobs. */
  readonly settle: "holder" | "app";
  /** Whether the reserve of an expired job is refunded or charged. */
  readonly on_expiry: "refund" | "charge";
  readonly starter_credits: number;
  /** The most that its grants of one UTC day may add up to; null: no limit. */
  readonly daily_starter_budget: number | null;
  /**
   * Starter credits granted since midnight UTC, some seconds late; null: unknown, because the read
   * model does not respond.
   */
  readonly granted_today: number | null;
  /** An operator's pause of the app; null: it is not paused. */
  readonly paused: AppPause | null;
}

/** All OAuth clients of the app, by id. */
export interface OAuthClientList {
  readonly clients: readonly OAuthClient[];
}

/** A part of `OAuthClientList`. */
export interface OAuthClient {
  readonly id: string;
  /** The value that the client sends as `client_id`. */
  readonly client_id: string;
  /** The name that people see on the consent page. */
  readonly name: string;
  readonly redirect_uris: readonly string[];
  /** Where a browser may go after the client signed a person out. */
  readonly post_logout_redirect_uris: readonly string[];
  /** Without a secret. */
  readonly public: boolean;
  readonly pkce_optional: boolean;
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** The start of the UTC day on which it last got tokens; null: never. */
  readonly last_used_at: string | null;
}

/** In the response of `GET /api/admin/apps/{slug}/clients/{id}`. */
export interface OneOAuthClient {
  readonly client: OAuthClient;
}

/** In the response of `PUT /api/admin/apps/{slug}/clients/{id}`. */
export interface SavedOAuthClient {
  readonly client: OAuthClient;
  readonly client_id: string;
  /** Only in the response that made the client confidential. */
  readonly client_secret?: string | undefined;
}

/** In the response of `POST /api/admin/apps/{slug}/clients/{id}/secret`. */
export interface ReplacedClientSecret {
  /** The new secret. Null in the response to a retry, because it is shown only once. */
  readonly client_secret: string | null;
  readonly client: OAuthClient;
}

/** All protected resources of the app, by id. */
export interface ResourceList {
  readonly resources: readonly Resource[];
}

/** A part of `ResourceList`. */
export interface Resource {
  readonly id: string;
  /** The value that clients send as `resource`, and the `aud` of its tokens. */
  readonly uri: string;
  /** The scopes that clients may request for it. */
  readonly scopes: readonly string[];
  /** Whether people who connect a client to it let the app charge them for it. */
  readonly charges: boolean;
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

/**
 * In the response of `GET /api/admin/apps/{slug}/resources/{id}`, `PUT
 * /api/admin/apps/{slug}/resources/{id}`.
 */
export interface OneResource {
  readonly resource: Resource;
}

/** In the response of `GET /api/admin/plans`. */
export interface PlanList {
  readonly plans: readonly ListedPlan[];
}

/** A part of `PlanList`. */
export interface ListedPlan {
  /** The plan's id, a slug. */
  readonly id: string;
  readonly name: string;
  readonly recurring: readonly PlanRule[];
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
  /** How many accounts have the plan, some seconds late. At most 4,000 are counted. */
  readonly accounts: number;
  /** How many accounts do not have its newest rules yet. At most 4,000 are counted. */
  readonly behind: number;
}

/** A part of `ListedPlan`. */
export interface PlanRule {
  /** The credits of each period. They expire when the next ones come. */
  readonly credits: number;
  readonly every: "day" | "week" | "month";
  /** The most that is left of a period's credits for one more period. */
  readonly rollover_max: number;
  /** The only apps that can use the credits; null: all apps. */
  readonly app_slugs: readonly string[] | null;
}

/** In the response of `GET /api/admin/plans/{id}`. */
export interface OneListedPlan {
  readonly plan: ListedPlan;
}

/** In the response of `PUT /api/admin/plans/{id}`. */
export interface OnePlan {
  readonly plan: Plan;
}

/** A part of `OnePlan`. */
export interface Plan {
  /** The plan's id, a slug. */
  readonly id: string;
  readonly name: string;
  readonly recurring: readonly PlanRule[];
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

/** All webhooks of the app, by id. */
export interface WebhookList {
  readonly webhooks: readonly Webhook[];
}

/** A part of `WebhookList`. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly (
    | "job.created"
    | "job.progressed"
    | "job.completed"
    | "job.failed"
    | "job.expired"
    | "credits.changed"
    | "credits.granted"
    | "credits.low"
    | "credits.expiring"
    | "credits.expired"
    | "credits.refused"
    | "topup.failed"
    | "topup.disabled"
    | "purchase.completed"
    | "purchase.refunded"
    | "account.deleted"
    | "approval.approved"
    | "approval.denied"
    | "connection.revoked"
    | "connection.limit_reached"
    | "access.stopped"
    | "access.allowed"
    | "app.paused"
    | "app.continued"
  )[];
  /** Balances in credits, in ascending order, at which `credits.low` is sent. */
  readonly thresholds: readonly number[];
  /** False: nothing is delivered, but events are not lost. */
  readonly active: boolean;
  /** Since when it is not active; null: it is. */
  readonly paused_at: string | null;
  /** Why the service paused it; null: it is active, or its owner paused it. */
  readonly paused_reason: string | null;
  /** The minute of the last delivery that succeeded; null: none. */
  readonly last_success_at: string | null;
  /** Why the last delivery that failed did so; null: none did. */
  readonly last_error: string | null;
  /** RFC 3339, in UTC with milliseconds. */
  readonly last_error_at: string | null;
  /** When the first delivery failed after the last success; null: the last one succeeded. */
  readonly failing_since: string | null;
  /** Increases with each save, from 1. Send it with the next save. */
  readonly version: number;
  /** RFC 3339, in UTC with milliseconds. */
  readonly created_at: string;
}

/** In the response of `PUT /api/admin/apps/{slug}/webhooks/{id}`. */
export interface SavedWebhook {
  readonly webhook: Webhook;
  /** `whsec_` and 32 bytes in base64, only in the response that created the webhook; otherwise null. */
  readonly secret: string | null;
}

/** In the response of `POST /api/admin/apps/{slug}/webhooks/{id}/rotate`. */
export interface RotatedSecret {
  /** The new secret; null in the response to a repeated request. */
  readonly secret: string | null;
}

/** In the response of `POST /api/admin/apps/{slug}/webhooks/{id}/test`. */
export interface TestedWebhook {
  /** The receiver's status; null: it did not respond. */
  readonly status: number | null;
  readonly duration_ms: number;
  /** Why the receiver did not accept the event; null: it did. */
  readonly error: string | null;
  /** The first 1,024 bytes of a response that did not accept it. Null for an app's key. */
  readonly response: string | null;
}

/** The newest first. */
export interface WebhookAttemptList {
  readonly attempts: readonly WebhookAttempt[];
}

/** An event that was sent. */
export interface WebhookAttempt {
  /** When it ended. */
  readonly at: string;
  /** `webhook-id` of the event. */
  readonly event_id: string;
  readonly type:
    | "job.created"
    | "job.progressed"
    | "job.completed"
    | "job.failed"
    | "job.expired"
    | "credits.changed"
    | "credits.granted"
    | "credits.low"
    | "credits.expiring"
    | "credits.expired"
    | "credits.refused"
    | "topup.failed"
    | "topup.disabled"
    | "purchase.completed"
    | "purchase.refunded"
    | "account.deleted"
    | "approval.approved"
    | "approval.denied"
    | "connection.revoked"
    | "connection.limit_reached"
    | "access.stopped"
    | "access.allowed"
    | "app.paused"
    | "app.continued";
  /** The account's holder; null: the event concerns the app itself. */
  readonly identity_id: string | null;
  /** The ledger entry, or the newest one when it happened. */
  readonly line: number;
  /** How often the event was tried by then. */
  readonly attempts: number;
  /** The receiver's status; null: it did not respond. */
  readonly status: number | null;
  readonly duration_ms: number;
  /** Why the receiver did not accept the event; null: it did. */
  readonly error: string | null;
  /**
   * The first 1,024 bytes of a response that did not accept it. Null for roles below admin, for an
   * app's key, and with `identity_id`.
   */
  readonly response: string | null;
}

/** In the response of `GET /api/admin/apps/{slug}/webhooks/{id}/deliveries`. */
export interface WebhookDeliveryPage {
  /** Since when the events of all accounts are being sent again; null: they are not. */
  readonly replays_since: string | null;
  readonly deliveries: readonly WebhookDelivery[];
  /** Send this as `cursor` to get the next page. Missing on the last page. */
  readonly next_cursor?: string | undefined;
}

/** The event of an account that holds up those after it. */
export interface WebhookDelivery {
  /** `webhook-id` of the event. */
  readonly event_id: string;
  readonly type:
    | "job.created"
    | "job.progressed"
    | "job.completed"
    | "job.failed"
    | "job.expired"
    | "credits.changed"
    | "credits.granted"
    | "credits.low"
    | "credits.expiring"
    | "credits.expired"
    | "credits.refused"
    | "topup.failed"
    | "topup.disabled"
    | "purchase.completed"
    | "purchase.refunded"
    | "account.deleted"
    | "approval.approved"
    | "approval.denied"
    | "connection.revoked"
    | "connection.limit_reached"
    | "access.stopped"
    | "access.allowed"
    | "app.paused"
    | "app.continued";
  /** The account's holder; null: the event concerns the app itself. */
  readonly identity_id: string | null;
  /** The entry after which the account's deliveries wait. */
  readonly line: number;
  /** 0: it was not tried, because the webhook is paused. */
  readonly attempts: number;
  /** `failed`: the webhook was paused after its last attempt. */
  readonly status: "pending" | "failed";
  readonly last_error: string | null;
  /** When it was tried last, or began to wait. */
  readonly at: string;
  /** When it is tried again; null: when the webhook is active. */
  readonly retry_at: string | null;
}
