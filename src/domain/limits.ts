/**
 * Every number the service holds to, with its unit in its name and its reason beside it; how often one
 * may ask is in `rate_limits.ts`.
 */

/** The largest cost or estimate of one job, in credits (design: larger is refused). */
export const COST_MAX_CREDITS = 1_000_000_000_000;

/**
 * The furthest a balance may be from zero, in credits: beyond it a number loses single credits,
 * because JSON readers and JavaScript hold integers exactly only up to 2^53 - 1.
 */
export const BALANCE_MAX_CREDITS = Number.MAX_SAFE_INTEGER;

/** The largest request body, in bytes. */
export const BODY_MAX_BYTES = 64 * 1024;

/** The largest metadata of one job, serialised as JSON, in bytes; also after merging. */
export const METADATA_MAX_BYTES = 16 * 1024;

/** How deeply metadata may nest. Past this, serialisers and clients recurse until they fail. */
export const METADATA_MAX_DEPTH = 64;

/** The longest `action` of a job, in UTF-16 code units. */
export const ACTION_MAX_LENGTH = 200;

/** Jobs and ledger lists: page size when none is asked for, and the most that may be asked for. */
export const PAGE_DEFAULT_ROWS = 50;
export const PAGE_MAX_ROWS = 200;

/**
 * Ledger lines that one filtered list looks through before it answers with what it has and a cursor:
 * the whole of most passbooks, and some milliseconds of a long one.
 */
export const LEDGER_SCAN_MAX_LINES = 2_000;

/** How far a line's time may lie before an earlier line's: clocks of two machines that ran one account. */
export const LEDGER_CLOCK_SKEW_MS = 60_000;

/** A webhook's message signed longer ago is a replay, not a delivery: Stripe's own libraries take 300 s. */
export const WEBHOOK_TOLERANCE_SECONDS = 300;

/** The largest webhook message read, in bytes: one object of Stripe's, with all its metadata. */
export const WEBHOOK_BODY_MAX_BYTES = 256 * 1024;

/** Packages for sale: more do not fit on a page that a person chooses from. */
export const CREDIT_PACKAGES_MAX = 12;
export const CREDIT_PACKAGE_NAME_MAX_LENGTH = 60;

/** How long an isolate repeats what its last look at the stores said (`/readyz`), and how long a look may take. */
export const READINESS_CACHE_MS = 5_000;
export const READINESS_TIMEOUT_MS = 3_000;

/** A job still `started` after this long fails by itself, unless its creation says otherwise. */
export const JOB_TTL_DEFAULT_SECONDS = 24 * 60 * 60;
export const JOB_TTL_MIN_SECONDS = 60;
export const JOB_TTL_MAX_SECONDS = 30 * 24 * 60 * 60;

/** Jobs of one account that may be started at the same time: what a list of them may have to read. */
export const OPEN_JOBS_MAX = 10_000;

/**
 * Of these, the share of one personal token and of one app, so that neither closes the account to all others: it
 * takes ten tokens, or two apps, to fill it.
 */
export const OPEN_JOBS_SHARE = { token: 1_000, app: 5_000 } as const;

/**
 * Jobs created last, whose time is looked up among the jobs themselves. One still started when so many
 * were created after it gets a row in `long_jobs`: two written rows for the few that last, none for
 * the many that do not.
 */
export const RECENT_JOBS_MAX = 100;

/** Jobs that one batch creates or completes. */
export const JOBS_PER_BATCH_MAX = 100;

/**
 * Items of a batch that count as one write: a batch spares the service most of what a request takes,
 * not the rows. A full batch counts ten, so that batches make 600 jobs a second where single requests
 * make 60.
 */
export const BATCH_ITEMS_PER_WRITE = 10;

/** Jobs that time out in one transaction. Where more are due, the alarm takes the rest in portions. */
export const EXPIRY_PORTION_JOBS = 200;

/** A job that could not time out, and was set aside, is tried again after this long. */
export const STUCK_JOB_RETRY_MS = 60 * 60 * 1000;

/** Rows that a filtered list looks at for one page; a page may be short, and says where to go on. */
export const LIST_SCAN_ROWS = 2_000;

