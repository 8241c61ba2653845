/**
 * The answers, as schemas. Strict: a field that is not here is not in the API, and the tests fail on it.
 * Requests have no schemas here: the document is made from those that validate them.
 */
import * as z from "zod";
import { EXPIRY_OUTCOMES, SETTLERS } from "../../domain/app_policy.ts";
import { CAP_PERIODS, PERSONAL_TOKEN_SCOPES } from "../../domain/personal_token.ts";
import { JOB_STATUSES } from "../../domain/job.ts";
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { READINESS_CHECKS } from "../../domain/wire.ts";
import { CREATED_ITEM_REFUSALS, SETTLED_ITEM_REFUSALS } from "../../domain/refusal_codes.ts";
import { errorBodies } from "./error_bodies.ts";

const uuid = z.uuid().describe("A UUID.");
export const time = z.iso.datetime().describe("RFC 3339, in UTC with milliseconds.");
export const credits = z
  .int()
  .describe("The balance afterwards; may be negative after an overage.");
const slug = z.string().describe("An app's slug.");

const job_status = z.enum(JOB_STATUSES).meta({ id: "JobStatus" });
const entry_kind = z.enum(ENTRY_KINDS).meta({ id: "EntryKind" });
const personal_token_scope = z.enum(PERSONAL_TOKEN_SCOPES).meta({ id: "PersonalTokenScope" });

export const account = z
  .strictObject({
    id: uuid,
    identity_id: z
      .string()
      .describe("The person at the identity provider; `sub` of session tokens."),
    plan: z.string().describe("`free`, or what an operator set."),
    credits: z.int().describe("What is available now: reserves are taken off."),
  })
  .meta({ id: "Account" });

export const app_entry = z
  .strictObject({
    slug,
    starter_credits: z.int().min(0).describe("What was granted, or would be now."),
    granted: z.boolean().describe("Whether the grant was ever made."),
    granted_at: time.nullable(),
  })
  .meta({ id: "AppEntry" });

export const wallet = z
  .strictObject({
    account,
    apps: z.array(app_entry),
    app_grant: z
      .strictObject({
        slug,
        starter_credits: z.int().min(0),
        granted: z.boolean().describe("True only in the answer that made the grant."),
      })
      .nullable()
      .describe("The app that the query names; null without one."),
  })
  .meta({ id: "Wallet" });

export const metadata = z
  .record(z.string(), z.unknown())
  .describe("Free-form. `description` and `previewUrl` are shown to people.")
  .meta({ id: "Metadata" });

export const job = z
  .strictObject({
    id: uuid,
    app_slug: slug.nullable(),
    action: z.string(),
    status: job_status,
    reserved: z.int().min(0).describe("Credits reserved when the job was created."),
    actual_cost: z.int().min(0).describe("0 while started; what the job cost once it ended."),
    failure: z
      .enum(["reported", "expired"])
      .nullable()
      .describe("Why it failed: its client said so, or its time ran out."),
    failure_reason: z
      .string()
      .nullable()
      .describe("The `reason` that its client gave; null without one."),
    created_at: time,
    updated_at: time,
    expires_at: time.describe("A job still started then fails by itself, with a full refund."),
    metadata: metadata.nullable(),
  })
  .meta({ id: "Job" });

export const next_cursor = z
  .string()
  .optional()
  .describe("There is more: give it back as `cursor`. Left out on the last page.");

export const job_page = z.strictObject({ jobs: z.array(job), next_cursor }).meta({ id: "JobPage" });

export const created_job = z.strictObject({ job_id: uuid, credits }).meta({ id: "CreatedJob" });

export const checkout = z
  .strictObject({ url: z.url().describe("Where to send the buyer.") })
  .meta({ id: "Checkout" });

export const settled_job = z.strictObject({ job, credits }).meta({ id: "SettledJob" });

export const created_item_refusal = z
  .union(errorBodies(CREATED_ITEM_REFUSALS))
  .meta({ id: "CreatedItemRefusal", description: "The item was refused; no job was created." });

export const settled_item_refusal = z
  .union(errorBodies(SETTLED_ITEM_REFUSALS))
  .meta({ id: "SettledItemRefusal", description: "The item was refused; its job is unchanged." });

/** The response to a batch: one result for each item. */
const batchOf = <Item extends z.ZodType, Refusal extends z.ZodType>(item: Item, refusal: Refusal) =>
  z.strictObject({
    results: z.array(z.union([item, refusal])).describe("In the order of the items."),
    credits: z.int().describe("The balance after all of them."),
  });

export const created_jobs = batchOf(created_job, created_item_refusal).meta({ id: "CreatedJobs" });

export const settled_jobs = batchOf(settled_job, settled_item_refusal).meta({ id: "SettledJobs" });

