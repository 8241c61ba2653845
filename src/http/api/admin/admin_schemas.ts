/** Schemas of responses to operators. */
import { CHARGE_FAILURES, TOP_UP_OUTCOMES } from "../../../domain/top_up.ts";
import * as z from "zod";
import { PAYMENT_LISTS } from "../../../domain/payment_list.ts";
import { ACCOUNT_STATES } from "../../../domain/wire.ts";
import { OPERATOR_ROLES } from "../../../domain/operators.ts";
import { FIGURE_NAMES } from "../../../domain/health.ts";
import {
  lot,
  account,
  app_entry,
  credits,
  entry,
  job,
  next_cursor,
  personal_token,
  time,
  topup,
} from "../../openapi/schemas.ts";
import { count, named, positive, text_or_null } from "../../openapi/shapes.ts";

const as_of = time.describe(
  "The time of the query to the read model, which can be some seconds behind the accounts.",
);

const found_account = named("FoundAccount", {
  ...account.shape,
  name: text_or_null,
  email: text_or_null,
  held: count.describe("Credits that started jobs hold, not included in `credits`."),
  state: z.enum(ACCOUNT_STATES),
  created_at: time,
});

export const found_accounts = named("FoundAccountPage", {
  accounts: z.array(found_account),
  next_cursor,
  as_of,
});

export const suspended_accounts = named("SuspendedAccounts", {
  results: z
    .array(
      z.strictObject({
        identity_id: z.string(),
        ok: z.literal(true).optional().describe("The account is suspended."),
        error: z.string().optional().describe("Why it is not suspended, or may not be."),
        code: z.string().optional().describe("As in an error response."),
      }),
    )
    .describe("One result per identity, in their order: `ok`, or `error` and `code`."),
});

export const repaired_page = named("RepairedPage", {
  people: count.optional().describe("The number of people; only on the first page."),
  checked: count.describe("People whose accounts were compared with the read model."),
  repaired: count.describe("Accounts that sent missing rows."),
  failed: z.array(z.string()).describe("Identities whose accounts could not be repaired."),
  next_cursor,
});

const archive_head_fields = {
  line: positive.describe("The number of its last entry."),
  sha256: z.string().describe("The SHA-256 of its stored bytes, in hexadecimal."),
};

const archive_head = z
  .strictObject(archive_head_fields)
  .nullable()
  .describe("The newest segment; null before the first one.");

const archived_account = {
  account_id: z.string(),
  identity_id: z.string(),
  line: count.describe("The number of the account's newest entry."),
  head: archive_head,
};

export const archive_heads = named("ArchiveHeadPage", {
  heads: z.array(z.strictObject(archived_account)),
  next_cursor,
});

export const account_archive = named("AccountArchive", {
  ...archived_account,
  segments: z.array(z.string()).describe("Names in the folder `ledger/v1/{account_id}/`."),
  next_cursor,
});

export const archive_segment = named("ArchiveSegment", {
  name: z.string(),
  content: z.string().describe("The bytes in base64url (RFC 4648, section 5)."),
});

export const compared_page = named("ComparedPage", {
  checked: count.describe("Accounts that were compared."),
  differences: z.array(
    z.strictObject({
      identity_id: z.nullable(z.string()).describe("Null: the whole service."),
      where: z
        .enum(["account", "archive", "read_model", "payments"])
        .describe("The copy that differs, or the account's own sums."),
      what: z.enum([
        "balance",
        "held",
        "purchases",
        "entry",
        "segment_missing",
        "segment_changed",
        "purchase",
        "daily_totals",
        "daily_totals_bought",
        "liability",
      ]),
      expected: z
        .int()
        .nullable()
        .describe("What the account's rows give: credits, or the number of an entry."),
      found: z.int().nullable(),
    }),
  ),
  failed: z.array(z.string()).describe("Identities whose accounts or copies did not respond."),
  next_cursor,
});