/** Longest `Idempotency-Key`, in characters, and how long its answer is kept. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;
export const IDEMPOTENCY_KEEP_MS = 24 * 60 * 60 * 1000;
/** Why an operator did something, or why a job failed, in characters. */
export const REASON_MAX_LENGTH = 500;
/** How many people a search by e-mail address finds at most: whoever gets more types more. */
export const PEOPLE_FOUND_MAX = 500;
/** How many people beyond the listed accounts the console's search shows. */
export const PEOPLE_FOUND_SHOWN_MAX = 50;
/** Apps in the console's totals: those that most was settled for. */
export const APPS_SHOWN_MAX = 50;
/** Lines of the passbook on an account's page in the console; it goes on page by page. */
export const LINES_BESIDE_ACCOUNT_MAX = 25;
/** Acts of operators shown beside an account; the audit log has all. */
export const ACTS_BESIDE_ACCOUNT_MAX = 5;
/** Days that one answer of the statistics spans at most. */
export const STATS_DAYS_MAX = 366;
/**
 * How long the audit log takes a key's next use for the same act. An hour less than accounts keep their
 * answers: clocks differ, and a line too many is better than an act without one.
 */
export const AUDIT_KEY_MS = 23 * 60 * 60 * 1000;

/** Old responses that one alarm deletes: some milliseconds of work; the next alarm takes the rest. */
export const IDEMPOTENCY_CLEANUP_ROWS = 1_000;

/** Apps one account may be upserted for. Anyone can invent slugs; this bounds what that stores. */
export const APPS_PER_ACCOUNT_MAX = 1_000;

/**
 * The shortest time between two deliveries of one account to the read model: a quiet account's line
 * goes at once, a hot account sends one batch a second.
 */
export const PROJECTION_DELAY_MS = 1_000;

/**
 * Waiting time after a failed projection: as long as the debt is old, so that it doubles with each
 * try, within these bounds and jittered.
 */
export const PROJECTION_RETRY_MIN_MS = 2_000;
export const PROJECTION_RETRY_MAX_MS = 15 * 60_000;

/**
 * Ledger lines (or jobs of a rebuild) projected in one D1 batch. Their rows travel as one JSON
 * parameter: a job's is at most about 3 KB, an `action` of escaped characters included, and D1 takes
 * 2 MB.
 */
export const PROJECTION_BATCH_LINES = 250;

/**
 * Batches that one flush sends; the alarm goes on with the rest. An invocation may make 1,000 calls to
 * D1 and friends, and others wait for the alarm meanwhile.
 */
export const PROJECTION_FLUSH_BATCHES = 40;

/**
 * Ledger lines in one message of the queue, which takes 128 KB: at 3 KB for a line's job and 300 bytes
 * for its totals, the worst 35 fit.
 */
export const PROJECTION_MESSAGE_LINES = 30;
export const PROJECTION_MESSAGE_MAX_BYTES = 125_000;

/** What the queue's consumer gives D1 in one batch. A parameter is at most 2 MB, so is all of them. */
export const PROJECTION_MERGE_MAX_BYTES = 1_500_000;

/** A message that failed so often is tried alone: it may be what fails the others. */
export const PROJECTION_ATTEMPTS_TOGETHER = 3;

/** The pause before a message is tried again: doubled each time, to a quarter of an hour. */
export const PROJECTION_MESSAGE_RETRY_MIN_SECONDS = 5;
export const PROJECTION_MESSAGE_RETRY_MAX_SECONDS = 900;

/** Days that jobs stay in the read model, if the settings do not say, and at most: ten years. */
export const READ_MODEL_DEFAULT_DAYS = 90;
export const READ_MODEL_MAX_DAYS = 3_650;

/**
 * Upkeep of the read model walks over all accounts, in portions: so many accounts, so many jobs and active
 * days deleted. A run takes so many portions and leaves the rest to the next.
 */
export const UPKEEP_PORTION_ACCOUNTS = 500;
export const UPKEEP_PORTION_ROWS = 2_000;
export const UPKEEP_PORTIONS = 40;

/**
 * People whose accounts one run of the schedule looks for in the read model, and accounts that it has sent
 * again: 40 is what a run may call at once, and all of 1,000 people are repaired in about five hours.
 */
