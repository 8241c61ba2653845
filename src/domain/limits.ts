/**
 * The limits that the documentation states, and numbers that several rooms need, each with its unit and reason.
 * Rate limits are in `rate_limits.ts`. Any other number is next to its use.
 */

/** The largest cost or estimate of one job, in credits. */
export const COST_MAX_CREDITS = 1_000_000_000_000;

/**
 * The furthest that a balance may be from zero, in credits. JSON readers and JavaScript represent integers
 * exactly only up to 2^53 - 1.
 */
export const BALANCE_MAX_CREDITS = Number.MAX_SAFE_INTEGER;

/** The largest request body, in bytes. */
export const BODY_MAX_BYTES = 64 * 1024;

/** The largest metadata of one job, serialised as JSON, in bytes; also after merging. */
export const METADATA_MAX_BYTES = 16 * 1024;

/** The longest `action` of a job, in UTF-16 code units. */
export const ACTION_MAX_LENGTH = 200;

/** Page size of lists: by default, and at most. */
export const PAGE_DEFAULT_ROWS = 50;
export const PAGE_MAX_ROWS = 200;

/** Jobs of all accounts that one page of a filtered list, or a list by cost, looks at. */
export const LISTED_JOBS_SCANNED = 4_000;

/** Accounts of one plan that are counted. */
export const PLAN_ACCOUNTS_COUNTED = 4_000;

/** Accounts that one list considers, of an app or an e-mail domain, or those that were created last. Each is read up to 4 times. */
export const ACCOUNTS_CONSIDERED_MAX = 2_400;

/** The most jobs of one account that are started at the same time: a list of started jobs may read all of them. */
export const OPEN_JOBS_MAX = 10_000;

/**
 * The most of these that one personal token or one app may have started. One of them cannot use up the account
 * for the others: that takes ten tokens, or two apps.
 */
export const OPEN_JOBS_SHARE = { token: 1_000, app: 5_000 } as const;

/** Jobs that one batch creates or completes. */
export const JOBS_PER_BATCH_MAX = 100;

/**
 * Steps of one job. Each adds a ledger entry, and pages list the entries of a job: a thousand are some milliseconds of
 * work. A job of a day may report every 90 seconds.
 */
export const JOB_STEPS_MAX = 1_000;

/** Longest `Idempotency-Key`, in characters, and how long its response is kept. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;
export const IDEMPOTENCY_KEEP_MS = 24 * 60 * 60 * 1000;

/** Old responses that one alarm deletes: some milliseconds of work. The next alarm deletes the rest. */
export const IDEMPOTENCY_CLEANUP_ROWS = 1_000;

/** Accounts that one request suspends. Each takes about five calls, and one request may make a thousand. */
export const SUSPENDED_AT_ONCE_MAX = 100;

/** Longest message about a job's progress, in characters. */
export const MESSAGE_MAX_LENGTH = 200;

/** Longest reason of an operator's action or of a job's failure, in characters. */
export const REASON_MAX_LENGTH = 500;

/** How many days back the platform can restore an object. */
export const RECOVERY_MAX_DAYS = 30;

/** How many days an entry may wait for the archive: by default, and at most, which point-in-time recovery covers. */
export const ARCHIVE_MAX_AGE_DAYS = { usual: 7, longest: 30 } as const;

/** The age at which entries and ended jobs of a large account leave its object, in days. */
export const ARCHIVE_AFTER_DAYS = { usual: 90, longest: 3_650 } as const;

/** Apps of one account. Any caller can invent slugs; this limits what they store. */
export const APPS_PER_ACCOUNT_MAX = 1_000;

/** How many of them may be unregistered: anybody can invent slugs, and registered apps must find room. */
export const UNREGISTERED_APPS_PER_ACCOUNT_MAX = 200;

/**
 * Ledger entries in one message of the queue, which accepts 128 KB: at 3 KB for an entry's job and 300 bytes
 * for its totals, 35 of the largest fit.
 */