export const archived_page = named("ArchivedPage", {
  requested: count.describe("People whose accounts got the request."),
  failed: z.array(z.string()).describe("Identities whose accounts did not respond."),
  next_cursor,
});

export const copied_directory = named("CopiedDirectory", {
  copy: z.string().describe("The id of the copy."),
  rows: count.describe("Rows that the copy has so far; 0 if it had ended before."),
  people: count.describe("Changes of people that this call copied."),
  next_cursor,
});

export const rebuilt_directory = named("RebuiltDirectory", {
  copy: z
    .nullable(z.strictObject({ id: z.string(), completed_at: z.string() }))
    .describe(
      "The copy that is restored; null: the archive has no copy, so only people are restored.",
    ),
  table: z.string().describe("The table that the numbers are about."),
  restored: count,
  known: count.describe("Rows that the directory had."),
  decide: z.array(
    z.strictObject({
      why: z
        .enum(["newer_record", "page_missing", "page_damaged", "person_taken", "person_unreadable"])
        .describe(
          "`newer_record`: the directory has another version, which stays. `page_missing`, `page_damaged`: a file of the copy cannot be used. `person_taken`: another person has a sign-in method of this one. `person_unreadable`: the encryption key of the copy is missing.",
        ),
      subject: z.string().describe("A record, a file, or an identity."),
    }),
  ),
  next_cursor,
});

const account_then = z.strictObject({
  line: count.describe("The number of the entry."),
  at: z.string().describe("The time of the entry."),
  credits: z.int(),
  held: count,
  started_jobs: count,
});

const undone_entry = {
  line: positive.describe("The number of the undone entry."),
  job_id: text_or_null,
  amount: z.int().describe("What it changed of the balance."),
};

const recovery = {
  now: account_then,
  target: account_then.describe("The account at the time."),
  undone_entries: count,
  kept_credits: z
    .int()
    .describe("The credits of purchases, refunds and debts after the time. They stay."),
  decisions: z
    .array(
      z.strictObject({
        what: z
          .enum(["job_gone", "job_open_again", "credits_undone", "plan_undone"])
          .describe(
            "The job was created after the time; it ended after the time, and is started again for a day; an operator's change of credits or plan is undone.",
          ),
        ...undone_entry,
        note: text_or_null,
      }),
    )
    .describe("What a person must decide, at most 500."),
  decisions_total: count,
};

export const recovery_plan = named("RecoveryPlan", recovery);

export const recovered_account = named("RecoveredAccount", {
  ...recovery,
  lost: z
    .array(z.strictObject(undone_entry))
    .describe("Entries of requests that arrived while the account restarted. They are undone."),
});

export const lost_account = named("LostAccount", {
  account_id: z.string(),
  head: z.strictObject(archive_head_fields),
  read_model: z
    .strictObject({
      line: account_then.shape.line,
      credits: z.int(),
      held: count,
      at: account_then.shape.at,
    })
    .describe("The account as the read model knows it. The archive may have less."),
  refusal: text_or_null.describe("Why it cannot be restored; null: it can."),
});

export const restored_account = named("RestoredAccount", {
  now: account_then,
  lost_entries: count.describe("Entries that the read model had, and the archive has not."),
});

const listed_payment = {
  list: z.enum(PAYMENT_LISTS).describe("Its kind: a checkout, a refund or a dispute."),
  id: z.string().describe("Its id at Stripe."),
};

export const reconciled_page = named("ReconciledPage", {
  checked: count.describe(
    "Stripe's objects that were compared with the accounts, also those of other services.",
  ),
  booked: z
    .array(
      z.strictObject({
        ...listed_payment,
        identity_id: z.string().describe("The account's identity."),
        payment_intent_id: z.string(),
        credits: z
          .int()
          .nullable()
          .describe("The credits of the purchase; null for a refund or dispute."),
      }),
    )
    .describe("The missing objects that are booked now."),
  not_booked: z
    .array(
      z.strictObject({
        ...listed_payment,
        code: z.string().describe("Why: an error code, or the name of an error in the log."),
      }),
    )
    .describe("The missing objects that could not be booked."),
  next_cursor,
});

