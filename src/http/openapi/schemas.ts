/**
 * Schemas of responses. They are strict, so that tests fail on a field that is missing here. The document describes requests
 * with the schemas that validate them.
 */
import { TOP_UP_STATES } from "../../domain/top_up.ts";
import * as z from "zod";
import { APP_ACCESS_EVENTS, APPROVAL_EVENTS, REVOKERS } from "../../domain/access_event.ts";
import { ALLOWANCE_KINDS } from "../../domain/allowance.ts";
import { OPERATOR_ROLES } from "../../domain/operators.ts";
import { CAP_PERIODS } from "../../domain/spending_cap.ts";
import { JOB_STATUSES } from "../../domain/job.ts";
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { LOT_ORIGINS } from "../../domain/lots.ts";
import { READINESS_CHECKS } from "../../domain/wire.ts";
import { CREATED_ITEM_REFUSALS, SETTLED_ITEM_REFUSALS } from "../../domain/refusal_codes.ts";
import { errorBodies } from "./error_bodies.ts";
import { count, named, positive, text_or_null } from "./shapes.ts";

export const uuid = z.uuid().describe("A UUID.");
export const time = z.iso.datetime().describe("RFC 3339, in UTC with milliseconds.");
export const credits = z
  .int()
  .describe("The balance after this request. It can be negative after an overage.");
const settled_credits = z
  .int()
  .nullable()
  .describe(
    "The balance after this request. It can be negative after an overage. Null for an app's key if the account is not open for the app, and for an app that charges for a connection.",
  );
/** Of a record that operators save: see `operator/save_record.ts`. */
export const record_version = positive.describe(
  "Increases with each save, from 1. Send it with the next save.",
);
export const slug = z.string().describe("An app's slug.");

const job_status = z.enum(JOB_STATUSES).meta({ id: "JobStatus" });
const entry_kind = z.enum(ENTRY_KINDS).meta({ id: "EntryKind" });
export const cap_period = z.enum(CAP_PERIODS).meta({ id: "CapPeriod" });

export const account = named("Account", {
  id: uuid,
  identity_id: z
    .string()
    .describe("The person's id at the identity provider; also `sub` of session tokens."),
  plan: z.string().describe("`free`, or a plan that an operator set."),
  credits: z
    .int()
    .describe("The available credits, without the credits that started jobs reserve."),
});

export const app_entry = named("AppEntry", {
  slug,
  starter_credits: count.describe("The granted amount, or the amount that a grant would have now."),
  granted: z.boolean().describe("Whether the starter credits were ever granted."),
  granted_at: time.nullable(),
});

const lot_origin = z.enum(LOT_ORIGINS);

const terms = named("Terms", {
  expires_at: time.nullable().describe("Null: the credits never expire."),
  app_slugs: z
    .array(slug)
    .nullable()
    .describe("The only apps that can use the credits; null: all apps."),
  bought: z.boolean().describe("Whether they were bought; else they were given."),
});

export const lot = named(
  "Lot",
  {
    ...terms.shape,
    id: uuid,
    origin: lot_origin.describe("`returned`: a job gave them back after their lot had expired."),
    left: count.describe("Credits available."),
    held: count.describe(
      "Credits that started jobs hold, in addition to `left`. They do not expire.",
    ),
    note: text_or_null.describe("An operator's reason or a package's name; null for an app."),
  },
  "Credits with terms. Credits without terms are in no lot.",
);

const job_part = named("JobPart", {
  lot_id: uuid.nullable().describe("Null: credits without terms."),
  bought: z.boolean(),
  credits: positive,
});

export const topup = named("TopUp", {
  on: z.boolean(),
  threshold: positive.describe("A charge follows when fewer credits are available."),
  package: z.string().describe("The id of the package that is bought."),
  currency: z.string(),
  month_limit_minor: positive.describe(
    "The most that may be charged in a calendar month (UTC), in the smallest unit.",
  ),
  month_spent_minor: count.describe("The charges of this month, with those that are pending."),
  state: z
    .enum(TOP_UP_STATES)
    .describe(
      "`ready`; `pending`: a charge is due; `retrying`: one failed, and the next follows; `limit_reached`: nothing more fits into the month. It is off if the `holder` switched it off, the card was `declined` three times, the bank requires the person's confirmation (`authentication_required`), Stripe `refused` the card or a refund or dispute left too few credits, the package changed (`package_changed`), or the account was `suspended`.",
    ),
});

