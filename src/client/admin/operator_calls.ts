/**
 * The operators' calls. Generated from docs/openapi.json by `npm run openapi`: change the operations there, not this file.
 */
import type { CallOptions, WriteOptions } from "../calls.ts";
import type { AdminOperation } from "./operation.ts";
import type {
  AccountArchive,
  AccountPurchasePage,
  AdjustedCredits,
  AppKeyPage,
  AppPage,
  ArchiveHeadPage,
  ArchiveSegment,
  ArchivedPage,
  AuditPage,
  ChangedPlan,
  ComparedPage,
  CopiedDirectory,
  EntryKind,
  EntryPage,
  FoundAccountPage,
  FoundJobPage,
  Health,
  InspectedAccount,
  Job,
  JobPage,
  JobStatus,
  LostAccount,
  Money,
  MonthMoney,
  NewAppKey,
  OAuthClientList,
  OneListedPlan,
  OneOAuthClient,
  OnePlan,
  OneResource,
  OperatorList,
  PersonData,
  PlanList,
  RebuiltDirectory,
  ReconciledPage,
  RecoveredAccount,
  RecoveryPlan,
  RefundedJob,
  RepairedPage,
  ReplacedClientSecret,
  Requests,
  ResourceList,
  RestoredAccount,
  RotatedSecret,
  SavedApp,
  SavedOAuthClient,
  SavedWebhook,
  Stats,
  SuspendedAccounts,
  TestedWebhook,
  WebhookAttemptList,
  WebhookDeliveryPage,
  WebhookList,
} from "../responses.ts";