const topped_up = named("AutomaticTopUp", {
  number: positive,
  attempt: positive.describe("The failed charges in a row before it, plus 1."),
  outcome: z
    .enum(TOP_UP_OUTCOMES)
    .describe("`due`: its charge is not known yet. `dropped`: nothing was charged."),
  failure: z.enum(CHARGE_FAILURES).nullable(),
  package_name: z.string(),
  credits: positive,
  amount_minor: positive,
  currency: z.string(),
  payment_intent_id: text_or_null,
  created_at: time,
});

export const inspected_account = named("InspectedAccount", {
  account: z.strictObject({
    ...account.shape,
    name: text_or_null,
    email: text_or_null,
    email_verified: z.boolean(),
    created_at: time,
    suspended_at: time
      .nullable()
      .describe("The start of the suspension; null if the account is not suspended."),
    suspended_public_reason: text_or_null.describe(
      "Why it is suspended, as its holder reads it; null without such a reason.",
    ),
  }),
  held: count,
  lots: z.array(lot).describe("Credits with terms, in the order of use."),
  apps: z.array(app_entry),
  personal_tokens: z.array(personal_token),
  sessions: z.array(
    z.strictObject({
      id: z.string(),
      created_at: time,
      last_used_at: time.nullable(),
      browser: text_or_null,
      place: text_or_null,
    }),
  ),
  topup: topup.nullable().describe("Automatic top-up; null: it was never set."),
  top_ups: z.array(topped_up).describe("The newest 20 automatic top-ups."),
  started_jobs: z.array(job).describe("The newest 200. `/jobs?status=started` lists all of them."),
});

export const person_data = z.record(z.string(), z.unknown()).meta({ id: "PersonData" });

export const adjusted_credits = named("AdjustedCredits", { entry, credits });

const minor_units = "in the currency's smallest unit, such as cents";

const purchase = named("AccountPurchase", {
  checkout_session_id: z.string().describe("The checkout's id at Stripe."),
  payment_intent_id: z.string().describe("The payment's id at Stripe."),
  payment_url: text_or_null.describe(
    "The payment in Stripe's dashboard; null if this service does not sell credits now.",
  ),
  package: z.string(),
  package_name: z.string(),
  credits: count,
  taken_back: count.describe("Credits taken back for refunds and disputes."),
  currency: z.string(),
  amount_minor: count.describe(`The money paid, ${minor_units}.`),
  refunded_minor: count.describe(`The money returned, ${minor_units}.`),
  at: time,
});

export const purchase_page = named("AccountPurchasePage", {
  purchases: z.array(purchase),
  next_cursor,
});

export const refunded_job = named("RefundedJob", { job, entry, credits });

export const changed_plan = named("ChangedPlan", { ok: z.literal(true), account });

const found_job = job
  .omit({ done: true, message: true, metadata: true })
  .extend({ identity_id: z.string() })
  .meta({ id: "FoundJob" });

export const found_jobs = named("FoundJobPage", { jobs: z.array(found_job), next_cursor, as_of });

const daily_totals = named(
  "DailyTotals",
  {
    day: z.iso.date().describe("A UTC day; a day on which nothing happened is left out."),
    granted: count,
    reserved: count,
    settled: z
      .int()
      .describe(
        "The real cost of jobs that ended that day, less what late completions refunded of charged time-outs.",
      ),
    refunded: count.describe(
      "Credits that jobs gave back: the reserves of failed jobs, and `job_refunded`.",
    ),
    job_refunded: count.describe("Cost of ended jobs that operators gave back."),
    purchased: count.describe("Credits bought, before reversals."),
    adjusted: z.int().describe("The signed sum of adjustments."),
    expired: z.int().describe("Credits whose time was over, below zero."),
    taken_back: z
      .int()
      .describe(
        "Credits taken back because a purchase's money was returned, below zero; above zero if disputes that were won gave back more.",
      ),
    forfeited: z
      .int()
      .describe(
        "Credits of deleted accounts, below zero; their debts count above zero, and below zero again if the holder returns.",
      ),
    jobs: count,
    failed: count,
    active_accounts: count,
  },
  "One UTC day. Sums are in credits.",
);