export const PROJECTION_MESSAGE_LINES = 30;

/** Portions that one run of the read model's maintenance does. The next run continues. */
export const UPKEEP_PORTIONS = 40;

/**
 * People whose accounts one scheduled run looks up in the read model, and accounts that it sends again. A run
 * may make about 40 such calls. At this pace 1,000 missing accounts are repaired in about five hours.
 */
export const LOST_ACCOUNTS_COMPARED = 1_000;
export const LOST_ACCOUNTS_REPAIRED = 40;

/** Ended sessions that one query deletes, and the most queries of one scheduled run. */
export const SESSION_CLEANUP_ROWS = 2_000;
export const SESSION_CLEANUP_PORTIONS = 20;

/**
 * An account's object may hold 10 GB. From this size on it creates no job (`ACCOUNT_STORAGE_BYTES`). The remaining 1.5
 * GB are four times what 10,000 started jobs (`OPEN_JOBS_MAX`) need to end, each with the largest metadata and a stored
 * response, and leave room for operators and payments.
 */
export const ACCOUNT_FULL_BYTES = 8_500_000_000;

/** A D1 database holds 10 GB, which cannot be raised. */
export const D1_MAX_BYTES = 10_000_000_000;

/** From this share of its storage on, old rows leave an account's object. */
export const STORAGE_HALF_PERCENT = 50;

/** From this share on, its young rows are too many, and operators are warned. */
export const STORAGE_FILLING_PERCENT = 80;

/** The smallest `ACCOUNT_STORAGE_BYTES`: ten empty accounts. */
export const ACCOUNT_STORAGE_MIN_BYTES = 1_000_000;

/**
 * The most that the jobs of one personal token store in an account, in bytes: a tenth of a full account. One
 * token could otherwise fill the account in half a day. A new token has its own storage, and only the holder can
 * approve one.
 */
export const TOKEN_STORAGE_MAX_BYTES = 850_000_000;

/**
 * How long an isolate's copy of the app registry is used while the registry cannot be read. A withdrawn origin
 * may be honoured for this long: the lifetime of a session token that it could have received before.
 */
export const APP_REGISTRY_STALE_MAX_MS = 15 * 60_000;

/** Live keys of one app: enough to replace the key of each of its machines one by one. */
export const KEYS_PER_APP_MAX = 20;

/** Starter credits of unregistered apps in development. In production they get none. */
export const DEVELOPMENT_STARTER_CREDITS = 100;

/** Lifetime of a session token. It is short because a revoked session's token works until it expires. */
export const SESSION_JWT_TTL_SECONDS = 15 * 60;

/** A session ends this long after its last renewal. */
export const SESSION_TTL_MS = 30 * 24 * 60 * 60 * 1000;

/** The time a person has at a provider: enough to create an account there or find a second factor. */
export const SIGNIN_FLOW_TTL_SECONDS = 10 * 60;

/** Longest `Authorization` token that is read, in characters; ours are well under 2,000. */
export const TOKEN_MAX_LENGTH = 8_192;

/** Longest `redirect_to`, in characters. */
export const REDIRECT_MAX_LENGTH = 2_048;

/** How long another server's response may take, to its last byte. Our callers' own time-outs are longer. */
export const UPSTREAM_TIMEOUT_MS = 10_000;

/** The largest response read from another server, in bytes: profiles and tokens are a hundredth of it. */
export const UPSTREAM_BODY_MAX_BYTES = 256 * 1024;

/**
 * How old a payment may be for a reconciliation to find it, in days. Delayed payment methods take up to two weeks, and
 * a refund may fail within a month. A dispute may last for months.
 */
export const RECONCILED_DAYS = { checkouts: 30, top_ups: 30, refunds: 30, disputes: 120 } as const;

/**
 * Payments on one page of Stripe's lists, and pages that one run reads. Stripe accepts 100 on a page, but takes long to
 * add the line items of so many checkouts. At this pace the schedule compares 28,800 payments a day.
 */
