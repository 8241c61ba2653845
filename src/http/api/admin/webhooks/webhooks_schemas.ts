/** The events that are sent to webhooks, in the OpenAPI document. */
import { CHARGE_FAILURES, TOP_UP_OFF_REASONS } from "../../../../domain/top_up.ts";
import * as z from "zod";
import type { ZodOpenApiObject } from "zod-openapi";
import { APP_ACCESS_EVENTS, APPROVAL_EVENTS } from "../../../../domain/access_event.ts";
import { APP_EVENTS } from "../../../../domain/webhook.ts";
import { app_pause } from "../../../openapi/app_schemas.ts";
import { ACCESS_EVENT_MEMBERS, job, time } from "../../../openapi/schemas.ts";
import { count, named, positive, text_or_null } from "../../../openapi/shapes.ts";

const of_account = {
  identity_id: z.string().describe("The account's holder."),
  line: count.describe("The number of the ledger entry, or of the newest one when it happened."),
  credits: z.int().describe("The balance after that entry."),
  held: count.describe("Credits that started jobs hold after that entry."),
};

const of_event = {
  timestamp: time.describe("When it happened. The same in every attempt."),
  test: z.literal(true).optional().describe("Only in a test: the event is a sample."),
};

const job_event = named(
  "JobWebhookEvent",
  {
    type: z.enum(["job.created", "job.completed", "job.failed", "job.expired"]),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      credits: of_account.credits
        .nullable()
        .describe(
          "The balance after that entry. Null unless the account was open for the app then and is open now.",
        ),
      held: of_account.held.nullable().describe("As `credits`: what started jobs hold."),
      job: job.describe("The job as it is when the event is sent."),
    }),
  },
  "One of the app's own jobs.",
);

const credits_event = named(
  "CreditsWebhookEvent",
  {
    type: z.enum([
      "credits.granted",
      "credits.refused",
      "purchase.completed",
      "purchase.refunded",
      "account.deleted",
    ]),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      job: job.optional().describe("The app's own job whose cost an operator gave back."),
    }),
  },
  "An account that is open for the app. `credits.refused`: a request got 402.",
);

const progressed_event = named(
  "ProgressedJobWebhookEvent",
  {
    type: z.literal("job.progressed"),
    ...of_event,
    data: z.strictObject({
      identity_id: of_account.identity_id,
      job_id: z.uuid(),
      step: positive.describe("Grows with each step of the job."),
      spent: count.nullable().describe("Credits spent so far; null: never reported."),
      done: z.number().min(0).max(1).nullable().describe("The part that is done; null: unknown."),
      message: text_or_null,
    }),
  },
  "A step of one of the app's own jobs, as it was then. Of steps that wait, only the newest of each job is sent.",
);

const changed_event = named(
  "ChangedCreditsWebhookEvent",
  {
    type: z.literal("credits.changed"),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      bought: count.describe("The bought part of `credits`."),
    }),
  },
  "The newest balance of an account that is open for the app, at most once a second. Changes in between have no event.",
);

const low_event = named(
  "LowCreditsWebhookEvent",
  {
    type: z.literal("credits.low"),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      spendable: z.int().describe("The credits that the app can use, which the thresholds count."),
      threshold: positive.describe("The lowest threshold that they fell to or below."),
    }),
  },
  "The credits that the app can use crossed a threshold.",
);

const expiring_event = named(
  "ExpiringCreditsWebhookEvent",
  {
    type: z.literal("credits.expiring"),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      lot_id: z.uuid(),
      expiring: positive.describe("What is left of the lot, without held credits."),
      expires_at: time,
    }),
  },
  "Sent a week and a day before credits expire that the app can use.",
);

const expired_event = named(
  "ExpiredCreditsWebhookEvent",
  {
    type: z.literal("credits.expired"),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      lot_id: z.uuid(),
      expired: positive.describe("The credits that expired."),
    }),
  },
  "Credits that the app could use have expired.",
);