export const stats = named("Stats", { series: z.array(daily_totals), as_of });

const change = named(
  "FieldChange",
  { from: z.unknown(), to: z.unknown() },
  "A field's value before and after an action.",
);

export const money = named("Money", {
  outstanding: z
    .strictObject({
      credits: z.int().describe("The sum of all balances. A balance below zero lowers it."),
      held: count.describe("Credits that started jobs hold, not included in `credits`."),
      accounts: count.describe("Accounts whose balance or held credits are not 0."),
    })
    .describe("Now, whatever the period."),
  by_app: z.array(
    z.strictObject({
      app: z.string(),
      granted: count.describe("Starter credits."),
      settled: z.int().describe("The cost of jobs."),
      refunded: count.describe(
        "Credits that jobs gave back: the reserves of failed jobs, and `job_refunded`.",
      ),
      job_refunded: count.describe("Cost of ended jobs that operators gave back."),
    }),
  ),
  revenue: z.array(
    z.strictObject({
      package: text_or_null.describe("Null: operators gave the credits, with `paid_minor`."),
      currency: z.string(),
      purchases: count,
      amount_minor: count.describe(`Money paid in the period, ${minor_units}.`),
      refunded_minor: z
        .int()
        .describe(
          `Money returned in the period by refunds and disputes, ${minor_units}. Negative if more was won back in disputes.`,
        ),
    }),
  ),
  as_of,
});

const credits_by_part = named(
  "CreditsByPart",
  { bought: z.int(), given: z.int() },
  "Credits that were bought, and those that were given.",
);

export const month_money = named(
  "MonthMoney",
  {
    month: z.string().describe("A UTC month, such as 2026-10."),
    opening: credits_by_part.describe(
      "All balances and held credits before the month: what the service owed.",
    ),
    granted: credits_by_part.describe("Starter credits, and those of plans."),
    purchased: credits_by_part.describe("Credits bought."),
    adjusted: credits_by_part.describe("Operators' adjustments, up and down."),
    spent: credits_by_part.describe(
      "The cost of jobs, below zero. Bought credits that pay what an account owed count as bought ones spent, and as many given ones not spent.",
    ),
    job_refunded: credits_by_part.describe("Cost of ended jobs that operators gave back."),
    expired: credits_by_part.describe("Credits whose time was over, below zero."),
    taken_back: credits_by_part.describe(
      "Credits that refunds and disputes of purchases took, below zero, less what won disputes gave back.",
    ),
    forfeited: credits_by_part.describe(
      "Credits of deleted accounts, below zero; their debts count above zero, and below zero again if the holder returns.",
    ),
    closing: credits_by_part.describe(
      "After the month, or so far. Each part is that of `opening` with all changes added, exactly.",
    ),
    liability: z
      .array(
        z.strictObject({
          currency: text_or_null.describe("Null: what was paid for these credits is unknown."),
          credits: count.describe("With those that started jobs hold."),
          amount_minor: count
            .nullable()
            .describe(`What was paid for these credits, ${minor_units}. Null without a currency.`),
        }),
      )
      .describe(
        "The bought credits of `closing`, by the currency of their payments. All `credits` add up to `closing.bought`.",
      ),
    as_of,
  },
  "Each change has the sign by which it changes `closing`.",
);

const request_sums = named("RequestSums", {
  requests: count,
  failed: count.describe("Responses with a status of 500 or more."),
  limited: count.describe("Responses with the status 429."),
});