export const RECONCILIATION_PAGE_PAYMENTS = 20;
export const RECONCILIATION_PAGES = 10;

/** The schedule starts a new pass over all payments this long after the last one ended. */
export const RECONCILIATION_PAUSE_MS = 6 * 60 * 60_000;

/** `Retry-After` of a response that fails because one of our stores is unavailable. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 5;

/** The most passkeys of one person, which one list shows and one ceremony excludes. */
export const PASSKEYS_MAX = 20;

/** The longest time that a job may stay started without a sign of life. */
export const JOB_TTL_MAX_SECONDS = 30 * 24 * 60 * 60;

/** How long an expired job that only its app may settle keeps its claim on the caps of its token. */
export const CAP_CLAIM_MS = 7 * 24 * 60 * 60 * 1000;

/** Living allowances of one account that its holder approved, and apps that one of them may be limited to. */
export const ALLOWANCES_PER_ACCOUNT_MAX = 100;
export const APPS_PER_ALLOWANCE_MAX = 20;

/**
 * Living allowances that were exchanged from one that the holder approved, directly or not, and how many may follow from
 * each other, the root included.
 */
export const EXCHANGED_PER_ALLOWANCE_MAX = 100;
export const ALLOWANCE_DEPTH_MAX = 4;

/** Caps of one allowance: more than the periods that a person keeps apart. */
export const CAPS_PER_ALLOWANCE_MAX = 4;

/**
 * The most open streams of one account: more than any person's devices need, and few enough that one change
 * reaches all of them within milliseconds.
 */
export const EVENTS_WATCHERS_MAX = 2_000;

/**
 * The most open streams of one allowance that the holder approved, and of all that were exchanged from it: one program
 * must not keep the holder's other devices out.
 */
export const EVENTS_WATCHERS_SHARE = 100;

/** A stream that is further behind starts with a snapshot. The ledger's list has all entries. */
export const EVENTS_REPLAY_MAX_LINES = 10_000;

/**
 * The most bytes that one stream may have queued for a client that does not read: 60 entries with the largest
 * metadata. A stream that reaches this is closed, and its client resumes after the last entry that it has.
 */
export const EVENTS_QUEUE_MAX_BYTES = 1024 * 1024;

/**
 * Bytes in transit to a client of server-sent events before the account waits for the Worker's report of what
 * was read: enough for a fast client, and cheap if many clients do not read. The Worker reports each quarter.
 */
export const EVENTS_WINDOW_BYTES = 128 * 1024;
export const EVENTS_REPORT_BYTES = EVENTS_WINDOW_BYTES / 4;

/** How far an account's clock may go back, because two machines with different clocks ran the account. */
export const CLOCK_SKEW_MS = 60_000;

/**
 * The newest jobs, whose deadlines are looked up in `jobs`. A job that is still started when this many exist and it is
 * among the oldest of them gets a row in `long_jobs`: two more rows for the few long jobs, none for all others. An account
 * wakes with up to this many rows read while any of its jobs is started; a burst of creations up to it writes no such row.
 */
export const RECENT_JOBS_MAX = 1_000;

/** How many of the recent jobs stop being recent together, so that few creations have to look for them. */
export const RECENT_JOBS_PORTION = 100;

/** How long the receiver of a webhook may take until its response begins. */
export const WEBHOOK_TIMEOUT_MS = 10_000;

/** Requests for the approval of a job that one allowance can have open; the oldest goes. */
export const OPEN_APPROVALS_MAX = 20;

/** Refused requests that an account keeps for an app's webhooks. A client in a loop may be refused many times a second. */
export const REFUSALS_KEPT = 100;

/** Jobs whose newest step an account keeps for an app's webhooks, as many as one token can have started. */
export const PROGRESS_KEPT = 1_000;

/** Events about access that an account keeps for an app's webhooks: more than a person causes while a receiver is down. */
export const ACCESS_EVENTS_KEPT = 500;