const top_up_event = named(
  "FailedTopUpWebhookEvent",
  {
    type: z.literal("topup.failed"),
    ...of_event,
    data: z.strictObject({
      ...of_account,
      reason: z.enum(CHARGE_FAILURES),
      attempt: positive.describe("The failed charges in a row, with this one."),
    }),
  },
  "A charge of automatic top-up failed. After three in a row it is switched off.",
);

const top_up_disabled_event = named(
  "DisabledTopUpWebhookEvent",
  {
    type: z.literal("topup.disabled"),
    ...of_event,
    data: z.strictObject({ ...of_account, reason: z.enum(TOP_UP_OFF_REASONS) }),
  },
  "Automatic top-up was switched off: by the `holder`, or for another reason.",
);

const ping_event = named(
  "PingWebhookEvent",
  { type: z.literal("ping"), ...of_event, data: z.strictObject({}) },
  "Sent by a test.",
);

const identity = { identity_id: of_account.identity_id };

const approval_event = named(
  "ApprovalWebhookEvent",
  {
    type: z.enum(APPROVAL_EVENTS),
    ...of_event,
    data: z.strictObject({ ...identity, ...ACCESS_EVENT_MEMBERS.approval }),
  },
  "The holder decided about a job beyond a cap, which one of the app's clients requested.",
);

const revoked_event = named(
  "ConnectionRevokedWebhookEvent",
  {
    type: z.literal("connection.revoked"),
    ...of_event,
    data: z.strictObject({ ...identity, ...ACCESS_EVENT_MEMBERS.revoked }),
  },
  "A connection of one of the app's clients was revoked.",
);

const limit_reached_event = named(
  "ConnectionLimitWebhookEvent",
  {
    type: z.literal("connection.limit_reached"),
    ...of_event,
    data: z.strictObject({ ...identity, ...ACCESS_EVENT_MEMBERS.limit_reached }),
  },
  "A cap of a connection of one of the app's clients refused a request, for the first time in its period.",
);

const app_access_event = named(
  "AppAccessWebhookEvent",
  {
    type: z.enum(APP_ACCESS_EVENTS),
    ...of_event,
    data: z.strictObject({ ...identity, ...ACCESS_EVENT_MEMBERS.app_access }),
  },
  "The holder stopped the app, or allowed it again.",
);

const app_event = named(
  "AppWebhookEvent",
  {
    type: z.enum(APP_EVENTS),
    ...of_event,
    data: z.strictObject({ app: z.string().describe("The app's slug."), paused: app_pause }),
  },
  "An operator paused the app or changed the message of its pause, or let it continue.",
);

const EVENTS = [
  job_event,
  progressed_event,
  changed_event,
  credits_event,
  low_event,
  expiring_event,
  expired_event,
  top_up_event,
  top_up_disabled_event,
  approval_event,
  revoked_event,
  limit_reached_event,
  app_access_event,
  app_event,
  ping_event,
] as const;

const webhook_event = z.union(EVENTS).meta({
  id: "WebhookEvent",
  description:
    "The body of a request to a webhook, a Standard Webhook. Its headers are `webhook-id` (the same in every attempt), `webhook-timestamp` and `webhook-signature`.",
});

export const webhook_events: NonNullable<ZodOpenApiObject["webhooks"]> = {
  event: {
    post: {
      operationId: "receiveWebhookEvent",
      tags: ["Webhooks"],
      summary: "An event of the app",
      description:
        "Respond with 2xx within 10 seconds. Otherwise the event is sent again, for three days. Events of one account arrive in the order of its ledger, at least once.",
      security: [],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: webhook_event,
            example: {
              type: "credits.low",
              timestamp: "2026-11-21T09:30:00.000Z",
              data: {
                identity_id: "user_5b0f6c1e-8a37-4f8e-9d52-6c1d8f0a7b34",
                line: 17,
                credits: 18,
                held: 5,
                spendable: 18,
                threshold: 20,
              },
            },
          },
        },
      },
      responses: { "200": { description: "The event was received." } },
    },
  },
};