const milliseconds = z.number().min(0);

export const requests = named("Requests", {
  source: z
    .enum(["metrics", "memory"])
    .describe("`memory`: a local service, which remembers its last 1,000 requests."),
  hour: request_sums,
  day: request_sums,
  routes: z.array(
    z.strictObject({
      ...request_sums.shape,
      method: z.string(),
      route: text_or_null.describe("Null: no route matched."),
      p50_ms: milliseconds.describe("The median of the durations."),
      p95_ms: milliseconds.describe("95 of 100 requests took no longer."),
    }),
  ),
  requests: z.array(
    named("Request", {
      at: time,
      request_id: z.string(),
      method: z.string(),
      route: text_or_null,
      status: z.int(),
      code: text_or_null.describe("The code of the refusal."),
      app: text_or_null,
      caller: text_or_null.describe("The kind of caller."),
      account: text_or_null.describe("Stands for the account in logs and metrics."),
      release: text_or_null,
      colo: text_or_null.describe("Cloudflare's location."),
      duration_ms: milliseconds.describe("Time spent waiting, without computing."),
      account_calls: count.describe("Calls of accounts' objects."),
    }),
  ),
});

const audit_entry = named(
  "AuditEntry",
  {
    id: z.uuid(),
    at: time,
    actor: z
      .string()
      .describe("The operator's identity, or `app_key:` and the id of the app's key that acted."),
    act: z.string(),
    subject: z.string().describe("The subject of the change: an identity or an app's slug."),
    reason: text_or_null,
    request_id: z.string(),
    changed: z
      .record(z.string(), change)
      .nullable()
      .describe("The changed fields, before and after; null: none, or it is unknown."),
    details: z
      .record(z.string(), z.unknown())
      .describe("`outcome`: `done`, `refused`, `replayed`, or `unknown` if the end was not seen."),
  },
  "One line of the audit log.",
);

export const audit_page = named("AuditPage", { entries: z.array(audit_entry), next_cursor });

const operator = named("Operator", {
  entry: z.string().describe("The entry of `OPERATORS`, without its role."),
  role: z.enum(OPERATOR_ROLES),
  problem: text_or_null.describe("Why the entry names nobody, and what to write; null: it can."),
});

export const operators = named("OperatorList", { operators: z.array(operator) });

const figure = named("HealthFigure", {
  name: z.enum(FIGURE_NAMES).describe("docs/alerts.md has a paragraph for each."),
  status: z.enum(["ok", "warning"]),
  value: z
    .number()
    .nullable()
    .describe(
      "Null if it is unknown, which is a warning, unless its `reason` is `metrics_not_set`.",
    ),
  limit: z.number().nullable().describe("A higher value is a warning; null: no limit."),
  unit: z.string(),
  newest_at: time.nullable().describe("The newest failure or run that it counts."),
  reason: text_or_null.describe("Why the value is unknown, or the reason of the newest failure."),
});

const scheduled_task = named(
  "ScheduledTask",
  {
    task: z.string(),
    ended_at: time,
    failing_since: time.nullable().describe("Null: the last run succeeded."),
    reason: text_or_null,
  },
  "One task of the schedule, after its last run.",
);

const used_budget = named(
  "UsedBudget",
  {
    app: z.string(),
    used: z.int().describe("Starter credits granted today (UTC), by the read model."),
    limit: z.int(),
    used_up: z.boolean().describe("Whether too few credits are left for another grant today."),
  },
  "The daily starter budget of one app.",
);

export const health = named("Health", {
  status: z.enum(["ok", "warning"]).describe("`warning` if any figure is one."),
  figures: z.array(figure),
  tasks: z.array(scheduled_task).nullable().describe("Null: unknown."),
  budgets: z.array(used_budget).nullable().describe("Null: unknown."),
  as_of: time,
});
