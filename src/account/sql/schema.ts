/**
 * The tables of one Account object, and the types of their rows. The migration in `drizzle/account` is generated from
 * this file. Its tables with text keys are WITHOUT ROWID, so that a row costs one written row and not two.
 */
import { real, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ACCESS_EVENTS } from "../../domain/access_event.ts";
import { STARTED_JOBS } from "../../domain/app_stop.ts";
import { APP_ACCESS, EXPIRY_OUTCOMES, SETTLERS } from "../../domain/app_policy.ts";
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { ALLOWANCE_KINDS } from "../../domain/allowance.ts";
import { REVERSAL_STATES } from "../../domain/purchases.ts";
import { APPROVAL_STATES } from "../../domain/job_approval.ts";
import { CAP_PERIODS } from "../../domain/spending_cap.ts";
import { JOB_STATUSES, type JobFailure } from "../../domain/job.ts";
import { LOT_ORIGINS } from "../../domain/lots.ts";
import { CHARGE_FAILURES, TOP_UP_OFF_REASONS, TOP_UP_OUTCOMES } from "../../domain/top_up.ts";

/** One row: which migrations ran, and the oldest build that may run on their result. See `migrate.ts`. */
export const dataFormat = sqliteTable("data_format", {
  singleton: integer().primaryKey(),
  /** How many migrations ran. */
  migrations: integer().notNull(),
  oldest_build: integer().notNull(),
});

/** The account: one row. The balance is only in the newest entry. */
export const account = sqliteTable("account", {
  singleton: integer().primaryKey(),
  id: text().notNull(),
  identity_id: text().notNull(),
  plan: text().notNull(),
  /** JSON of a `RunningPlan`: the rules of the plan that bring credits. Null: it has none. */
  plan_json: text(),
  created_at_ms: integer().notNull(),
  /** Null: not suspended. */
  suspended_at_ms: integer(),
  /** Why it is suspended, as its holder reads it; null: the operator gave no reason. */
  suspended_public_reason: text(),
  /** Null: not deleted. The row of a deleted account is its tombstone. */
  deleted_at_ms: integer(),
  /** The next step of a deleted account's erasure; see `deletion/erasure.ts`. Null: not deleted. */
  erasure: text({ enum: ["closing", "wiping", "forgetting", "done"] }),
  /** Whether its holder deleted an account before. Then no app grants starter credits again. */
  returned: integer({ mode: "boolean" }).notNull().default(false),
  /** The balance that a deleted account would have now, in credits. Below zero, the holder's next account owes it. */
  left_credits: integer().notNull().default(0),
  /**
   * Webhooks get nothing up to this entry. 0: they get everything. It is that of a restore of an account that was opened
   * again before, because senders then begin again.
   */
  events_after_line: integer().notNull().default(0),
});

/**
 * The ledger, append-only. `line` is the entry's number, from 1 without gaps. Each entry has the balance and the held
 * credits after it, so that no other row has to be written for them. For the last three columns, see
 * `ledger/started_jobs.ts`.
 */
export const entries = sqliteTable("entries", {
  line: integer().primaryKey(),
  kind: text({ enum: ENTRY_KINDS }).notNull(),
  amount: integer().notNull(),
  balance_after: integer().notNull(),
  reserved_after: integer().notNull().default(0),
  job_id: text(),
  app_slug: text(),
  /** A note for the holder, such as an operator's reason. */
  note: text(),
  at_ms: integer().notNull(),
  open_jobs: integer().notNull().default(0),
  recent_after_job_id: text(),
  recent_jobs: integer().notNull().default(0),
  /** As in {@link Posting}: a job's entries are found from its newest one without an index. */
  previous_line: integer(),
  /** The bought part of `balance_after` and of `reserved_after`. */
  bought_after: integer().notNull().default(0),
  reserved_bought_after: integer().notNull().default(0),
  /** JSON array of `ScopedLeft`: what is left for some apps only; null: nothing. */
  scoped_json: text(),
  /** The only lot that the entry concerns. */
  lot_id: text(),
  /** JSON of the `EntryTerms` of credits that came in; null: given credits without terms, or none came in. */
  terms_json: text(),
  /** JSON of the `Worth` of the bought credits after it, with those that jobs held; null: none with a known price. */
  paid_json: text(),
});