export const LOST_ACCOUNTS_COMPARED = 1_000;
export const LOST_ACCOUNTS_REPAIRED = 40;

/** People whose accounts one call of an operator's rebuild of all asks: each is a call, as above. */
export const REBUILD_PAGE_PEOPLE = 40;

/** Ended sessions deleted in one statement, and statements of one run. */
export const SESSION_CLEANUP_ROWS = 2_000;
export const SESSION_CLEANUP_PORTIONS = 20;

/**
 * An account's object may hold 10 GB. From this size on no job is created. What is left, 1.5 GB, is four
 * times what 10,000 started jobs (`OPEN_JOBS_MAX`) can need to end, each with the most metadata and a
 * kept answer of it, and leaves room for what operators and payments write.
 */
export const ACCOUNT_FULL_BYTES = 8_500_000_000;

/**
 * What one personal token may store in an account, in bytes: a tenth of a full account. The same token could fill
 * all of it in half a day otherwise. A new token has a share of its own, and only a person approves one.
 */
export const TOKEN_STORAGE_MAX_BYTES = 850_000_000;

/** What a job stores besides its metadata, in bytes: its row, two entries and a key, each with room to spare. */
export const JOB_ROWS_BYTES = 1_000;

/** Rows deleted from D1 in one statement where an account's former rows are removed. */
export const PROJECTION_FORGET_ROWS = 1_000;

/**
 * A deleted account's rows: how many go in one statement, and how many portions one alarm takes, so that
 * the largest account goes in some hundred alarms of seconds each.
 */
export const ERASURE_PORTION_ROWS = 2_000;
export const ERASURE_PORTIONS = 20;

/** How long a deleted account waits for the read model to hear of its last lines, before it goes untold. */
export const ERASURE_DELIVERY_MAX_MS = 24 * 60 * 60 * 1000;

/**
 * When a deletion is looked at a second time: nothing that was under way when it happened still is, a
 * sign-in at its provider's included.
 */
export const DELETION_SECOND_LOOK_MS = 60 * 60 * 1000;

/** Deletions that one run of the schedule finishes, of a few calls each. */
export const DELETIONS_PER_RUN = 100;

/** Characters of a city's name that are kept. */
export const PLACE_MAX_LENGTH = 100;

/** How long an isolate trusts its copy of the app registry. */
export const APP_REGISTRY_CACHE_MS = 60_000;

/**
 * How long that copy serves while the registry cannot be read. So long a withdrawn origin may still be
 * honoured, and no longer: as long as a session token that it could have been given before.
 */
export const APP_REGISTRY_STALE_MAX_MS = 15 * 60_000;

/** After a failure the registry is left alone for this long: no request pays for it again meanwhile. */
export const APP_REGISTRY_RETRY_MS = 5_000;

/** A read of the registry that takes longer has failed: it answers in milliseconds when it is well. */
export const APP_REGISTRY_TIMEOUT_MS = 2_000;

/** After a failure the list of hosting suffixes is left alone for this long, and no wildcard counts. */
export const HOSTING_SUFFIXES_RETRY_MS = 5_000;

/** A read of that list that takes longer has failed: it is a file beside the Worker. */
export const HOSTING_SUFFIXES_TIMEOUT_MS = 2_000;

/** An unknown app key makes an isolate read the registry anew at most this often: it may be a new key. */
export const APP_KEY_LOOK_AGAIN_MS = 5_000;

/** Living keys of one app: enough to replace them one by one, on each of its machines. */
export const KEYS_PER_APP_MAX = 20;

/** Longest label of an app's key, and name of an app, in UTF-16 code units. */
export const APP_KEY_LABEL_MAX_LENGTH = 80;
export const APP_NAME_MAX_LENGTH = 200;

/** Origins registered for one app. Each of them is compared with on every cross-origin request. */
export const ORIGINS_PER_APP_MAX = 50;

/** Sign-in providers whose upstream tokens one app may get: more than any service configures. */
export const UPSTREAM_PROVIDERS_PER_APP_MAX = 50;

/** The longest identity that an app's server may name, in characters; ours have 41. */
export const IDENTITY_ID_MAX_LENGTH = 255;