/** The page of a list. */
export interface PageFields {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The response of a call that returns nothing else. */
export interface Done {
  readonly ok: true;
}

/** The operators' calls, by their names in the API document. They throw `PassbookError`. */
export interface AdminCalls {
  /**
   * Find accounts. `q` is an account's id, an identity, or the beginning of an e-mail address.
   * `state`, `app` (accounts that got starter credits of this app), `domain` (of the e-mail address)
   * and `created_from` narrow the list. `app` considers the 2,400 accounts that got them last, and
   * `domain` the 2,400 people who joined last. `sort` and `order` sort it: `desc` is newest or most
   * first. A page of active accounts can have fewer accounts than `limit`, or none, and still have a
   * `next_cursor`. The order by credits of all, or of all active, accounts is a list of 500 accounts
   * that the schedule writes: `credits` and `as_of` are those of the list. With `created_from` or
   * suspended accounts, it considers the 2,400 that were created last. The data comes from the read
   * model.
   */
  findAccounts(
    fields?: PageFields & {
      readonly q?: string | undefined;
      readonly sort?: "created" | "credits" | undefined;
      readonly order?: "desc" | "asc" | undefined;
      readonly state?: "active" | "suspended" | undefined;
      readonly app?: string | undefined;
      readonly domain?: string | undefined;
      readonly createdFrom?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<FoundAccountPage>;
  /**
   * Suspend many accounts for one reason. Suspends up to 100 accounts. Each succeeds or fails by
   * itself and has its own audit record. If the request is repeated with its `Idempotency-Key`,
   * accounts that it suspended are not suspended again, and the others are tried again. A key
   * belongs to one list and reason. `public_reason`: why, as their holders read it.
   */
  suspendAccounts(
    fields: {
      readonly identityIds: readonly string[];
      readonly reason: string;
      readonly publicReason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<SuspendedAccounts>;
  /**
   * Read one account with its tokens, sessions and started jobs. The data comes from the account
   * itself.
   */
  inspectAccount(identityId: string, options?: CallOptions): Promise<InspectedAccount>;
  /**
   * Delete a person's account. For a person who asks for it: deletes as the holder would, also a
   * suspended account. `confirm` repeats the `identity_id`. The audit log keeps the reason. A
   * repeated request gets the same response for at least an hour.
   */
  deleteAccount(
    identityId: string,
    fields: { readonly confirm: string; readonly reason: string },
    options?: WriteOptions,
  ): Promise<Done>;
  /**
   * Everything that is stored about a person. For a person who asks for their data: the same
   * document as the holder's own download. Also for a suspended account. Adds an audit record, which
   * the person sees in the document.
   */
  exportAccount(
    identityId: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<PersonData>;
  /** An account's jobs, as its holder sees them. The data comes from the account itself. */
  listAccountJobs(
    identityId: string,
    fields?: PageFields & {
      readonly app?: string | undefined;
      readonly status?: JobStatus | undefined;
      readonly by?: string | undefined;
      readonly from?: Date | string | undefined;
      readonly to?: Date | string | undefined;
    },
    options?: CallOptions,
  ): Promise<JobPage>;
  /**
   * One job of an account. The data comes from the account itself. `/ledger?job_id=` below the
   * account lists its entries.
   */
  readAccountJob(identityId: string, jobId: string, options?: CallOptions): Promise<Job>;
  /**
   * Give back the cost of an ended job. Requires `Idempotency-Key`. Gives back `amount`, or all that
   * is left; in all at most what the job cost, otherwise the response is 400 `refund_limit`. The
   * holder sees the reason in the ledger, as the note of an entry of kind `job_refund`. A refunded
   * job can no longer be completed late. If a token with a cap created the job, the cap gets the
   * room back if the job belongs to its current period.
   */
  refundJob(
    identityId: string,
    jobId: string,
    fields: { readonly amount?: number | undefined; readonly reason: string },
    options?: WriteOptions,
  ): Promise<RefundedJob>;
  /** An account's purchases, newest first. The data comes from the account itself. */
  listAccountPurchases(
    identityId: string,
    fields?: PageFields,
    options?: CallOptions,
  ): Promise<AccountPurchasePage>;
  /** An account's ledger, as its holder sees it. The data comes from the account itself. */
  listAccountLedger(
    identityId: string,
    fields?: PageFields & {
      readonly app?: string | undefined;
      readonly jobId?: string | undefined;
      readonly by?: string | undefined;
      readonly kind?: EntryKind | undefined;
      readonly from?: Date | string | undefined;
      readonly to?: Date | string | undefined;
    },
    options?: CallOptions,
  ): Promise<EntryPage>;
  /**
   * Add or take credits. Requires `Idempotency-Key`. Taking more credits than available requires
   * `allow_negative: true`; otherwise the response is 400 `balance_below_zero`. Given credits can
   * have terms: `expires_at` (in the future), `app_slugs` (the only apps that can use them), and
   * `bought`. Bought credits can have `paid_minor` and `currency`, such as 2000 and `eur`: they then
   * count in `revenue`, and in the `liability` of a month. A negative amount takes credits for all
   * apps, in the order of use. The holder sees the reason in the ledger.
   */
  adjustCredits(
    identityId: string,
    fields: {
      readonly amount: number;
      readonly allowNegative?: boolean | undefined;
      readonly expiresAt?: Date | string | undefined;
      readonly appSlugs?: readonly string[] | undefined;
      readonly bought?: boolean | undefined;
      readonly paidMinor?: number | undefined;
      readonly currency?: string | undefined;
      readonly reason: string;
    },
    options?: WriteOptions,
  ): Promise<AdjustedCredits>;
  /**
   * Set the plan. If the plan is saved, the account copies its rules, and the credits of the period
   * that runs come at once. `anchor`, now or in the past, says where the periods are counted from
   * (default now). The same plan again changes nothing. An account that leaves a plan keeps the
   * credits of the period; if it comes back within that period, it goes on with it and gets no
   * second credits. A plan that nobody saved can be any slug and is only a name. The holder sees the
   * plan in the wallet, and the change in the ledger.
   */
  changePlan(
    identityId: string,
    fields: {
      readonly plan: string;
      readonly anchor?: Date | string | undefined;
      readonly reason: string;
    },
    options?: WriteOptions,
  ): Promise<ChangedPlan>;
  /**
   * End all sessions. Also revokes the personal tokens that end with a session. Other personal
   * tokens stay valid.
   */
  signOutAccount(
    identityId: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /** Send the account to the read model again. Safe to repeat at any time. */
  rebuildAccount(identityId: string, options?: WriteOptions): Promise<Done>;
  /**
   * Suspend the account. Every request of the holder except sign-out gets 403 `suspended`; with a
   * session, `public_reason` says why if it is given here. Started jobs can still be settled, and
   * still expire. Suspending a suspended account changes only the `public_reason`, if one is given.
   */
  suspendAccount(
    identityId: string,
    fields: { readonly reason: string; readonly publicReason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /** End a suspension. Sessions and tokens that are still valid work again. */
  restoreAccount(
    identityId: string,
    fields: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<Done>;
  /** Revoke a personal token. The next call with the token is refused, in every location. */
  revokeAccountToken(
    identityId: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /**
   * List the newest archive segment of every account. Segments form a chain, and the head ends it
   * (docs/keep.md). The data comes from the read model. Without the bucket `ARCHIVE`, the response
   * is 404.
   */
  listArchiveHeads(fields?: PageFields, options?: CallOptions): Promise<ArchiveHeadPage>;
  /**
   * Write to the archive at once, a page of accounts at a time. The accounts of one page of people
   * write what the archive lacks, within seconds. Repeat with `cursor` set to `next_cursor` until
   * the response has no `next_cursor`. Without the bucket `ARCHIVE`, the response is 404.
   */
  archiveAccounts(
    fields?: { readonly cursor?: string | undefined },
    options?: WriteOptions,
  ): Promise<ArchivedPage>;
  /**
   * List the archive segments of an account. The head comes from the account itself. Without the
   * bucket `ARCHIVE`, the response is 404.
   */
  readAccountArchive(
    identityId: string,
    fields?: { readonly cursor?: string | undefined },
    options?: CallOptions,
  ): Promise<AccountArchive>;
  /**
   * Write an account to the archive at once. The account writes what the archive lacks, within
   * seconds. Without the bucket `ARCHIVE`, the response is 404.
   */
  archiveAccount(identityId: string, options?: WriteOptions): Promise<Done>;
  /**
   * Read one archive segment. The stored bytes, which are gzip, in base64url. Without the bucket
   * `ARCHIVE`, the response is 404.
   */
  readArchiveSegment(
    identityId: string,
    segment: string,
    options?: CallOptions,
  ): Promise<ArchiveSegment>;
  /**
   * Copy the directory to the archive at once, a portion at a time. The schedule makes the same copy
   * each day: of apps, their keys, OAuth clients, resources and webhooks, plans and the audit log.
   * People are copied with each of their changes; those that wait are copied too. Repeat with
   * `cursor` set to `next_cursor` until the response has no `next_cursor`. Without the bucket
   * `ARCHIVE`, the response is 404.
   */
  copyDirectory(
    fields?: { readonly cursor?: string | undefined },
    options?: WriteOptions,
  ): Promise<CopiedDirectory>;
  /**
   * Rebuild a lost directory from the archive, a portion at a time. Restores what the directory
   * lacks, from the newest complete copy or `copy`, and people (docs/keep.md). A row that the
   * directory has stays as it is, so a repeated rebuild is safe. `decide` lists what a person must
   * look at. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`.
   * Without the bucket `ARCHIVE`, the response is 404.
   */
  rebuildDirectory(
    fields?: { readonly copy?: string | undefined; readonly cursor?: string | undefined },
    options?: WriteOptions,
  ): Promise<RebuiltDirectory>;
  /**
   * Compare accounts with their copies, a page at a time. Compares the accounts of one page of
   * people with their own sums, their newest archive segment and the read model, and their newest
   * purchases with the payment service. The first page also compares the daily totals with all
   * balances. Nothing is repaired. Repeat with `cursor` set to `next_cursor` until the response has
   * no `next_cursor`.
   */
  listDifferences(
    fields?: { readonly cursor?: string | undefined },
    options?: CallOptions,
  ): Promise<ComparedPage>;
  /** Compare an account with its copies. As for all accounts. Nothing is repaired. */
  listAccountDifferences(identityId: string, options?: CallOptions): Promise<ComparedPage>;
  /**
   * Show what a restore of an account would undo. Changes nothing. To a time of the last 30 days, by
   * the platform's point-in-time recovery. `decisions` lists what a person must decide. Other times
   * are 409 `recovery_refused`. Without the bucket `ARCHIVE`, the response is 404.
   */
  planRecovery(
    identityId: string,
    fields: { readonly to: Date | string },
    options?: CallOptions,
  ): Promise<RecoveryPlan>;
  /**
   * Restore an account to an earlier time. To a time of the last 30 days, by the platform's
   * point-in-time recovery. `decisions` lists what a person must decide. Other times are 409
   * `recovery_refused`. The ledger keeps the undone entries, and an entry of the kind `recovery`
   * takes the balance back. Access stays as it is now, and payments after the time are booked again
   * (docs/keep.md). Without the bucket `ARCHIVE`, the response is 404.
   */
  recoverAccount(
    identityId: string,
    fields: { readonly to: Date | string; readonly reason: string },
    options?: WriteOptions,
  ): Promise<RecoveredAccount>;
  /**
   * Show what is known of an account whose storage was lost. Changes nothing. The read model and the
   * archive know the account. Without the bucket `ARCHIVE`, the response is 404.
   */
  planLostRestore(identityId: string, options?: CallOptions): Promise<LostAccount>;
  /**
   * Restore an account whose storage was lost, from the archive. Only if the account was not used
   * since (409 `recovery_refused`). Until the last segment is read, other requests for the account
   * get 503 `account_restoring`. Repeat a request that broke off: it continues (docs/keep.md).
   * Without the bucket `ARCHIVE`, the response is 404.
   */
  restoreLost(
    identityId: string,
    fields: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<RestoredAccount>;
  /**
   * Repair the read model of all accounts, a page at a time. Compares the accounts of one page of
   * people with the read model; each account sends the rows that are missing. Repeat with `cursor`
   * set to `next_cursor` until the response has no `next_cursor`. A repeated `Idempotency-Key`
   * repairs the same page again, which is safe.
   */
  rebuildAccounts(
    fields?: { readonly cursor?: string | undefined },
    options?: WriteOptions,
  ): Promise<RepairedPage>;
  /**
   * Book payments whose webhook did not arrive, a page at a time. Compares Stripe's checkouts and
   * refunds of the last 30 days, and its disputes of the last 120 days, with the accounts, and books
   * what is missing, once. Repeat with `cursor` set to `next_cursor` until the response has no
   * `next_cursor`. A repeated `Idempotency-Key` compares the same page again, which is safe. If the
   * service sells no credits, the response is 404.
   */
  reconcilePayments(
    fields?: { readonly cursor?: string | undefined },
    options?: WriteOptions,
  ): Promise<ReconciledPage>;
  /**
   * Jobs across accounts. The data comes from the read model, which has no metadata. The newest
   * first. A page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`. With
   * `sort=cost`, those that cost most (`actual_cost` less `refunded`) among the newest 4,000 jobs of
   * all accounts up to `to`, and then there is no further page.
   */
  findJobs(
    fields?: PageFields & {
      readonly app?: string | undefined;
      readonly status?: JobStatus | undefined;
      readonly by?: string | undefined;
      readonly from?: Date | string | undefined;
      readonly to?: Date | string | undefined;
      readonly sort?: "created" | "cost" | undefined;
      readonly identityId?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<FoundJobPage>;
  /** Totals by day. UTC days from `from` up to and excluding `to`. Without a query, the last 30 days. */
  readStats(
    fields?: {
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      readonly app?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<Stats>;
  /**
   * Credits and money of a period, to close a month. Without `from` and `to`, the last 30 days. A
   * period has at most 366 days. With `Accept: text/csv`, the list that `list` names as CSV:
   * `by_app`, `revenue`, `accounts` with the identity, balance and held credits of each account now,
   * or `month`. With `month` instead of `from` and `to`, the response is `MonthMoney`: what all
   * people owned before and after a month, each change between, and what was paid for the bought
   * credits that are left. The data comes from the read model.
   */
  readMoney(
    fields?: {
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      readonly month?: string | undefined;
      readonly list?: "by_app" | "revenue" | "accounts" | "month" | undefined;
    },
    options?: CallOptions,
  ): Promise<Money | MonthMoney>;
  /** Credits and money of a period, to close a month, as CSV. In pieces, as they arrive. */
  readMoneyCsv(
    ...given: Parameters<AdminCalls["readMoney"]>
  ): AsyncGenerator<string, void, undefined>;
  /**
   * Figures that show whether the service is healthy. Each figure has a limit, and is a warning
   * above it. A store that does not respond makes its figures unknown, and the response is still
   * 200.
   */
  inspectHealth(options?: CallOptions): Promise<Health>;
  /**
   * List the entries of OPERATORS with their roles. A person whom several entries name has the role
   * of the most specific one: an identity id, then an address with its provider, then an address.
   */
  listOperators(options?: CallOptions): Promise<OperatorList>;
  /**
   * The service's traffic, and requests that failed or that you look for. Rates of the last hour and
   * day, and the routes of the last hour. `requests` are the newest of the last seven days with this
   * `request_id`, `account` (an identity, or an address of one person) or `app`; without a filter,
   * those that failed. The data comes from Cloudflare's Analytics Engine, seconds late, and a busy
   * route is sampled; a local service remembers its last 1,000 requests.
   */
  listRequests(
    fields?: {
      readonly requestId?: string | undefined;
      readonly account?: string | undefined;
      readonly app?: string | undefined;
      readonly from?: Date | string | undefined;
      readonly to?: Date | string | undefined;
    },
    options?: CallOptions,
  ): Promise<Requests>;
  /**
   * List operators' actions, newest first. One record per action, with its actor, time, reason and
   * request id. `actor` and `subject` may be e-mail addresses. An action on several accounts has one
   * record for each, with the same request id. With `Accept: text/csv`, the newest 10,000 records as
   * CSV.
   */
  listAudit(
    fields?: PageFields & {
      readonly actor?: string | undefined;
      readonly act?: string | undefined;
      readonly subject?: string | undefined;
      readonly requestId?: string | undefined;
      readonly from?: Date | string | undefined;
      readonly to?: Date | string | undefined;
    },
    options?: CallOptions,
  ): Promise<AuditPage>;
  /** List operators' actions, newest first, as CSV. In pieces, as they arrive. */
  listAuditCsv(
    ...given: Parameters<AdminCalls["listAudit"]>
  ): AsyncGenerator<string, void, undefined>;
  /** The registered apps, by slug. The settings of the apps, without their keys. */
  listApps(fields?: PageFields, options?: CallOptions): Promise<AppPage>;
  /**
   * Register an app, or change it. To change an app, send the `version` that you read; to register
   * one, omit it or send 0. If the app was saved in the meantime, or a new one's slug is registered
   * with other settings, the response is 409 `app_changed` and nothing changes. An omitted optional
   * field gets its default in a new app, and keeps its value in a registered app. With `settle:
   * app`, only the app's key can complete and fail its jobs. `on_expiry` decides whether the reserve
   * of an expired job is refunded or charged. `max_overage_percent` limits how far a job's cost may
   * exceed its estimate: a higher cost gets 400 `overage_limit`, and a job with an estimate of 0
   * must cost 0. A job keeps the settings that it was created with. `upstream_providers` lists the
   * sign-in providers whose tokens the app's origins may receive. `icon` is copied once, when you
   * save another address than before: at most 64 KiB of PNG, JPEG, WebP or ICO, over https, without
   * redirects. Otherwise the response is 400 `invalid_request`, and nothing changes. Pages show only
   * the copy. `starter_excluded_domains` names e-mail domains, with their subdomains, whose people
   * get no starter credits of this app; if the list is not empty, people without a verified e-mail
   * address get none either. `starter_expires_after_days` and `starter_only_here` are the terms of
   * starter credits from the next grant on. Null removes `icon`, `color` and `suggested_cap`.
   * Changes take effect everywhere within a minute.
   */
  saveApp(
    slug: string,
    fields: {
      readonly name: string;
      readonly starterCredits: number;
      readonly origins: readonly string[];
      readonly dailyStarterBudget: number | null;
      readonly settle?: "holder" | "app" | undefined;
      readonly onExpiry?: "refund" | "charge" | undefined;
      readonly maxOveragePercent?: number | null | undefined;
      readonly upstreamProviders?: readonly string[] | undefined;
      readonly icon?: string | null | undefined;
      readonly color?: string | null | undefined;
      readonly suggestedCap?:
        | {
            readonly credits: number;
            readonly period: "day" | "week" | "month" | "total";
          }
        | null
        | undefined;
      readonly starterExcludedDomains?: readonly string[] | undefined;
      readonly starterExpiresAfterDays?: number | null | undefined;
      readonly starterOnlyHere?: boolean | undefined;
      readonly version?: number | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<SavedApp>;
  /**
   * Change some settings of an app. Settings that the body does not name keep their values;
   * `saveApp` says what each means. Send the `version` that you read. If the app was saved in the
   * meantime, also by a request about other settings, the response is 409 `app_changed` and nothing
   * changes. The audit log has only the settings that differ. Changes take effect everywhere within
   * a minute.
   */
  changeApp(
    slug: string,
    fields: {
      readonly name?: string | undefined;
      readonly starterCredits?: number | undefined;
      readonly origins?: readonly string[] | undefined;
      readonly dailyStarterBudget?: number | null | undefined;
      readonly settle?: "holder" | "app" | undefined;
      readonly onExpiry?: "refund" | "charge" | undefined;
      readonly maxOveragePercent?: number | null | undefined;
      readonly upstreamProviders?: readonly string[] | undefined;
      readonly icon?: string | null | undefined;
      readonly color?: string | null | undefined;
      readonly suggestedCap?:
        | {
            readonly credits: number;
            readonly period: "day" | "week" | "month" | "total";
          }
        | null
        | undefined;
      readonly starterExcludedDomains?: readonly string[] | undefined;
      readonly starterExpiresAfterDays?: number | null | undefined;
      readonly starterOnlyHere?: boolean | undefined;
      readonly version: number;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<SavedApp>;
  /**
   * Pause an app. New jobs of the app get 403 `app_paused` with `message` as their error, whatever
   * credential creates them, and the app makes no starter grants. Started jobs go on: progress,
   * completing, failing and checkout work as before. An approval that its holder gave waits, and can
   * be used when the app continues and the approval has not ended. Takes effect everywhere within a
   * minute. A repetition with another message changes only the message. Only a registered app can be
   * paused; a slug that nobody registered can be registered first.
   */
  pauseApp(
    slug: string,
    fields: { readonly reason: string; readonly message: string },
    options?: WriteOptions,
  ): Promise<SavedApp>;
  /**
   * Let a paused app continue. The app starts jobs and makes starter grants again, everywhere within
   * a minute. An app that is not paused stays as it is.
   */
  continueApp(
    slug: string,
    fields: { readonly reason: string },
    options?: WriteOptions,
  ): Promise<SavedApp>;
  /**
   * The app's valid keys. Revoked keys are not listed. The keys themselves are not stored and not
   * returned. `last_used_at` is the start of the UTC day on which a request with the key was last
   * accepted, and null for a key that was never used.
   */
  listAppKeys(slug: string, fields?: PageFields, options?: CallOptions): Promise<AppKeyPage>;
  /**
   * Create a key for the app's server. The response contains the key only once. If the request is
   * repeated with its `Idempotency-Key`, `key` is null: if you lost the first response, revoke the
   * key and create another. After the key is revoked, a repeated request gets 409 `app_key_revoked`.
   * No two valid keys of an app have the same label: a label in use is 409 `app_key_label_taken`.
   */
  addAppKey(
    slug: string,
    fields: { readonly label: string; readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<NewAppKey>;
  /**
   * Revoke a key. The key stops working everywhere within a minute. The app's started jobs stay
   * started; another key of the app can settle them.
   */
  revokeAppKey(
    slug: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /**
   * The app's OAuth clients. All of them, by id. Their secrets are not stored, and so never shown
   * again.
   */
  listOAuthClients(slug: string, options?: CallOptions): Promise<OAuthClientList>;
  /** One OAuth client of the app. Its settings and the day of its last use. */
  readOAuthClient(slug: string, id: string, options?: CallOptions): Promise<OneOAuthClient>;
  /**
   * Register an OAuth client, or replace its settings. A redirect address is https, an own scheme
   * such as `com.example.app:/callback`, or plain http on `127.0.0.1`, `[::1]` or `localhost`. It
   * has no fragment and no wildcard, and is compared exactly; only the port of a loopback address
   * may differ. A confidential client (`public: false`) authenticates with a secret of its own,
   * which works only at `/oauth/*`. The response that makes a client confidential contains it as
   * `client_secret`, only once: if you lost it, replace it. `pkce_optional` is only for confidential
   * clients that cannot use PKCE. Omitted optional settings are `false` or empty. To change a
   * client, send the `version` that you read; to register one, omit it or send 0. If the client was
   * saved in the meantime, or a new one's id is registered with other settings, the response is 409
   * `client_changed` and nothing changes. Changes take effect everywhere within a minute.
   */
  saveOAuthClient(
    slug: string,
    id: string,
    fields: {
      readonly name: string;
      readonly redirectUris: readonly string[];
      readonly postLogoutRedirectUris?: readonly string[] | undefined;
      readonly public: boolean;
      readonly pkceOptional?: boolean | undefined;
      readonly version?: number | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<SavedOAuthClient>;
  /**
   * Delete an OAuth client. Within a minute it can neither ask a person for a connection nor get,
   * renew or use tokens of this service; another resource that does not introspect them accepts them
   * until they expire, at most ten minutes. Its id is not used again: registering it gets 409
   * `client_deleted`. Its secret ends with it. People still see its connections, and can end them.
   */
  deleteOAuthClient(
    slug: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /**
   * Replace the secret of a confidential client. The new secret works within a minute. The old one
   * works for 24 hours too, so that you can change one server after another; with `?now=true` it
   * stops within a minute, and so do those that were replaced before it. A public client has no
   * secret, so it gets 400.
   */
  replaceClientSecret(
    slug: string,
    id: string,
    fields?: { readonly now?: boolean | undefined; readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<ReplacedClientSecret>;
  /** The app's protected resources. All of them, by id. */
  listResources(slug: string, options?: CallOptions): Promise<ResourceList>;
  /** One protected resource of the app. Its address, its scopes, and whether it charges. */
  readResource(slug: string, id: string, options?: CallOptions): Promise<OneResource>;
  /**
   * Register a protected resource, or change it. A protected resource is an API or MCP server of the
   * app that accepts this service's tokens. `uri` is https, or plain http on this machine, without
   * query and fragment, and not on this service's own address. Clients must send exactly this
   * address; only a slash after a bare origin does not matter. No two resources have the same
   * address. `scopes` are the resource's own words, and none of `openid`, `profile`, `email`,
   * `offline_access`, `read`, `write`, `upstream`, `charge` and `admin`, which have a meaning here.
   * With `charges` (default false), a person who connects a client to it sets a limit for the app,
   * and the app's confidential clients exchange the tokens for it for tokens that may charge within
   * this limit; people who connected a client before are asked again. To change a resource, send the
   * `version` that you read; to register one, omit it or send 0. If the resource was saved in the
   * meantime, or a new one's id is registered with other settings, the response is 409
   * `resource_changed` and nothing changes. Changes take effect everywhere within a minute.
   */
  saveResource(
    slug: string,
    id: string,
    fields: {
      readonly uri: string;
      readonly scopes: readonly string[];
      readonly charges?: boolean | undefined;
      readonly version?: number | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<OneResource>;
  /**
   * Delete a protected resource. Within a minute no tokens are issued for it anywhere. Tokens that
   * were issued work until they expire, at most ten minutes.
   */
  deleteResource(
    slug: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /** All plans. All of them, by id, each with how many accounts have it. */
  listPlans(options?: CallOptions): Promise<PlanList>;
  /** One plan. Its rules, and how many accounts have it. */
  readPlan(id: string, options?: CallOptions): Promise<OneListedPlan>;
  /**
   * Create a plan, or change it. Each rule of `recurring` (at most 4) brings credits every `day`,
   * `week` or `month`, which expire when the next ones come. At most `rollover_max` of what is left
   * (default 0) stays usable for one more period. `app_slugs` are the only apps that can use the
   * credits (default: all). To change a plan, send the `version` that you read; to create one, omit
   * it or send 0. If the plan was saved in the meantime, the response is 409 `plan_changed` and
   * nothing changes. Accounts that have the plan use changed rules from their next turn on: the
   * schedule brings them, or the account's next call, and `behind` counts the accounts that wait.
   * The id `free` is the plan of new accounts and cannot be saved.
   */
  savePlan(
    id: string,
    fields: {
      readonly name: string;
      readonly recurring: readonly {
        readonly credits: number;
        readonly every: "day" | "week" | "month";
        readonly rollover_max?: number | undefined;
        readonly app_slugs?: readonly string[] | null | undefined;
      }[];
      readonly version?: number | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<OnePlan>;
  /** Delete a plan. If accounts have the plan, the response is 409 `plan_in_use`. */
  deletePlan(
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /** The app's webhooks. All of them, by id, without their secrets. */
  listWebhooks(slug: string, options?: CallOptions): Promise<WebhookList>;
  /**
   * Create a webhook, or change it. Events are sent as Standard Webhooks (standardwebhooks.com). The
   * response that creates a webhook has its `secret`, only once: if you lost it, rotate the secret.
   * Omitted `thresholds` and `active` keep their values; a new webhook is active. `active: true`
   * continues a paused webhook where it stopped. To change a webhook, send the `version` that you
   * read; to create one, omit it or send 0. If the webhook was saved in the meantime, or a new one's
   * id is used with other settings, the response is 409 `webhook_changed` and nothing changes. The
   * address begins with `https://` and has a public host name and no port. Changes take effect
   * everywhere within a minute.
   */
  saveWebhook(
    slug: string,
    id: string,
    fields: {
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
      readonly thresholds?: readonly number[] | undefined;
      readonly active?: boolean | undefined;
      readonly version?: number | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<SavedWebhook>;
  /** Delete a webhook. Nothing is sent to it any more. Its events that were not delivered are lost. */
  deleteWebhook(
    slug: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /**
   * Replace a webhook's secret. For 24 hours each delivery carries two signatures, with the new
   * secret and with the previous one. If the request is repeated with its `Idempotency-Key`,
   * `secret` is null: if you lost the first response, rotate again with another key.
   */
  rotateWebhookSecret(
    slug: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<RotatedSecret>;
  /**
   * Send a test to a webhook. Sends `type` once, now, also to a paused webhook and if it does not
   * list the type, and returns how the receiver responded within 10 seconds. `ping`, which is sent
   * without a `type`, has no data; any other type is a sample with every member of a real event.
   * Each has `"test": true` and the header `webhook-test: true`, and its ids belong to nobody. A
   * request that is repeated with its `Idempotency-Key` sends the same `webhook-id` again. At most 6
   * a minute for a webhook.
   */
  testWebhook(
    slug: string,
    id: string,
    fields?: {
      readonly type?:
        | "ping"
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
        | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<TestedWebhook>;
  /**
   * Events that were sent. The last attempts of 7 days, at most 20. With `identity_id`, those of
   * that account: each event that was sent, with the receiver's status. Without it, those of all
   * accounts that the webhook's list knows: each attempt that failed, and of those that succeeded
   * about one a minute. Operators may send an e-mail address as `identity_id`.
   */
  listWebhookAttempts(
    slug: string,
    id: string,
    fields?: { readonly identityId?: string | undefined },
    options?: CallOptions,
  ): Promise<WebhookAttemptList>;
  /**
   * Events that were not delivered. At most one for each account, because the events of an account
   * are delivered in order, by identity. They are listed for 30 days. `status=pending` lists only
   * those that will be tried again; `status=failed` lists both, as without `status`.
   */
  listWebhookDeliveries(
    slug: string,
    id: string,
    fields?: PageFields & { readonly status?: "pending" | "failed" | undefined },
    options?: CallOptions,
  ): Promise<WebhookDeliveryPage>;
  /**
   * Send the events that wait now. Each account's event that waits is tried now instead of at its
   * `retry_at`, and its attempts are counted from the beginning. Without a waiting event it does
   * nothing. A paused webhook stays paused.
   */
  retryWebhook(
    slug: string,
    id: string,
    fields?: { readonly reason?: string | undefined },
    options?: WriteOptions,
  ): Promise<Done>;
  /**
   * Send events again. With `identity_id` and `after_line`: sends the events of the account's
   * entries after this one again, in order and with the same `webhook-id`s. 0 begins with the events
   * since the webhook was created. An operator may name the person by e-mail address. With `since`,
   * at most 7 days ago, and neither of them: does the same for the entries since then of all
   * accounts that have the app, a hundred accounts after the other, in the background; the list of
   * deliveries has `replays_since` until each has begun. Accounts are found by the read model, which
   * is some seconds late and has days as far back as `READ_MODEL_DAYS`.
   */
  replayWebhook(
    slug: string,
    id: string,
    fields?: {
      readonly identityId?: string | undefined;
      readonly afterLine?: number | undefined;
      readonly since?: Date | string | undefined;
      readonly reason?: string | undefined;
    },
    options?: WriteOptions,
  ): Promise<Done>;
}

/** The same operations as data. */
export const ADMIN_OPERATIONS: readonly AdminOperation[] = [
{"id":"findAccounts","method":"GET","path":"/api/admin/accounts","summary":"Find accounts","description":"`q` is an account's id, an identity, or the beginning of an e-mail address. `state`, `app` (accounts that got starter credits of this app), `domain` (of the e-mail address) and `created_from` narrow the list. `app` considers the 2,400 accounts that got them last, and `domain` the 2,400 people who joined last. `sort` and `order` sort it: `desc` is newest or most first. A page of active accounts can have fewer accounts than `limit`, or none, and still have a `next_cursor`. The order by credits of all, or of all active, accounts is a list of 500 accounts that the schedule writes: `credits` and `as_of` are those of the list. With `created_from` or suspended accounts, it considers the 2,400 that were created last. The data comes from the read model.","fields":[{"name":"q","in":"query","kind":"text"},{"name":"sort","in":"query","kind":"text","values":["created","credits"]},{"name":"order","in":"query","kind":"text","values":["desc","asc"]},{"name":"state","in":"query","kind":"text","values":["active","suspended"]},{"name":"app","in":"query","kind":"text"},{"name":"domain","in":"query","kind":"text"},{"name":"createdFrom","in":"query","kind":"text"},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["accounts","as_of"]]},
{"id":"suspendAccounts","method":"POST","path":"/api/admin/accounts/suspend","summary":"Suspend many accounts for one reason","description":"Suspends up to 100 accounts. Each succeeds or fails by itself and has its own audit record. If the request is repeated with its `Idempotency-Key`, accounts that it suspended are not suspended again, and the others are tried again. A key belongs to one list and reason. `public_reason`: why, as their holders read it.","keyed":true,"fields":[{"name":"identityIds","in":"body","kind":"text","required":true,"list":true},{"name":"reason","in":"body","kind":"text","required":true},{"name":"publicReason","in":"body","kind":"text"}],"shapes":[["results"]]},
{"id":"inspectAccount","method":"GET","path":"/api/admin/accounts/{identity_id}","summary":"Read one account with its tokens, sessions and started jobs","description":"The data comes from the account itself.","fields":[{"name":"identityId","in":"path","kind":"text","required":true}],"shapes":[["account","held","lots","apps","personal_tokens","sessions","topup","top_ups","started_jobs"]]},
{"id":"deleteAccount","method":"DELETE","path":"/api/admin/accounts/{identity_id}","summary":"Delete a person's account","description":"For a person who asks for it: deletes as the holder would, also a suspended account. `confirm` repeats the `identity_id`. The audit log keeps the reason. A repeated request gets the same response for at least an hour.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"confirm","in":"body","kind":"text","required":true},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["ok"]]},
{"id":"exportAccount","method":"GET","path":"/api/admin/accounts/{identity_id}/export","summary":"Everything that is stored about a person","description":"For a person who asks for their data: the same document as the holder's own download. Also for a suspended account. Adds an audit record, which the person sees in the document.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[[]]},
{"id":"listAccountJobs","method":"GET","path":"/api/admin/accounts/{identity_id}/jobs","summary":"An account's jobs, as its holder sees them","description":"The data comes from the account itself.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"app","in":"query","kind":"text"},{"name":"status","in":"query","kind":"text","values":["started","completed","failed"]},{"name":"by","in":"query","kind":"text"},{"name":"from","in":"query","kind":"time"},{"name":"to","in":"query","kind":"time"},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["jobs"]]},
{"id":"readAccountJob","method":"GET","path":"/api/admin/accounts/{identity_id}/jobs/{job_id}","summary":"One job of an account","description":"The data comes from the account itself. `/ledger?job_id=` below the account lists its entries.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"jobId","in":"path","kind":"text","required":true}],"shapes":[["id","app_slug","action","status","reserved","actual_cost","refunded","step","spent","done","message","failure","failure_reason","created_at","updated_at","expires_at","by","metadata"]]},
{"id":"refundJob","method":"POST","path":"/api/admin/accounts/{identity_id}/jobs/{job_id}/refund","summary":"Give back the cost of an ended job","description":"Requires `Idempotency-Key`. Gives back `amount`, or all that is left; in all at most what the job cost, otherwise the response is 400 `refund_limit`. The holder sees the reason in the ledger, as the note of an entry of kind `job_refund`. A refunded job can no longer be completed late. If a token with a cap created the job, the cap gets the room back if the job belongs to its current period.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"jobId","in":"path","kind":"text","required":true},{"name":"amount","in":"body","kind":"number","min":1,"max":1000000000000},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["job","entry","credits"]]},
{"id":"listAccountPurchases","method":"GET","path":"/api/admin/accounts/{identity_id}/purchases","summary":"An account's purchases, newest first","description":"The data comes from the account itself.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["purchases"]]},
{"id":"listAccountLedger","method":"GET","path":"/api/admin/accounts/{identity_id}/ledger","summary":"An account's ledger, as its holder sees it","description":"The data comes from the account itself.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"app","in":"query","kind":"text"},{"name":"jobId","in":"query","kind":"text"},{"name":"by","in":"query","kind":"text"},{"name":"kind","in":"query","kind":"text","values":["open","grant","reserve","settle","refund","job_refund","adjustment","purchase","purchase_refund","plan","suspend","restore","debt","expire","recurring","rollover","recovery"]},{"name":"from","in":"query","kind":"time"},{"name":"to","in":"query","kind":"time"},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["entries"]]},
{"id":"adjustCredits","method":"POST","path":"/api/admin/accounts/{identity_id}/credits","summary":"Add or take credits","description":"Requires `Idempotency-Key`. Taking more credits than available requires `allow_negative: true`; otherwise the response is 400 `balance_below_zero`. Given credits can have terms: `expires_at` (in the future), `app_slugs` (the only apps that can use them), and `bought`. Bought credits can have `paid_minor` and `currency`, such as 2000 and `eur`: they then count in `revenue`, and in the `liability` of a month. A negative amount takes credits for all apps, in the order of use. The holder sees the reason in the ledger.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"amount","in":"body","kind":"number","required":true,"min":-1000000000000,"max":1000000000000},{"name":"allowNegative","in":"body","kind":"flag"},{"name":"expiresAt","in":"body","kind":"time"},{"name":"appSlugs","in":"body","kind":"text","list":true},{"name":"bought","in":"body","kind":"flag"},{"name":"paidMinor","in":"body","kind":"number","min":1,"max":1000000000000},{"name":"currency","in":"body","kind":"text"},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["entry","credits"]]},
{"id":"changePlan","method":"POST","path":"/api/admin/accounts/{identity_id}/plan","summary":"Set the plan","description":"If the plan is saved, the account copies its rules, and the credits of the period that runs come at once. `anchor`, now or in the past, says where the periods are counted from (default now). The same plan again changes nothing. An account that leaves a plan keeps the credits of the period; if it comes back within that period, it goes on with it and gets no second credits. A plan that nobody saved can be any slug and is only a name. The holder sees the plan in the wallet, and the change in the ledger.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"plan","in":"body","kind":"text","required":true},{"name":"anchor","in":"body","kind":"time"},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["ok","account"]]},
{"id":"signOutAccount","method":"POST","path":"/api/admin/accounts/{identity_id}/signout","summary":"End all sessions","description":"Also revokes the personal tokens that end with a session. Other personal tokens stay valid.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text"}],"shapes":[["ok"]]},
{"id":"rebuildAccount","method":"POST","path":"/api/admin/accounts/{identity_id}/rebuild","summary":"Send the account to the read model again","description":"Safe to repeat at any time.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true}],"shapes":[["ok"]]},
{"id":"suspendAccount","method":"POST","path":"/api/admin/accounts/{identity_id}/suspend","summary":"Suspend the account","description":"Every request of the holder except sign-out gets 403 `suspended`; with a session, `public_reason` says why if it is given here. Started jobs can still be settled, and still expire. Suspending a suspended account changes only the `public_reason`, if one is given.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text","required":true},{"name":"publicReason","in":"body","kind":"text"}],"shapes":[["ok"]]},
{"id":"restoreAccount","method":"POST","path":"/api/admin/accounts/{identity_id}/restore","summary":"End a suspension","description":"Sessions and tokens that are still valid work again.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["ok"]]},
{"id":"revokeAccountToken","method":"DELETE","path":"/api/admin/accounts/{identity_id}/personal-tokens/{id}","summary":"Revoke a personal token","description":"The next call with the token is refused, in every location.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[["ok"]]},
{"id":"listArchiveHeads","method":"GET","path":"/api/admin/archive","summary":"List the newest archive segment of every account","description":"Segments form a chain, and the head ends it (docs/keep.md). The data comes from the read model. Without the bucket `ARCHIVE`, the response is 404.","fields":[{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["heads"]]},
{"id":"archiveAccounts","method":"POST","path":"/api/admin/archive","summary":"Write to the archive at once, a page of accounts at a time","description":"The accounts of one page of people write what the archive lacks, within seconds. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. Without the bucket `ARCHIVE`, the response is 404.","keyed":true,"fields":[{"name":"cursor","in":"body","kind":"text"}],"shapes":[["requested","failed"]]},
{"id":"readAccountArchive","method":"GET","path":"/api/admin/accounts/{identity_id}/archive","summary":"List the archive segments of an account","description":"The head comes from the account itself. Without the bucket `ARCHIVE`, the response is 404.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["account_id","identity_id","line","head","segments"]]},
{"id":"archiveAccount","method":"POST","path":"/api/admin/accounts/{identity_id}/archive","summary":"Write an account to the archive at once","description":"The account writes what the archive lacks, within seconds. Without the bucket `ARCHIVE`, the response is 404.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true}],"shapes":[["ok"]]},
{"id":"readArchiveSegment","method":"GET","path":"/api/admin/accounts/{identity_id}/archive/{segment}","summary":"Read one archive segment","description":"The stored bytes, which are gzip, in base64url. Without the bucket `ARCHIVE`, the response is 404.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"segment","in":"path","kind":"text","required":true}],"shapes":[["name","content"]]},
{"id":"copyDirectory","method":"POST","path":"/api/admin/directory/copy","summary":"Copy the directory to the archive at once, a portion at a time","description":"The schedule makes the same copy each day: of apps, their keys, OAuth clients, resources and webhooks, plans and the audit log. People are copied with each of their changes; those that wait are copied too. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. Without the bucket `ARCHIVE`, the response is 404.","keyed":true,"fields":[{"name":"cursor","in":"body","kind":"text"}],"shapes":[["copy","rows","people"]]},
{"id":"rebuildDirectory","method":"POST","path":"/api/admin/directory/rebuild","summary":"Rebuild a lost directory from the archive, a portion at a time","description":"Restores what the directory lacks, from the newest complete copy or `copy`, and people (docs/keep.md). A row that the directory has stays as it is, so a repeated rebuild is safe. `decide` lists what a person must look at. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. Without the bucket `ARCHIVE`, the response is 404.","keyed":true,"fields":[{"name":"copy","in":"body","kind":"text"},{"name":"cursor","in":"body","kind":"text"}],"shapes":[["copy","table","restored","known","decide"]]},
{"id":"listDifferences","method":"GET","path":"/api/admin/differences","summary":"Compare accounts with their copies, a page at a time","description":"Compares the accounts of one page of people with their own sums, their newest archive segment and the read model, and their newest purchases with the payment service. The first page also compares the daily totals with all balances. Nothing is repaired. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`.","fields":[{"name":"cursor","in":"query","kind":"text"}],"shapes":[["checked","differences","failed"]]},
{"id":"listAccountDifferences","method":"GET","path":"/api/admin/accounts/{identity_id}/differences","summary":"Compare an account with its copies","description":"As for all accounts. Nothing is repaired.","fields":[{"name":"identityId","in":"path","kind":"text","required":true}],"shapes":[["checked","differences","failed"]]},
{"id":"planRecovery","method":"GET","path":"/api/admin/accounts/{identity_id}/recovery","summary":"Show what a restore of an account would undo","description":"Changes nothing. To a time of the last 30 days, by the platform's point-in-time recovery. `decisions` lists what a person must decide. Other times are 409 `recovery_refused`. Without the bucket `ARCHIVE`, the response is 404.","fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"to","in":"query","kind":"time","required":true}],"shapes":[["now","target","undone_entries","kept_credits","decisions","decisions_total"]]},
{"id":"recoverAccount","method":"POST","path":"/api/admin/accounts/{identity_id}/recovery","summary":"Restore an account to an earlier time","description":"To a time of the last 30 days, by the platform's point-in-time recovery. `decisions` lists what a person must decide. Other times are 409 `recovery_refused`. The ledger keeps the undone entries, and an entry of the kind `recovery` takes the balance back. Access stays as it is now, and payments after the time are booked again (docs/keep.md). Without the bucket `ARCHIVE`, the response is 404.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"to","in":"body","kind":"time","required":true},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["now","target","undone_entries","kept_credits","decisions","decisions_total","lost"]]},
{"id":"planLostRestore","method":"GET","path":"/api/admin/accounts/{identity_id}/lost-storage","summary":"Show what is known of an account whose storage was lost","description":"Changes nothing. The read model and the archive know the account. Without the bucket `ARCHIVE`, the response is 404.","fields":[{"name":"identityId","in":"path","kind":"text","required":true}],"shapes":[["account_id","head","read_model","refusal"]]},
{"id":"restoreLost","method":"POST","path":"/api/admin/accounts/{identity_id}/lost-storage","summary":"Restore an account whose storage was lost, from the archive","description":"Only if the account was not used since (409 `recovery_refused`). Until the last segment is read, other requests for the account get 503 `account_restoring`. Repeat a request that broke off: it continues (docs/keep.md). Without the bucket `ARCHIVE`, the response is 404.","keyed":true,"fields":[{"name":"identityId","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["now","lost_entries"]]},
{"id":"rebuildAccounts","method":"POST","path":"/api/admin/rebuild","summary":"Repair the read model of all accounts, a page at a time","description":"Compares the accounts of one page of people with the read model; each account sends the rows that are missing. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. A repeated `Idempotency-Key` repairs the same page again, which is safe.","keyed":true,"fields":[{"name":"cursor","in":"body","kind":"text"}],"shapes":[["checked","repaired","failed"]]},
{"id":"reconcilePayments","method":"POST","path":"/api/admin/payments/reconcile","summary":"Book payments whose webhook did not arrive, a page at a time","description":"Compares Stripe's checkouts and refunds of the last 30 days, and its disputes of the last 120 days, with the accounts, and books what is missing, once. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. A repeated `Idempotency-Key` compares the same page again, which is safe. If the service sells no credits, the response is 404.","keyed":true,"fields":[{"name":"cursor","in":"body","kind":"text"}],"shapes":[["checked","booked","not_booked"]]},
{"id":"findJobs","method":"GET","path":"/api/admin/jobs","summary":"Jobs across accounts","description":"The data comes from the read model, which has no metadata. The newest first. A page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`. With `sort=cost`, those that cost most (`actual_cost` less `refunded`) among the newest 4,000 jobs of all accounts up to `to`, and then there is no further page.","fields":[{"name":"app","in":"query","kind":"text"},{"name":"status","in":"query","kind":"text","values":["started","completed","failed"]},{"name":"by","in":"query","kind":"text"},{"name":"from","in":"query","kind":"time"},{"name":"to","in":"query","kind":"time"},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"},{"name":"sort","in":"query","kind":"text","values":["created","cost"]},{"name":"identityId","in":"query","kind":"text"}],"shapes":[["jobs","as_of"]]},
{"id":"readStats","method":"GET","path":"/api/admin/stats","summary":"Totals by day","description":"UTC days from `from` up to and excluding `to`. Without a query, the last 30 days.","fields":[{"name":"from","in":"query","kind":"day"},{"name":"to","in":"query","kind":"day"},{"name":"app","in":"query","kind":"text"}],"shapes":[["series","as_of"]]},
{"id":"readMoney","method":"GET","path":"/api/admin/money","summary":"Credits and money of a period, to close a month","description":"Without `from` and `to`, the last 30 days. A period has at most 366 days. With `Accept: text/csv`, the list that `list` names as CSV: `by_app`, `revenue`, `accounts` with the identity, balance and held credits of each account now, or `month`. With `month` instead of `from` and `to`, the response is `MonthMoney`: what all people owned before and after a month, each change between, and what was paid for the bought credits that are left. The data comes from the read model.","csv":true,"fields":[{"name":"from","in":"query","kind":"day"},{"name":"to","in":"query","kind":"day"},{"name":"month","in":"query","kind":"text"},{"name":"list","in":"query","kind":"text","values":["by_app","revenue","accounts","month"]}],"shapes":[["outstanding","by_app","revenue","as_of"],["month","opening","granted","purchased","adjusted","spent","job_refunded","expired","taken_back","forfeited","closing","liability","as_of"]]},
{"id":"inspectHealth","method":"GET","path":"/api/admin/health","summary":"Figures that show whether the service is healthy","description":"Each figure has a limit, and is a warning above it. A store that does not respond makes its figures unknown, and the response is still 200.","fields":[],"shapes":[["status","figures","tasks","budgets","as_of"]]},
{"id":"listOperators","method":"GET","path":"/api/admin/operators","summary":"List the entries of OPERATORS with their roles","description":"A person whom several entries name has the role of the most specific one: an identity id, then an address with its provider, then an address.","fields":[],"shapes":[["operators"]]},
{"id":"listRequests","method":"GET","path":"/api/admin/requests","summary":"The service's traffic, and requests that failed or that you look for","description":"Rates of the last hour and day, and the routes of the last hour. `requests` are the newest of the last seven days with this `request_id`, `account` (an identity, or an address of one person) or `app`; without a filter, those that failed. The data comes from Cloudflare's Analytics Engine, seconds late, and a busy route is sampled; a local service remembers its last 1,000 requests.","fields":[{"name":"requestId","in":"query","kind":"text"},{"name":"account","in":"query","kind":"text"},{"name":"app","in":"query","kind":"text"},{"name":"from","in":"query","kind":"time"},{"name":"to","in":"query","kind":"time"}],"shapes":[["source","hour","day","routes","requests"]]},
{"id":"listAudit","method":"GET","path":"/api/admin/audit","summary":"List operators' actions, newest first","description":"One record per action, with its actor, time, reason and request id. `actor` and `subject` may be e-mail addresses. An action on several accounts has one record for each, with the same request id. With `Accept: text/csv`, the newest 10,000 records as CSV.","csv":true,"fields":[{"name":"actor","in":"query","kind":"text"},{"name":"act","in":"query","kind":"text"},{"name":"subject","in":"query","kind":"text"},{"name":"requestId","in":"query","kind":"text"},{"name":"from","in":"query","kind":"time"},{"name":"to","in":"query","kind":"time"},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["entries"]]},
{"id":"listApps","method":"GET","path":"/api/admin/apps","summary":"The registered apps, by slug","description":"The settings of the apps, without their keys.","fields":[{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["apps"]]},
{"id":"saveApp","method":"PUT","path":"/api/admin/apps/{slug}","summary":"Register an app, or change it","description":"To change an app, send the `version` that you read; to register one, omit it or send 0. If the app was saved in the meantime, or a new one's slug is registered with other settings, the response is 409 `app_changed` and nothing changes. An omitted optional field gets its default in a new app, and keeps its value in a registered app. With `settle: app`, only the app's key can complete and fail its jobs. `on_expiry` decides whether the reserve of an expired job is refunded or charged. `max_overage_percent` limits how far a job's cost may exceed its estimate: a higher cost gets 400 `overage_limit`, and a job with an estimate of 0 must cost 0. A job keeps the settings that it was created with. `upstream_providers` lists the sign-in providers whose tokens the app's origins may receive. `icon` is copied once, when you save another address than before: at most 64 KiB of PNG, JPEG, WebP or ICO, over https, without redirects. Otherwise the response is 400 `invalid_request`, and nothing changes. Pages show only the copy. `starter_excluded_domains` names e-mail domains, with their subdomains, whose people get no starter credits of this app; if the list is not empty, people without a verified e-mail address get none either. `starter_expires_after_days` and `starter_only_here` are the terms of starter credits from the next grant on. Null removes `icon`, `color` and `suggested_cap`. Changes take effect everywhere within a minute.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"name","in":"body","kind":"text","required":true},{"name":"starterCredits","in":"body","kind":"number","required":true,"min":0,"max":1000000000000},{"name":"origins","in":"body","kind":"text","required":true,"list":true},{"name":"dailyStarterBudget","in":"body","kind":"number","required":true,"nullable":true,"min":0,"max":1000000000000},{"name":"settle","in":"body","kind":"text","values":["holder","app"]},{"name":"onExpiry","in":"body","kind":"text","values":["refund","charge"]},{"name":"maxOveragePercent","in":"body","kind":"number","nullable":true,"min":0,"max":1000},{"name":"upstreamProviders","in":"body","kind":"text","list":true},{"name":"icon","in":"body","kind":"text","nullable":true},{"name":"color","in":"body","kind":"text","nullable":true},{"name":"suggestedCap","in":"body","kind":"cap","nullable":true},{"name":"starterExcludedDomains","in":"body","kind":"text","list":true},{"name":"starterExpiresAfterDays","in":"body","kind":"number","nullable":true,"min":1,"max":3650},{"name":"starterOnlyHere","in":"body","kind":"flag"},{"name":"version","in":"body","kind":"number","min":0},{"name":"reason","in":"body","kind":"text"}],"shapes":[["app"]]},
{"id":"changeApp","method":"PATCH","path":"/api/admin/apps/{slug}","summary":"Change some settings of an app","description":"Settings that the body does not name keep their values; `saveApp` says what each means. Send the `version` that you read. If the app was saved in the meantime, also by a request about other settings, the response is 409 `app_changed` and nothing changes. The audit log has only the settings that differ. Changes take effect everywhere within a minute.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"name","in":"body","kind":"text"},{"name":"starterCredits","in":"body","kind":"number","min":0,"max":1000000000000},{"name":"origins","in":"body","kind":"text","list":true},{"name":"dailyStarterBudget","in":"body","kind":"number","nullable":true,"min":0,"max":1000000000000},{"name":"settle","in":"body","kind":"text","values":["holder","app"]},{"name":"onExpiry","in":"body","kind":"text","values":["refund","charge"]},{"name":"maxOveragePercent","in":"body","kind":"number","nullable":true,"min":0,"max":1000},{"name":"upstreamProviders","in":"body","kind":"text","list":true},{"name":"icon","in":"body","kind":"text","nullable":true},{"name":"color","in":"body","kind":"text","nullable":true},{"name":"suggestedCap","in":"body","kind":"cap","nullable":true},{"name":"starterExcludedDomains","in":"body","kind":"text","list":true},{"name":"starterExpiresAfterDays","in":"body","kind":"number","nullable":true,"min":1,"max":3650},{"name":"starterOnlyHere","in":"body","kind":"flag"},{"name":"version","in":"body","kind":"number","required":true,"min":1},{"name":"reason","in":"body","kind":"text"}],"shapes":[["app"]]},
{"id":"pauseApp","method":"POST","path":"/api/admin/apps/{slug}/pause","summary":"Pause an app","description":"New jobs of the app get 403 `app_paused` with `message` as their error, whatever credential creates them, and the app makes no starter grants. Started jobs go on: progress, completing, failing and checkout work as before. An approval that its holder gave waits, and can be used when the app continues and the approval has not ended. Takes effect everywhere within a minute. A repetition with another message changes only the message. Only a registered app can be paused; a slug that nobody registered can be registered first.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text","required":true},{"name":"message","in":"body","kind":"text","required":true}],"shapes":[["app"]]},
{"id":"continueApp","method":"POST","path":"/api/admin/apps/{slug}/continue","summary":"Let a paused app continue","description":"The app starts jobs and makes starter grants again, everywhere within a minute. An app that is not paused stays as it is.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text","required":true}],"shapes":[["app"]]},
{"id":"listAppKeys","method":"GET","path":"/api/admin/apps/{slug}/keys","summary":"The app's valid keys","description":"Revoked keys are not listed. The keys themselves are not stored and not returned. `last_used_at` is the start of the UTC day on which a request with the key was last accepted, and null for a key that was never used.","fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["keys"]]},
{"id":"addAppKey","method":"POST","path":"/api/admin/apps/{slug}/keys","summary":"Create a key for the app's server","description":"The response contains the key only once. If the request is repeated with its `Idempotency-Key`, `key` is null: if you lost the first response, revoke the key and create another. After the key is revoked, a repeated request gets 409 `app_key_revoked`. No two valid keys of an app have the same label: a label in use is 409 `app_key_label_taken`.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"label","in":"body","kind":"text","required":true},{"name":"reason","in":"body","kind":"text"}],"shapes":[["id","label","last_four","created_at","key"]]},
{"id":"revokeAppKey","method":"DELETE","path":"/api/admin/apps/{slug}/keys/{id}","summary":"Revoke a key","description":"The key stops working everywhere within a minute. The app's started jobs stay started; another key of the app can settle them.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[["ok"]]},
{"id":"listOAuthClients","method":"GET","path":"/api/admin/apps/{slug}/clients","summary":"The app's OAuth clients","description":"All of them, by id. Their secrets are not stored, and so never shown again.","fields":[{"name":"slug","in":"path","kind":"text","required":true}],"shapes":[["clients"]]},
{"id":"readOAuthClient","method":"GET","path":"/api/admin/apps/{slug}/clients/{id}","summary":"One OAuth client of the app","description":"Its settings and the day of its last use.","fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true}],"shapes":[["client"]]},
{"id":"saveOAuthClient","method":"PUT","path":"/api/admin/apps/{slug}/clients/{id}","summary":"Register an OAuth client, or replace its settings","description":"A redirect address is https, an own scheme such as `com.example.app:/callback`, or plain http on `127.0.0.1`, `[::1]` or `localhost`. It has no fragment and no wildcard, and is compared exactly; only the port of a loopback address may differ. A confidential client (`public: false`) authenticates with a secret of its own, which works only at `/oauth/*`. The response that makes a client confidential contains it as `client_secret`, only once: if you lost it, replace it. `pkce_optional` is only for confidential clients that cannot use PKCE. Omitted optional settings are `false` or empty. To change a client, send the `version` that you read; to register one, omit it or send 0. If the client was saved in the meantime, or a new one's id is registered with other settings, the response is 409 `client_changed` and nothing changes. Changes take effect everywhere within a minute.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"name","in":"body","kind":"text","required":true},{"name":"redirectUris","in":"body","kind":"text","required":true,"list":true},{"name":"postLogoutRedirectUris","in":"body","kind":"text","list":true},{"name":"public","in":"body","kind":"flag","required":true},{"name":"pkceOptional","in":"body","kind":"flag"},{"name":"version","in":"body","kind":"number","min":0},{"name":"reason","in":"body","kind":"text"}],"shapes":[["client","client_id"]]},
{"id":"deleteOAuthClient","method":"DELETE","path":"/api/admin/apps/{slug}/clients/{id}","summary":"Delete an OAuth client","description":"Within a minute it can neither ask a person for a connection nor get, renew or use tokens of this service; another resource that does not introspect them accepts them until they expire, at most ten minutes. Its id is not used again: registering it gets 409 `client_deleted`. Its secret ends with it. People still see its connections, and can end them.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[["ok"]]},
{"id":"replaceClientSecret","method":"POST","path":"/api/admin/apps/{slug}/clients/{id}/secret","summary":"Replace the secret of a confidential client","description":"The new secret works within a minute. The old one works for 24 hours too, so that you can change one server after another; with `?now=true` it stops within a minute, and so do those that were replaced before it. A public client has no secret, so it gets 400.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"now","in":"query","kind":"flag"},{"name":"reason","in":"body","kind":"text"}],"shapes":[["client_secret","client"]]},
{"id":"listResources","method":"GET","path":"/api/admin/apps/{slug}/resources","summary":"The app's protected resources","description":"All of them, by id.","fields":[{"name":"slug","in":"path","kind":"text","required":true}],"shapes":[["resources"]]},
{"id":"readResource","method":"GET","path":"/api/admin/apps/{slug}/resources/{id}","summary":"One protected resource of the app","description":"Its address, its scopes, and whether it charges.","fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true}],"shapes":[["resource"]]},
{"id":"saveResource","method":"PUT","path":"/api/admin/apps/{slug}/resources/{id}","summary":"Register a protected resource, or change it","description":"A protected resource is an API or MCP server of the app that accepts this service's tokens. `uri` is https, or plain http on this machine, without query and fragment, and not on this service's own address. Clients must send exactly this address; only a slash after a bare origin does not matter. No two resources have the same address. `scopes` are the resource's own words, and none of `openid`, `profile`, `email`, `offline_access`, `read`, `write`, `upstream`, `charge` and `admin`, which have a meaning here. With `charges` (default false), a person who connects a client to it sets a limit for the app, and the app's confidential clients exchange the tokens for it for tokens that may charge within this limit; people who connected a client before are asked again. To change a resource, send the `version` that you read; to register one, omit it or send 0. If the resource was saved in the meantime, or a new one's id is registered with other settings, the response is 409 `resource_changed` and nothing changes. Changes take effect everywhere within a minute.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"uri","in":"body","kind":"text","required":true},{"name":"scopes","in":"body","kind":"text","required":true,"list":true},{"name":"charges","in":"body","kind":"flag"},{"name":"version","in":"body","kind":"number","min":0},{"name":"reason","in":"body","kind":"text"}],"shapes":[["resource"]]},
{"id":"deleteResource","method":"DELETE","path":"/api/admin/apps/{slug}/resources/{id}","summary":"Delete a protected resource","description":"Within a minute no tokens are issued for it anywhere. Tokens that were issued work until they expire, at most ten minutes.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[["ok"]]},
{"id":"listPlans","method":"GET","path":"/api/admin/plans","summary":"All plans","description":"All of them, by id, each with how many accounts have it.","fields":[],"shapes":[["plans"]]},
{"id":"readPlan","method":"GET","path":"/api/admin/plans/{id}","summary":"One plan","description":"Its rules, and how many accounts have it.","fields":[{"name":"id","in":"path","kind":"text","required":true}],"shapes":[["plan"]]},
{"id":"savePlan","method":"PUT","path":"/api/admin/plans/{id}","summary":"Create a plan, or change it","description":"Each rule of `recurring` (at most 4) brings credits every `day`, `week` or `month`, which expire when the next ones come. At most `rollover_max` of what is left (default 0) stays usable for one more period. `app_slugs` are the only apps that can use the credits (default: all). To change a plan, send the `version` that you read; to create one, omit it or send 0. If the plan was saved in the meantime, the response is 409 `plan_changed` and nothing changes. Accounts that have the plan use changed rules from their next turn on: the schedule brings them, or the account's next call, and `behind` counts the accounts that wait. The id `free` is the plan of new accounts and cannot be saved.","keyed":true,"fields":[{"name":"id","in":"path","kind":"text","required":true},{"name":"name","in":"body","kind":"text","required":true},{"name":"recurring","in":"body","kind":"rule","required":true,"list":true},{"name":"version","in":"body","kind":"number","min":0},{"name":"reason","in":"body","kind":"text"}],"shapes":[["plan"]]},
{"id":"deletePlan","method":"DELETE","path":"/api/admin/plans/{id}","summary":"Delete a plan","description":"If accounts have the plan, the response is 409 `plan_in_use`.","keyed":true,"fields":[{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[["ok"]]},
{"id":"listWebhooks","method":"GET","path":"/api/admin/apps/{slug}/webhooks","summary":"The app's webhooks","description":"All of them, by id, without their secrets.","fields":[{"name":"slug","in":"path","kind":"text","required":true}],"shapes":[["webhooks"]]},
{"id":"saveWebhook","method":"PUT","path":"/api/admin/apps/{slug}/webhooks/{id}","summary":"Create a webhook, or change it","description":"Events are sent as Standard Webhooks (standardwebhooks.com). The response that creates a webhook has its `secret`, only once: if you lost it, rotate the secret. Omitted `thresholds` and `active` keep their values; a new webhook is active. `active: true` continues a paused webhook where it stopped. To change a webhook, send the `version` that you read; to create one, omit it or send 0. If the webhook was saved in the meantime, or a new one's id is used with other settings, the response is 409 `webhook_changed` and nothing changes. The address begins with `https://` and has a public host name and no port. Changes take effect everywhere within a minute.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"url","in":"body","kind":"text","required":true},{"name":"events","in":"body","kind":"text","required":true,"list":true,"values":["job.created","job.progressed","job.completed","job.failed","job.expired","credits.changed","credits.granted","credits.low","credits.expiring","credits.expired","credits.refused","topup.failed","topup.disabled","purchase.completed","purchase.refunded","account.deleted","approval.approved","approval.denied","connection.revoked","connection.limit_reached","access.stopped","access.allowed","app.paused","app.continued"]},{"name":"thresholds","in":"body","kind":"number","list":true},{"name":"active","in":"body","kind":"flag"},{"name":"version","in":"body","kind":"number","min":0},{"name":"reason","in":"body","kind":"text"}],"shapes":[["webhook","secret"]]},
{"id":"deleteWebhook","method":"DELETE","path":"/api/admin/apps/{slug}/webhooks/{id}","summary":"Delete a webhook","description":"Nothing is sent to it any more. Its events that were not delivered are lost.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"query","kind":"text"}],"shapes":[["ok"]]},
{"id":"rotateWebhookSecret","method":"POST","path":"/api/admin/apps/{slug}/webhooks/{id}/rotate","summary":"Replace a webhook's secret","description":"For 24 hours each delivery carries two signatures, with the new secret and with the previous one. If the request is repeated with its `Idempotency-Key`, `secret` is null: if you lost the first response, rotate again with another key.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text"}],"shapes":[["secret"]]},
{"id":"testWebhook","method":"POST","path":"/api/admin/apps/{slug}/webhooks/{id}/test","summary":"Send a test to a webhook","description":"Sends `type` once, now, also to a paused webhook and if it does not list the type, and returns how the receiver responded within 10 seconds. `ping`, which is sent without a `type`, has no data; any other type is a sample with every member of a real event. Each has `\"test\": true` and the header `webhook-test: true`, and its ids belong to nobody. A request that is repeated with its `Idempotency-Key` sends the same `webhook-id` again. At most 6 a minute for a webhook.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"type","in":"body","kind":"text","values":["ping","job.created","job.progressed","job.completed","job.failed","job.expired","credits.changed","credits.granted","credits.low","credits.expiring","credits.expired","credits.refused","topup.failed","topup.disabled","purchase.completed","purchase.refunded","account.deleted","approval.approved","approval.denied","connection.revoked","connection.limit_reached","access.stopped","access.allowed","app.paused","app.continued"]},{"name":"reason","in":"body","kind":"text"}],"shapes":[["status","duration_ms","error","response"]]},
{"id":"listWebhookAttempts","method":"GET","path":"/api/admin/apps/{slug}/webhooks/{id}/attempts","summary":"Events that were sent","description":"The last attempts of 7 days, at most 20. With `identity_id`, those of that account: each event that was sent, with the receiver's status. Without it, those of all accounts that the webhook's list knows: each attempt that failed, and of those that succeeded about one a minute. Operators may send an e-mail address as `identity_id`.","fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"identityId","in":"query","kind":"text"}],"shapes":[["attempts"]]},
{"id":"listWebhookDeliveries","method":"GET","path":"/api/admin/apps/{slug}/webhooks/{id}/deliveries","summary":"Events that were not delivered","description":"At most one for each account, because the events of an account are delivered in order, by identity. They are listed for 30 days. `status=pending` lists only those that will be tried again; `status=failed` lists both, as without `status`.","fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"status","in":"query","kind":"text","values":["pending","failed"]},{"name":"limit","in":"query","kind":"number","min":1,"max":200},{"name":"cursor","in":"query","kind":"text"}],"shapes":[["replays_since","deliveries"]]},
{"id":"retryWebhook","method":"POST","path":"/api/admin/apps/{slug}/webhooks/{id}/retry","summary":"Send the events that wait now","description":"Each account's event that waits is tried now instead of at its `retry_at`, and its attempts are counted from the beginning. Without a waiting event it does nothing. A paused webhook stays paused.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"reason","in":"body","kind":"text"}],"shapes":[["ok"]]},
{"id":"replayWebhook","method":"POST","path":"/api/admin/apps/{slug}/webhooks/{id}/replay","summary":"Send events again","description":"With `identity_id` and `after_line`: sends the events of the account's entries after this one again, in order and with the same `webhook-id`s. 0 begins with the events since the webhook was created. An operator may name the person by e-mail address. With `since`, at most 7 days ago, and neither of them: does the same for the entries since then of all accounts that have the app, a hundred accounts after the other, in the background; the list of deliveries has `replays_since` until each has begun. Accounts are found by the read model, which is some seconds late and has days as far back as `READ_MODEL_DAYS`.","keyed":true,"fields":[{"name":"slug","in":"path","kind":"text","required":true},{"name":"id","in":"path","kind":"text","required":true},{"name":"identityId","in":"body","kind":"text"},{"name":"afterLine","in":"body","kind":"number","min":0},{"name":"since","in":"body","kind":"time"},{"name":"reason","in":"body","kind":"text"}],"shapes":[["ok"]]},
];