/** Credits with terms: see `domain/lots.ts`. The row of one that is used up stays, because its jobs may be refunded. */
export const lots = sqliteTable("lots", {
  id: text().primaryKey(),
  origin: text({ enum: LOT_ORIGINS }).notNull(),
  bought: integer({ mode: "boolean" }).notNull(),
  /** JSON array of the only apps that may use it; null: all apps. */
  app_slugs_json: text(),
  credits: integer().notNull(),
  credits_left: integer().notNull(),
  credits_held: integer().notNull(),
  expires_at_ms: integer(),
  /** The entry that brought it. */
  line: integer().notNull(),
  note: text(),
  /** How many of its warnings before the expiry were announced, or came before the lot; see `WARNING_LEADS_MS`. */
  warnings: integer().notNull(),
  /** JSON array of `PaidCredits`; null: its credits were given. */
  paid_json: text(),
});

/** The account's apps. `granted_at_ms`: null until starter credits are granted. */
export const apps = sqliteTable("apps", {
  slug: text().primaryKey(),
  starter_credits: integer().notNull(),
  granted_at_ms: integer(),
  created_at_ms: integer().notNull(),
  /** The rights of the app here; see `wallet/app_access.ts`. */
  access: text({ enum: APP_ACCESS }).notNull(),
  /** Whether it was registered when it was last used here. */
  is_registered: integer({ mode: "boolean" }).notNull().default(true),
  /** The newest entry when `access` last became `open`; 0: never. The app's webhooks get what came after it. */
  opened_after_line: integer().notNull(),
  /** Of a stopped app: the newest job when the holder stopped it. Null: not stopped, or there was no job. */
  stopped_after_job_id: text(),
  /** Of a stopped app: whether its jobs up to that one go on. */
  started_jobs: text({ enum: STARTED_JOBS }).notNull().default("keep"),
});

/** Jobs. Ids are UUIDv7 in the order of creation, so lists with the newest job first need no index. */
export const jobs = sqliteTable("jobs", {
  id: text().primaryKey(),
  status: text({ enum: JOB_STATUSES }).notNull(),
  app_slug: text(),
  action: text().notNull(),
  /** The credits that the job reserved at first. The app's policy limits its cost by this. */
  cost_estimate: integer().notNull(),
  reserved: integer().notNull(),
  actual_cost: integer().notNull(),
  /** Credits of the cost that operators gave back. */
  refunded: integer().notNull().default(0),
  /** JSON array of `Part`: what the job holds, or what it cost; null: given credits of the base. See `ledger/credits.ts`. */
  from_json: text(),
  /** The number of the last progress report; 0: none. */
  step: integer().notNull().default(0),
  /** The cost of the job if it expires, in credits; null: its policy decides. */
  spent: integer(),
  /** How much of the work is done, from 0 to 1, and what the client said about it; null: it did not say. */
  done: real(),
  message: text(),
  /** The last progress report, for its retries; null: none. See `idempotency/job_steps.ts`. */
  progress_json: text(),
  failure: text().$type<JobFailure>(),
  /** The client's reason for the failure. */
  failure_reason: text(),
  created_at_ms: integer().notNull(),
  updated_at_ms: integer().notNull(),
  expires_at_ms: integer().notNull(),
  /** The number of the entry of the job's last change: its version in the read model. */
  line: integer().notNull(),
  metadata_json: text(),
  /** The path of the allowance that started the job; null: a browser session or an app's key. */
  allowance_path: text(),
  /** JSON of a `Starter`; null: the holder in a browser. See `domain/started_by.ts`. */
  started_by_json: text(),
  /** Whether an allowance of that path had a cap, which bounds the job's overage even after its row is gone. */
  is_capped: integer({ mode: "boolean" }).notNull().default(false),
  /** The credits that the holder approved beyond those caps; 0: none. */
  approved: integer().notNull().default(0),
  /** JSON array of `Taking`: what the caps of that path count for it; null: there was no cap. */
  takings_json: text(),
  /** Until when an expired job's claim on those caps holds; null: no claim. See `jobs/claims.ts`. */
  claimed_until_ms: integer(),
  /** The app's policy when the job was created; see `domain/app_policy`. */
  settle: text({ enum: SETTLERS }).notNull().default("holder"),
  on_expiry: text({ enum: EXPIRY_OUTCOMES }).notNull().default("refund"),
  max_overage_percent: integer(),
  /** The request that completed or failed the job, if it had an idempotency key; see `idempotency/job_keys.ts`. */
  idempotency_caller: text(),
  idempotency_key: text(),
  idempotency_fingerprint: text(),
});