/** The books of a day's starter budget are kept this long after it, then deleted. */
export const STARTER_BUDGET_KEEP_MS = 24 * 60 * 60 * 1000;

/** Refused origins named in an isolate's log: so many different ones in each window. */
export const REFUSED_ORIGINS_LOGGED_MAX = 20;
export const REFUSED_ORIGINS_WINDOW_MS = 60_000;

/** How long browsers remember to come over https alone (RFC 6797, section 6.1.1). */
export const HSTS_MAX_AGE_SECONDS = 31_536_000;

/** Starter credits of a slug nobody registered, in development; outside it there are none. */
export const DEVELOPMENT_STARTER_CREDITS = 100;

/** Lifetime of a session JWT. Short: a revoked session's JWT works until it runs out. */
export const SESSION_JWT_TTL_SECONDS = 15 * 60;

/** The longest life a token template may ask for: such tokens cannot be revoked. */
export const TEMPLATE_TOKEN_TTL_MAX_SECONDS = 24 * 60 * 60;

/** A session ends this long after its last renewal. */
export const SESSION_TTL_MS = 30 * 24 * 60 * 60 * 1000;

/** A renewal moves the end only when that gains this much: a write a day, not one a quarter hour. */
export const SESSION_SLIDE_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Cookies of one name that a request is checked for; the others are ignored. Each JWT among them costs a
 * signature check before any rate limit counts. Other hosts of the family can plant JWTs, so that the
 * browser's own is not among the first 8; its session cookie, which they cannot plant under https, is
 * then looked up instead.
 */
export const COOKIES_OF_ONE_NAME_MAX = 8;

/** How long a person may take at a provider: signing up there, a second factor, a lost phone. */
export const SIGNIN_FLOW_TTL_SECONDS = 10 * 60;

/** The longest subject a provider may name (OpenID Connect Core, section 2: 255 characters). */
export const SUBJECT_MAX_LENGTH = 255;

/** Longest name or e-mail address taken from a provider (RFC 5321 allows 254); longer is dropped. */
export const PROFILE_TEXT_MAX_LENGTH = 254;

/** Clock difference tolerated when a token's times are checked. */
export const TOKEN_CLOCK_TOLERANCE_SECONDS = 5;

/** Longest `Authorization` token read at all, in characters; ours are well under 2,000. */
export const TOKEN_MAX_LENGTH = 8_192;

/** Tokens that one isolate remembers as checked, at about 1 KB each; then all are forgotten. */
export const VERIFIED_TOKENS_MAX = 2_000;

/** Longest `redirect_to`, in characters. */
export const REDIRECT_MAX_LENGTH = 2_048;

/** A third party's access token is renewed when it would run out within this: enough to use it. */
export const UPSTREAM_TOKEN_RENEW_BEFORE_MS = 60_000;

/** A provider that called a grant over is not asked again for it before this; a sign-in clears it. */
export const GRANT_OVER_PAUSE_MS = 60_000;

/** How long a server that is not ours may take, to the last byte; callers wait no longer themselves. */
export const UPSTREAM_TIMEOUT_MS = 10_000;

/** The largest answer read from one, in bytes: profiles and tokens are a hundredth of it. */
export const UPSTREAM_BODY_MAX_BYTES = 256 * 1024;

/** What a client is told to wait when a store of ours is unavailable. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 5;

/**
 * Device logins (RFC 8628). A user code is 8 of 20 letters: 20^8 = 25,600,000,000 codes, too many to
 * guess at the pace of `rate_limits.ts`, few enough to type. The letters have no
 * vowels, so that no code is a word (RFC 8628, section 6.1).
 */
export const USER_CODE_LENGTH = 8;
export const USER_CODE_ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";

/** Longest text read as a user code, in characters: what people add are dashes and spaces. */
export const USER_CODE_INPUT_MAX_LENGTH = 64;

/** Codes drawn for one login before giving up. A second draw is already a matter of luck. */
export const USER_CODE_DRAWS_MAX = 5;

/** How long a device code lives, if the settings do not say, and between what they may say. */
export const DEVICE_CODE_TTL_DEFAULT_SECONDS = 15 * 60;
export const DEVICE_CODE_TTL_MIN_SECONDS = 1;
export const DEVICE_CODE_TTL_MAX_SECONDS = 60 * 60;