export const wallet = named("Wallet", {
  account,
  held: count.describe("Credits that started jobs hold, not included in the account's `credits`."),
  bought: count.describe("The bought part of the account's `credits`."),
  lots: z
    .array(lot)
    .describe(
      "Credits with terms, in the order of use. An app, or a token limited to apps, gets those that it can use.",
    ),
  next_expiry: z
    .strictObject({ credits: positive, at: time })
    .nullable()
    .describe("What expires next if it is not used or held; null: nothing expires."),
  topup: topup
    .nullable()
    .optional()
    .describe(
      "Automatic top-up; null: it was never set. Only a session gets it: neither an app's key nor a personal access token or connection.",
    ),
  apps: z.array(app_entry),
  app_grant: z
    .strictObject({
      slug,
      starter_credits: count,
      granted: z
        .boolean()
        .describe("True only in the response to the request that made the grant."),
    })
    .nullable()
    .describe("The app of the query; null without `app`."),
  room: count
    .optional()
    .describe("The credits that the caller's caps still allow; only for a token with a cap."),
  spendable: z
    .int()
    .optional()
    .describe(
      "With `app`: the credits that this app can reserve for the caller now. A token with a cap gets at most its `room`, also without `app`. Below zero if the account owes credits.",
    ),
});

export const metadata = z
  .record(z.string(), z.unknown())
  .describe("Any JSON object. Pages show `description` and `previewUrl`.")
  .meta({ id: "Metadata" });

const started_by = z
  .union([
    z.strictObject({
      kind: z
        .literal("browser")
        .describe(
          "The person's session, through no page of a registered app: mostly this service's own pages.",
        ),
      id: z.null(),
      name: z.null(),
    }),
    z.strictObject({
      kind: z
        .literal("app")
        .describe("A key of the app, or the person's session through a page of the app."),
      id: slug,
      name: text_or_null.describe("Null: the app was not registered."),
    }),
    z.strictObject({
      kind: z
        .enum(["connection", "token"])
        .describe("An OAuth client's connection, or a personal access token."),
      id: uuid,
      root_id: uuid
        .optional()
        .describe("If it was exchanged: the connection or token that the person approved."),
      name: text_or_null.describe(
        "The name that it had then. Null for a token if the caller may not learn the names of the person's tokens: an app, a client, and another token with limits may not.",
      ),
    }),
  ])
  .describe(
    "The credential that started the job. It stays the same if another one settles the job.",
  )
  .meta({ id: "StartedBy" });

export const job = named("Job", {
  id: uuid,
  app_slug: slug.nullable(),
  action: z.string(),
  status: job_status,
  reserved: count.describe("Credits reserved: at creation, or by the last progress report."),
  actual_cost: count.describe("0 while the job is started, then its final cost."),
  refunded: count.describe("Credits of the cost that operators gave back later."),
  step: count.describe("The number of the last progress report; 0 before the first."),
  spent: count
    .nullable()
    .describe("Credits that the job costs if it expires; null until a progress report says so."),
  done: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("How much of the work is done, by the last progress report that said so."),
  message: text_or_null.describe("What the client said about its progress, for people to read."),
  failure: z
    .enum(["reported", "expired", "cancelled"])
    .nullable()
    .describe(
      "`reported`: its client failed it. `expired`: its time ran out. `cancelled`: the holder cancelled it.",
    ),
  failure_reason: text_or_null.describe("The client's `reason`; null without one."),
  created_at: time,
  updated_at: time,
  expires_at: time.describe(
    "A job that is still started at this time expires. It is charged what it has `spent`. Without a progress report, its reserve is refunded, or charged if the app's `on_expiry` says so.",
  ),
  by: started_by,
  from: z
    .array(job_part)
    .optional()
    .describe(
      "Where its credits come from, in the order in which they were taken: what it holds, later what it cost. Only for the holder and operators.",
    ),
  metadata: metadata.nullable(),
});

export const next_cursor = z
  .string()
  .optional()
  .describe("Send this as `cursor` to get the next page. Missing on the last page.");

export const job_page = named("JobPage", { jobs: z.array(job), next_cursor });

export const created_job = named("CreatedJob", {
  job_id: uuid,
  credits: credits
    .nullable()
    .describe(
      "The balance after this request. It can be negative after an overage. Null for an app that charges for a connection.",
    ),
});

export const checkout = named("Checkout", {
  url: z.url().describe("The checkout page for the buyer."),
});

export const settled_job = named("SettledJob", { job, credits: settled_credits });

export const progressed_job = named("ProgressedJob", { job, credits: settled_credits });

const created_item_refusal = z
  .union(errorBodies(CREATED_ITEM_REFUSALS))
  .meta({ id: "CreatedItemRefusal", description: "The item was refused; no job was created." });

const settled_item_refusal = z
  .union(errorBodies(SETTLED_ITEM_REFUSALS))
  .meta({ id: "SettledItemRefusal", description: "The item was refused; its job is unchanged." });