/** Started jobs that are not among the recent ones, by expiry; see `ledger/started_jobs.ts`. */
export const longJobs = sqliteTable(
  "long_jobs",
  { expires_at_ms: integer().notNull(), job_id: text().notNull() },
  (table) => [primaryKey({ columns: [table.expires_at_ms, table.job_id] })],
);

/** Claims of expired jobs on caps, by their end; see `jobs/claims.ts`. */
export const capClaims = sqliteTable(
  "cap_claims",
  { claimed_until_ms: integer().notNull(), job_id: text().notNull() },
  (table) => [primaryKey({ columns: [table.claimed_until_ms, table.job_id] })],
);

/** Overdue jobs that could not be expired, which is a defect. They are tried again at `retry_at_ms`. */
export const stuckJobs = sqliteTable("stuck_jobs", {
  job_id: text().primaryKey(),
  since_ms: integer().notNull(),
  retry_at_ms: integer().notNull(),
});

/**
 * Allowances: personal access tokens, and what apps and agents hold. The row makes an allowance valid, together with
 * the rows of its path. The row of a revoked one stays until it has expired, for what its jobs still spend; see
 * `sql/allowance_store.ts`.
 */
export const allowances = sqliteTable("allowances", {
  id: text().primaryKey(),
  /** The allowance that it was exchanged from; null: the holder approved it. */
  parent_id: text(),
  /** The token family that it was exchanged from, and ends with; null: none. */
  parent_family_id: text(),
  /** Its own id, its parent's, and so on to the root, with spaces between them. */
  path: text().notNull(),
  kind: text({ enum: ALLOWANCE_KINDS }).notNull(),
  /** The OAuth client that holds it, and the host of that client's address; null: none. */
  client_id: text(),
  client_host: text(),
  /** The protected resource that it is for (RFC 8707), and the app that owns it; null: this service's API. */
  resource: text(),
  resource_app_slug: text(),
  label: text().notNull(),
  /** The app that requested the token, as it named itself. */
  app_slug: text(),
  /** Scopes, with spaces between them; see `rightsOf` in `domain/allowance.ts`. */
  scopes: text().notNull(),
  /** The session that approved it, and the sign-in method of that session; null: a method unlinked before. */
  session_id: text().notNull(),
  signin_method: text(),
  /** Whether it ends with that session. It always ends with the sign-in method. */
  ends_with_session: integer({ mode: "boolean" }).notNull(),
  /** JSON array of the only apps that it may act for; null: all apps. */
  app_slugs_json: text(),
  /** JSON array of `CapSpending`: its caps, each with what it has spent. */
  caps_json: text().notNull(),
  /** How many bytes its jobs, and those of its descendants, have stored; see `TOKEN_STORAGE_MAX_BYTES`. */
  stored_bytes: integer().notNull(),
  created_at_ms: integer().notNull(),
  /** At most an hour old; null: never used. */
  last_used_at_ms: integer(),
  expires_at_ms: integer().notNull(),
  /** Null: not revoked. */
  revoked_at_ms: integer(),
});