/** How long a client waits between polls: RFC 8628, section 3.5 takes 5 s where nothing is said. */
export const DEVICE_POLL_INTERVAL_DEFAULT_SECONDS = 5;
export const DEVICE_POLL_INTERVAL_MIN_SECONDS = 1;
export const DEVICE_POLL_INTERVAL_MAX_SECONDS = 60;

/** A poll this much early is on time: networks hurry some requests and delay others. */
export const DEVICE_POLL_TOLERANCE_MS = 500;

/** After its expiry a code is still told from one that never was, for this long. */
export const DEVICE_CODE_KEEP_MS = 24 * 60 * 60 * 1000;

/** The least KV can be told to keep something, in seconds. */
export const KV_TTL_MIN_SECONDS = 60;

/** Longest name a client may give itself on the approval page, in UTF-16 code units. */
export const CLIENT_NAME_MAX_LENGTH = 80;

/** Lifetime of a personal access token in days, if the settings do not say (spec: about 90). */
export const PAT_TTL_DEFAULT_DAYS = 90;
export const PAT_TTL_MAX_DAYS = 366;

/** A token's last use is written at most this often: knowing the hour is worth a row, more is not. */
export const PERSONAL_TOKEN_LAST_USED_INTERVAL_MS = 60 * 60 * 1000;

/** The windows of a spending cap "per 30 days", counted from the token's creation. */
export const PERSONAL_TOKEN_BUDGET_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;

/** Living tokens one account may have, and apps one of them may be limited to. */
export const PERSONAL_TOKENS_PER_ACCOUNT_MAX = 100;
export const APPS_PER_PERSONAL_TOKEN_MAX = 20;

/**
 * Streams of one account that may be open at once: more than any person's devices need, and few enough
 * that one change reaches them all in a turn of some milliseconds.
 */
export const EVENTS_WATCHERS_MAX = 2_000;

/** Lines sent to streams in one turn; the account answers others between two of them. */
export const EVENTS_BATCH_LINES = 200;

/** A stream that is further behind begins with a snapshot: the ledger's list is the way to all lines. */
export const EVENTS_REPLAY_MAX_LINES = 10_000;

/**
 * Bytes that one stream may hold queued for a client that does not read: 60 lines with the most metadata.
 * At that a stream is closed, and its client resumes after the last line it has.
 */
export const EVENTS_QUEUE_MAX_BYTES = 1024 * 1024;

/**
 * Bytes on their way to a client of server-sent events whose reading the Worker reports: enough for a
 * fast client, while many that do not read cost little. The Worker reports each quarter of it.
 */
export const EVENTS_WINDOW_BYTES = 128 * 1024;
export const EVENTS_REPORT_BYTES = EVENTS_WINDOW_BYTES / 4;

/** How often an event stream says that it is alive; proxies close what is silent for a minute. */
export const EVENTS_PULSE_MS = 25_000;

/** Sessions that a person's page lists, the last used first; signing out everywhere ends them all. */
export const SESSIONS_SHOWN_MAX = 50;

/** The account page's charts: the days they span, and the rows that are read and shown at most. */
export const OVERVIEW_DAYS = 30;

/** The shortest time that a chart of a new account spans. */
export const OVERVIEW_LEAST_MS = 60 * 60 * 1000;
export const OVERVIEW_LINES_MAX = 2_000;
export const OVERVIEW_JOBS_MAX = 2_000;
export const OVERVIEW_POINTS_MAX = 120;
export const OVERVIEW_RECENT_JOBS = 6;

/** Jobs and ledger lines on one page for people. */
export const JOBS_PAGE_ROWS = 24;
export const STATEMENT_PAGE_ROWS = 100;

/** Longest name of the service that pages show, in UTF-16 code units. */
export const SERVICE_NAME_MAX_LENGTH = 40;

/** What a page shows of a job's `description`, in UTF-16 code units, and takes for a picture's address. */
export const JOB_DESCRIPTION_SHOWN_MAX = 160;
export const PREVIEW_URL_MAX_LENGTH = 2_048;

/** Lines of one month in one CSV file: ten thousand rows are two megabytes, made in memory. */
export const STATEMENT_CSV_LINES_MAX = 10_000;