/** The response to a batch: one result for each item. */
const batchOf = <Item extends z.ZodType, Refusal extends z.ZodType, Credits extends z.ZodType>(
  item: Item,
  refusal: Refusal,
  balance: Credits,
) =>
  z.strictObject({
    results: z
      .array(z.union([item, refusal]))
      .describe("One result per item, in the order of the items."),
    credits: balance,
  });

const batch_credits = z.int().describe("The balance after all items.");

export const created_jobs = batchOf(created_job, created_item_refusal, batch_credits).meta({
  id: "CreatedJobs",
});

export const settled_jobs = batchOf(
  settled_job,
  settled_item_refusal,
  z
    .int()
    .nullable()
    .describe(
      "The balance after all items. Null for an app's key if the account is not open for the app.",
    ),
).meta({ id: "SettledJobs" });

const entry_lot = uuid
  .nullable()
  .describe("The lot that the entry concerns; null: none, or several.");
const entry_terms = terms
  .nullable()
  .describe("Of an entry that brought credits: the terms that they have now; null for others.");

export const entry = named(
  "Entry",
  {
    line: positive.describe(
      "The number of the entry. A report of progress that changes no credits has a number too; it is in the stream, and not in lists.",
    ),
    kind: entry_kind,
    amount: z.int().describe("The signed change of the balance."),
    balance_after: z.int(),
    job_id: uuid.nullable(),
    app: slug.nullable(),
    note: text_or_null.describe("An operator's reason; null for an entry that no operator made."),
    lot_id: entry_lot,
    terms: entry_terms,
    by: started_by
      .nullable()
      .describe("The starter of the entry's job; null for an entry without a job."),
    at: time,
  },
  "An entry of the ledger.",
);

export const entry_page = named("EntryPage", { entries: z.array(entry), next_cursor });

const entry_event = named(
  "EntryEvent",
  {
    line: positive.describe("The number of the ledger entry."),
    kind: entry_kind,
    amount: z.int().describe("The signed change of the balance."),
    credits: z.int().describe("The balance after this entry."),
    held: count.describe("The credits that started jobs hold after this entry."),
    job: job.nullable().describe("The job as it is now; null for an entry without a job."),
    app: slug.nullable(),
    lot_id: entry_lot,
    terms: entry_terms,
    at: time,
  },
  "A new ledger entry, with the balance after it.",
);

const snapshot_event = named(
  "SnapshotEvent",
  {
    line: positive.describe("The number of the newest ledger entry."),
    kind: z.literal("snapshot"),
    credits: z.int().describe("The balance."),
    held: count.describe("The credits that started jobs hold."),
  },
  "The state of the account when the stream begins.",
);

const job_progressed_event = named(
  "JobProgressedEvent",
  { id: uuid, at: time, kind: z.literal("job.progressed"), job },
  "A report of progress that changed no credits and no expiry. It has no entry, and is not replayed.",
);

const event_connection = z
  .strictObject({ id: uuid, client_id: z.string() })
  .describe("The connection, as in `GET /api/access`, and its OAuth client.");

/** The members of each event about access, in webhooks too. */
export const ACCESS_EVENT_MEMBERS = {
  approval: {
    approval: z.string().describe("The request that the 402 response named."),
    app: slug,
    action: z.string(),
    credits: count.describe("The most that the job may reserve."),
    token: z
      .strictObject({ id: uuid, client_id: text_or_null })
      .describe("The token that requested it; without `client_id` it is a personal access token."),
  },
  revoked: {
    connection: event_connection,
    by: z
      .enum(REVOKERS)
      .describe(
        "`client`: the OAuth client itself, or the one whose token it was exchanged from. `service`: what it depended on has ended, such as a session.",
      ),
  },
  limit_reached: {
    connection: event_connection,
    cap: z.strictObject({ credits: count, period: cap_period }),
    resets_at: time
      .nullable()
      .describe("The start of the cap's next period; null: `total` has none."),
  },
  app_access: { app: slug },
} as const;

const streamed = {
  id: uuid.describe("The same as in the event for webhooks."),
  at: time,
};

const approval_event = named(
  "ApprovalEvent",
  {
    ...streamed,
    kind: z.enum(APPROVAL_EVENTS),
    ...ACCESS_EVENT_MEMBERS.approval,
  },
  "The holder decided about a job beyond a cap.",
);

const revoked_event = named(
  "ConnectionRevokedEvent",
  {
    ...streamed,
    kind: z.literal("connection.revoked"),
    ...ACCESS_EVENT_MEMBERS.revoked,
  },
  "A connection was revoked.",
);

const limit_reached_event = named(
  "ConnectionLimitEvent",
  {
    ...streamed,
    kind: z.literal("connection.limit_reached"),
    ...ACCESS_EVENT_MEMBERS.limit_reached,
  },
  "A cap of a connection refused a request, for the first time in its period.",
);