const registered_app = z
  .strictObject({
    slug,
    name: z.string(),
    starter_credits: z.int().min(0),
    origins: z.array(z.string()),
    daily_starter_budget: z
      .int()
      .min(0)
      .nullable()
      .describe("The most that its grants of one UTC day may add up to; null: no limit."),
    settle: z.enum(SETTLERS).describe("Who completes and fails its jobs."),
    on_expiry: z.enum(EXPIRY_OUTCOMES).describe("What a time-out does with the reserve."),
    max_overage_percent: z
      .int()
      .min(0)
      .nullable()
      .describe("How far a job's cost may exceed its estimate, in percent; null: no limit."),
    upstream_providers: z
      .array(z.string())
      .describe("Sign-in providers whose upstream tokens the app's pages get."),
    version: z.int().min(1).describe("Grows with each save. Send it with the next one."),
    created_at: time,
  })
  .meta({ id: "RegisteredApp" });

export const app_page = z
  .strictObject({ apps: z.array(registered_app), next_cursor })
  .meta({ id: "AppPage" });

const app_key = z
  .strictObject({ id: uuid, label: z.string(), created_at: time })
  .meta({ id: "AppKey" });

export const app_key_page = z
  .strictObject({ keys: z.array(app_key), next_cursor })
  .meta({ id: "AppKeyPage" });

export const new_app_key = z
  .strictObject({
    ...app_key.shape,
    key: z
      .string()
      .nullable()
      .describe("The secret, shown only once; null in the response to a repeated request."),
  })
  .meta({ id: "NewAppKey" });

export const entry = z
  .strictObject({
    line: z.int().min(1).describe("Numbered from 1, without gaps."),
    kind: entry_kind,
    amount: z.int().describe("Signed: what was added to the balance."),
    balance_after: z.int(),
    job_id: uuid.nullable(),
    app: slug.nullable(),
    note: z.string().nullable().describe("An operator's reason; null where no operator wrote it."),
    at: time,
  })
  .meta({ id: "Entry", description: "A line of the passbook." });

export const entry_page = z
  .strictObject({ entries: z.array(entry), next_cursor })
  .meta({ id: "EntryPage" });

const entry_event = z
  .strictObject({
    line: z.int().min(1).describe("The number of the ledger entry."),
    kind: entry_kind,
    amount: z.int().describe("Signed: what was added to the balance."),
    credits: z.int().describe("The balance after this entry."),
    reserved: z.int().min(0).describe("What started jobs held after this entry."),
    job: job.nullable().describe("The job as it is now; null for an entry without a job."),
    app: slug.nullable(),
    at: time,
  })
  .meta({ id: "EntryEvent", description: "A new ledger entry, with the balance after it." });

const snapshot_event = z
  .strictObject({
    line: z.int().min(1).describe("The number of the newest ledger entry."),
    kind: z.literal("snapshot"),
    credits: z.int().describe("The balance."),
    reserved: z.int().min(0).describe("What started jobs hold."),
  })
  .meta({ id: "SnapshotEvent", description: "The state of the account when the stream begins." });

export const account_event = z
  .union([entry_event, snapshot_event])
  .meta({ id: "AccountEvent", description: "The JSON of one message of the event stream." });

export const me = z
  .strictObject({
    identity_id: z.string(),
    name: z.string().nullable(),
    email: z.string().nullable(),
    email_verified: z.boolean(),
    plan: z.string(),
    operator: z
      .boolean()
      .describe(
        "Whether this caller may operate the service: its person is an operator, and its token has the scope `admin`, or it is a page of the service.",
      ),
  })
  .meta({ id: "Me" });

export const personal_token = z
  .strictObject({
    id: uuid,
    label: z.string(),
    app: slug.nullable().describe("The app that asked for the token, by its own word."),
    scopes: z.array(personal_token_scope),
    apps: z.array(slug).nullable().describe("The only apps it may act for; null: all."),
    cap: z
      .strictObject({
        credits: z.int().min(0),
        period: z.enum(CAP_PERIODS),
        spent: z.int().min(0),
        room: z.int().min(0),
      })
      .nullable(),
    current: z.boolean().describe("Whether it is the one that asks."),
    ends_with_session: z.boolean().describe("Whether it ends with the session that approved it."),
    created_at: time,
    last_used_at: time.nullable().describe("Late by at most an hour."),
    expires_at: time,
  })
  .meta({ id: "PersonalToken", description: "The token itself is stored and shown nowhere." });

export const personal_tokens = z.strictObject({ tokens: z.array(personal_token) });

export const token = z.strictObject({ token: z.string() }).meta({ id: "TokenResponse" });

export const done = z.strictObject({ ok: z.literal(true) });

export const device_authorization = z
  .strictObject({
    device_code: z.string().describe("The program's secret: never shown."),
    user_code: z.string().describe("What the person compares or types."),
    verification_uri: z.url(),
    verification_uri_complete: z
      .url()
      .describe("With the code filled in, for a link or a QR code."),
    expires_in: z.int().min(1).describe("Seconds."),
    interval: z.int().min(1).describe("Seconds between two polls."),
  })
  .meta({ id: "DeviceAuthorization", description: "RFC 8628, section 3.2." });

export const device_pending = z.strictObject({
  code: z.enum(["authorization_pending", "slow_down"]),
  interval: z.int().min(1),
});

export const public_keys = z.strictObject({
  keys: z.array(
    z.strictObject({
      kty: z.literal("OKP"),
      crv: z.literal("Ed25519"),
      kid: z.string(),
      x: z.string(),
      alg: z.literal("EdDSA"),
      use: z.literal("sig"),
    }),
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