/** Requests for the holder's approval of single jobs beyond a cap; see `approvals/approvals.ts`. */
export const approvals = sqliteTable("approvals", {
  id: text().primaryKey(),
  allowance_id: text().notNull(),
  app_slug: text().notNull(),
  action: text().notNull(),
  /** The most that the job may reserve. */
  credits: integer().notNull(),
  /** The cap that did not allow it. */
  cap_credits: integer().notNull(),
  cap_period: text({ enum: CAP_PERIODS }).notNull(),
  state: text({ enum: APPROVAL_STATES }).notNull(),
  expires_at_ms: integer().notNull(),
});

/**
 * Token families: each is one authorization of a client, and belongs to the client's allowance. A row that is deleted has
 * ended. See `domain/token_family.ts`.
 */
export const tokenFamilies = sqliteTable("token_families", {
  id: text().primaryKey(),
  allowance_id: text().notNull(),
  /** The scopes of this authorization, with spaces between them: those of the allowance, or fewer. */
  scopes: text().notNull(),
  redirect_uri: text().notNull(),
  /** Whether the client must authenticate with an assertion. */
  needs_assertion: integer({ mode: "boolean" }).notNull(),
  /** The number of the last response, and its time; 0: the code was not redeemed yet. */
  generation: integer().notNull(),
  rotated_at_ms: integer().notNull(),
  /** Whether a token of that response was used. Of the first one it is not recorded: no refresh token is older. */
  is_used: integer({ mode: "boolean" }).notNull(),
  /** When the person signed in. */
  auth_time_ms: integer().notNull(),
  nonce: text(),
  /** The session that authorized it, and that session's sign-in method; null: a method unlinked before. */
  session_id: text().notNull(),
  signin_method: text(),
  /** When that session ends, and the family with it; null: it outlives the session. */
  session_ends_at_ms: integer(),
});

/** Authorization codes by their SHA-256, for a day. */
export const codes = sqliteTable("codes", {
  code_hash: text().primaryKey(),
  family_id: text().notNull(),
  /** PKCE's S256 challenge; null: none. */
  code_challenge: text(),
  created_at_ms: integer().notNull(),
  used_at_ms: integer(),
});

/**
 * Responses of requests with an `Idempotency-Key`, other than to complete or fail a job. `day`: the UTC day of
 * `created_at_ms`. It comes first in the key, so that old rows are found without an index.
 */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    day: integer().notNull(),
    caller: text().notNull(),
    endpoint: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    response_json: text().notNull(),
    created_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.caller, table.endpoint, table.key] })],
);

/**
 * The user's tokens of third-party providers, a row for each provider. `sealed`: the tokens themselves, encrypted (see
 * `vault/sealing.ts`). `revision` changes whenever the tokens change, and only then. `issuer` and `client_id`: which
 * server issued them to which client, because a provider's id may be configured for another server later.
 */
export const upstreamTokens = sqliteTable("upstream_tokens", {
  provider: text().primaryKey(),
  subject: text().notNull(),
  scope: text(),
  /** When the access token expires; null if the provider did not say. */
  expires_at_ms: integer(),
  key_id: text().notNull(),
  sealed: text().notNull(),
  revision: text().notNull(),
  updated_at_ms: integer().notNull(),
  issuer: text(),
  client_id: text(),
});

/** Providers that the user unlinked. Tokens of an identity that was linked at `linked_at_ms` or before are dropped. */
export const upstreamUnlinks = sqliteTable("upstream_unlinks", {
  provider: text().primaryKey(),
  linked_at_ms: integer().notNull(),
});

/** Debts of the holder's deleted accounts that this account took over. The row makes each count once, as it is now. */
export const debts = sqliteTable("debts", {
  id: text().primaryKey(),
  credits: integer().notNull(),
  at_ms: integer().notNull(),
});

/** The money that a deleted account's purchases may still lose, or win back; see `purchases/kept_payments.ts`. */
export const keptPayments = sqliteTable("kept_payments", {
  /** A keyed hash of the payment's id. */
  payment_hash: text().primaryKey(),
  credits: integer().notNull(),
  paid_minor: integer().notNull(),
  /** JSON array of `KeptReversal`. */
  reversals_json: text().notNull(),
});