const app_access_event = named(
  "AppAccessEvent",
  {
    ...streamed,
    kind: z.enum(APP_ACCESS_EVENTS),
    ...ACCESS_EVENT_MEMBERS.app_access,
  },
  "The holder stopped an app, or allowed it again.",
);

const access_event = z
  .union([approval_event, revoked_event, limit_reached_event, app_access_event])
  .meta({
    id: "AccessEvent",
    description:
      "The access to the account has changed. The event has no entry, and is not replayed.",
  });

export const account_event = z
  .union([entry_event, snapshot_event, job_progressed_event, access_event])
  .meta({ id: "AccountEvent", description: "The JSON of one message of the event stream." });

export const me = named("Me", {
  identity_id: z.string(),
  name: text_or_null.describe(
    "Null if it is unknown, or if the caller may not learn it: an OAuth client needs the scope `profile`, and a personal access token must be without limits.",
  ),
  email: text_or_null.describe("As the name; an OAuth client needs the scope `email`."),
  email_verified: z.boolean().nullable().describe("Null if the caller may not learn the address."),
  plan: z.string(),
  operator: z
    .boolean()
    .describe(
      "Whether this caller has operator rights: the person is an operator, and uses a token with the scope `admin` or a page of the service.",
    ),
  role: z.enum(OPERATOR_ROLES).optional().describe("Only with `operator: true`."),
});

const spending_cap = z.strictObject({
  credits: count,
  period: cap_period,
  spent: count.describe("The credits that count in the current period."),
  approved: count.describe(
    "The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits` by them.",
  ),
  room: count,
  resets_at: time.nullable().describe("The start of the next period; null: `total` has none."),
});

export const personal_token = named(
  "PersonalToken",
  {
    id: uuid,
    kind: z
      .enum(ALLOWANCE_KINDS)
      .describe(
        "`device`: a personal access token. `code`: a client that the person connected. `exchange`: exchanged from the token `parent_id`, whose limits bind it too.",
      ),
    parent_id: uuid.nullable(),
    client: z
      .strictObject({
        id: z.string(),
        host: text_or_null.describe("The host of the client's address, if it has one."),
      })
      .nullable()
      .describe(
        "The OAuth client that holds it, or that collected a device’s token; null for another personal access token.",
      ),
    resource: text_or_null.describe("The address that it is for; null: this API."),
    label: z.string(),
    app: slug.nullable().describe("The app that requested the token, as its client named it."),
    scopes: z
      .array(z.string())
      .describe(
        "`read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource.",
      ),
    apps: z
      .array(slug)
      .nullable()
      .describe("The only apps that the token may use; null: all apps."),
    caps: z.array(spending_cap),
    current: z.boolean().describe("Whether this request was sent with this token."),
    ends_with_session: z
      .boolean()
      .describe("Whether the token ends with the session that approved it."),
    created_at: time,
    last_used_at: time.nullable().describe("Updated at most once an hour."),
    expires_at: time,
  },
  "The token itself is not stored and not returned.",
);

export const personal_tokens = z.strictObject({ tokens: z.array(personal_token) });

export const token = named("TokenResponse", { token: z.string() });

export const done = z.strictObject({ ok: z.literal(true) });

export const device_authorization = named(
  "DeviceAuthorization",
  {
    device_code: z.string().describe("The secret of the program. Do not display it."),
    user_code: z.string().describe("The code that the person compares or types."),
    verification_uri: z.url(),
    verification_uri_complete: z.url().describe("Includes the user code, for a link or a QR code."),
    expires_in: positive.describe("Seconds."),
    interval: positive.describe("Seconds between two polls."),
  },
  "RFC 8628, section 3.2.",
);

export const device_pending = z.strictObject({
  code: z.enum(["authorization_pending", "slow_down"]),
  interval: positive,
});

export const public_keys = z.strictObject({
  keys: z.array(
    z.union([
      z.strictObject({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        kid: z.string(),
        x: z.string(),
        alg: z.literal("EdDSA"),
        use: z.literal("sig"),
      }),
      z.strictObject({
        kty: z.literal("RSA"),
        kid: z.string(),
        n: z.string(),
        e: z.string(),
        alg: z.literal("RS256"),
        use: z.literal("sig"),
      }),
    ]),
  ),
});

export const readiness = z.strictObject({
  ok: z.boolean(),
  checks: z.strictObject(
    Object.fromEntries(READINESS_CHECKS.map((name) => [name, z.boolean()])) as Record<
      (typeof READINESS_CHECKS)[number],
      z.ZodBoolean
    >,
  ),
});