/** Paid checkouts. The row makes each credit once. `paid_minor` is in the currency's smallest unit. */
export const purchases = sqliteTable(
  "purchases",
  {
    checkout_session_id: text().primaryKey(),
    payment_intent_id: text().notNull().unique(),
    package_id: text().notNull(),
    package_name: text().notNull(),
    credits: integer().notNull(),
    paid_minor: integer().notNull(),
    currency: text().notNull(),
    /** Credits taken back so far, for refunds and disputes. */
    taken_back: integer().notNull(),
    /** Money that they returned so far, at most `paid_minor`. */
    refunded_minor: integer().notNull(),
    created_at_ms: integer().notNull(),
  },
  // For lists, newest first. The primary key makes the order total.
  (table) => [index("purchases_created_at_ms").on(table.created_at_ms, table.checkout_session_id)],
);

/**
 * The entries of purchases. `amount_minor`: what was paid, or for a `purchase_refund` what was returned (negative), or
 * taken again because a dispute was won.
 */
export const purchaseEntries = sqliteTable("purchase_entries", {
  line: integer().primaryKey(),
  checkout_session_id: text().notNull(),
  amount_minor: integer().notNull(),
});

/** The payments for the bought credits of the base, oldest first: see `PaidCredits`. */
export const basePayments = sqliteTable(
  "base_payments",
  {
    number: integer().notNull(),
    id: text().notNull(),
    credits: integer().notNull(),
    currency: text(),
    paid_minor: integer().notNull(),
    paid_credits: integer().notNull(),
    /** The credits of all earlier rows. */
    before_credits: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.before_credits, table.number] })],
);

/** Refunds and disputes, even of payments whose purchase is not known yet. */
export const purchaseReversals = sqliteTable(
  "purchase_reversals",
  {
    payment_intent_id: text().notNull(),
    source_id: text().notNull(),
    amount_minor: integer().notNull(),
    state: text({ enum: REVERSAL_STATES }).notNull(),
    updated_at_ms: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.payment_intent_id, table.source_id] })],
);

/** Automatic top-up: one row once the holder has saved a card for it. See `top_up/top_up.ts`. */
export const topUp = sqliteTable("top_up", {
  singleton: integer().primaryKey(),
  /** JSON of the `TopUpPlan`. */
  plan_json: text().notNull(),
  customer_id: text().notNull(),
  payment_method_id: text().notNull(),
  card: text().notNull(),
  /** Null: it is on. */
  off_reason: text({ enum: TOP_UP_OFF_REASONS }),
  /** Failed charges since the last one that succeeded, and when the next may follow. */
  failures: integer().notNull(),
  retry_at_ms: integer(),
});

/** One row while the holder saves a card at Stripe. Only the checkout that knows the `nonce` may finish it, once. */
export const topUpSetup = sqliteTable("top_up_setup", {
  singleton: integer().primaryKey(),
  nonce: text().notNull(),
  /** JSON of the `TopUpPlan` that begins with the card. */
  plan_json: text().notNull(),
});

/** Each top-up that was due. A number is never used again. */
export const topUps = sqliteTable("top_ups", {
  number: integer().primaryKey(),
  /** The failed charges in a row before this one, plus 1. */
  attempt: integer().notNull(),
  outcome: text({ enum: TOP_UP_OUTCOMES }).notNull(),
  failure: text({ enum: CHARGE_FAILURES }),
  credits: integer().notNull(),
  amount_minor: integer().notNull(),
  currency: text().notNull(),
  /** JSON of the `ToppedUpPackage`. */
  package_json: text().notNull(),
  customer_id: text().notNull(),
  payment_method_id: text().notNull(),
  created_at_ms: integer().notNull(),
  /** How often its charge was requested, and the first and last time; 0: never, so nothing was charged. */
  asked: integer().notNull(),
  first_asked_at_ms: integer(),
  asked_at_ms: integer(),
  /** When the alarm continues with it. */
  next_at_ms: integer().notNull(),
  payment_intent_id: text(),
});

/** One row while the read model cannot be reached, or receives the whole account again; see `sync/outbox.ts`. */
export const readModelBehind = sqliteTable("read_model_behind", {
  singleton: integer().primaryKey(),
  since_ms: integer().notNull(),
  /** A rebuild has sent the jobs up to this one; "": none yet; null: no rebuild is under way. */
  rebuilt_to_job_id: text(),
});

/** One row once the account has written to the archive, or must; see `sync/archiver.ts`. */
export const archive = sqliteTable("archive", {
  singleton: integer().primaryKey(),
  /** The archive has the entries up to this one. */
  line: integer().notNull(),
  /** The SHA-256 of the stored bytes of the newest segment, in hexadecimal; null before the first one. */
  sha256: text(),
  /** The last entry of the segment that is being written; null: none. A retry writes the same entries. */
  pending_line: integer(),
  /** An operator or the schedule wants the entries up to this one in the archive. */
  requested_line: integer().notNull(),
  /** Since when the archive cannot be written; null: the last attempt succeeded. */
  failing_since_ms: integer(),
});

/**
 * One row once entries have left the object for the archive; see `sync/old_rows.ts`. The entries before `line` have left, and
 * that entry stays. `balance` is the balance after it, so it and the amounts of the later entries are the account's balance.
 */
export const balanceForward = sqliteTable("balance_forward", {
  singleton: integer().primaryKey(),
  line: integer().notNull(),
  at_ms: integer().notNull(),
  balance: integer().notNull(),
  /** The sum of the entries of purchases and their refunds, up to `line`. */
  purchased: integer().notNull(),
  /** The SHA-256 of the segment that ends with `line`, in hexadecimal. */
  sha256: text().notNull(),
});

/** The segments of the archive whose entries have left. `recalled_at_ms`: when a read brought them back; null: not here. */
export const leftSegments = sqliteTable("left_segments", {
  first: integer().primaryKey(),
  last: integer().notNull(),
  /** The time of its first entry. */
  at_ms: integer().notNull(),
  sha256: text().notNull(),
  recalled_at_ms: integer(),
});

/**
 * Files of the archive with jobs that have left, by ranges of ids without gaps. A job of a range that has a row here was not
 * in the file, or has changed since.
 */
export const leftJobs = sqliteTable("left_jobs", {
  last_id: text().primaryKey(),
  /** The jobs after this one, up to `last_id`. */
  after_id: text().notNull(),
  /** The balance-forward record's entry when the file was written. Its jobs have earlier ones, until they change again. */
  line: integer().notNull(),
  sha256: text().notNull(),
  recalled_at_ms: integer(),
});

/** The newest events for webhooks that have no entry; see `webhooks/unnumbered_events.ts`. */
export const unnumberedEvents = sqliteTable("unnumbered_events", {
  id: integer().primaryKey(),
  event_id: text().notNull(),
  type: text({
    enum: [
      "job.progressed",
      "credits.refused",
      "credits.expiring",
      "topup.failed",
      "topup.disabled",
      ...ACCESS_EVENTS,
    ],
  }).notNull(),
  /** The app whose webhooks receive it. */
  app_slug: text().notNull(),
  /** The number of the newest entry when it happened. */
  line: integer().notNull(),
  /** JSON object of its members, without the identity. */
  details_json: text().notNull(),
  at_ms: integer().notNull(),
});

export type AccountRow = typeof account.$inferSelect;
export type EntryRow = typeof entries.$inferSelect;
export type AppRow = typeof apps.$inferSelect;
export type JobRow = typeof jobs.$inferSelect;
export type UnnumberedEventRow = typeof unnumberedEvents.$inferSelect;

/** A started job counts for the allowance and the app that it was created with. */
export type JobCreator = Pick<JobRow, "allowance_path" | "app_slug">;
