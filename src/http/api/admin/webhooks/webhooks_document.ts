/** The webhooks of apps in the OpenAPI document. */
import * as z from "zod";
import { SUBSCRIBABLE_EVENTS, WEBHOOK_ID_PATTERN } from "../../../../domain/webhook.ts";
import { done, describe } from "../../../openapi/operation.ts";
import * as endpoints from "./webhooks.ts";
import { next_cursor, record_version, time } from "../../../openapi/schemas.ts";
import { count, named, positive, text_or_null } from "../../../openapi/shapes.ts";

const id = z.string().regex(WEBHOOK_ID_PATTERN);
const time_or_null = time.nullable();

const webhook = named("Webhook", {
  id,
  url: z.string(),
  events: z.array(z.enum(SUBSCRIBABLE_EVENTS)),
  thresholds: z
    .array(positive)
    .describe("Balances in credits, in ascending order, at which `credits.low` is sent."),
  active: z.boolean().describe("False: nothing is delivered, but events are not lost."),
  paused_at: time_or_null.describe("Since when it is not active; null: it is."),
  paused_reason: text_or_null.describe(
    "Why the service paused it; null: it is active, or its owner paused it.",
  ),
  last_success_at: time_or_null.describe(
    "The minute of the last delivery that succeeded; null: none.",
  ),
  last_error: text_or_null.describe("Why the last delivery that failed did so; null: none did."),
  last_error_at: time_or_null,
  failing_since: time_or_null.describe(
    "When the first delivery failed after the last success; null: the last one succeeded.",
  ),
  version: record_version,
  created_at: time,
});

const secret = text_or_null;

const saved_webhook = named("SavedWebhook", {
  webhook,
  secret: secret.describe(
    "`whsec_` and 32 bytes in base64, only in the response that created the webhook; otherwise null.",
  ),
});

const rotated_secret = named("RotatedSecret", {
  secret: secret.describe("The new secret; null in the response to a repeated request."),
});

const tested_webhook = named("TestedWebhook", {
  status: z.int().nullable().describe("The receiver's status; null: it did not respond."),
  duration_ms: count,
  error: text_or_null.describe("Why the receiver did not accept the event; null: it did."),
  response: text_or_null.describe(
    "The first 1,024 bytes of a response that did not accept it. Null for an app's key.",
  ),
});

const delivery = named(
  "WebhookDelivery",
  {
    event_id: z.string().describe("`webhook-id` of the event."),
    type: z.enum(SUBSCRIBABLE_EVENTS),
    identity_id: text_or_null.describe(
      "The account's holder; null: the event concerns the app itself.",
    ),
    line: count.describe("The entry after which the account's deliveries wait."),
    attempts: count.describe("0: it was not tried, because the webhook is paused."),
    status: z
      .enum(["pending", "failed"])
      .describe("`failed`: the webhook was paused after its last attempt."),
    last_error: text_or_null,
    at: time.describe("When it was tried last, or began to wait."),
    retry_at: time_or_null.describe("When it is tried again; null: when the webhook is active."),
  },
  "The event of an account that holds up those after it.",
);

const delivery_page = named("WebhookDeliveryPage", {
  replays_since: time_or_null.describe(
    "Since when the events of all accounts are being sent again; null: they are not.",
  ),
  deliveries: z.array(delivery),
  next_cursor,
});

const attempt = named(
  "WebhookAttempt",
  {
    at: time.describe("When it ended."),
    event_id: z.string().describe("`webhook-id` of the event."),
    type: z.enum(SUBSCRIBABLE_EVENTS),
    identity_id: text_or_null.describe(
      "The account's holder; null: the event concerns the app itself.",
    ),
    line: count.describe("The ledger entry, or the newest one when it happened."),
    attempts: positive.describe("How often the event was tried by then."),
    status: z.int().nullable().describe("The receiver's status; null: it did not respond."),
    duration_ms: count,
    error: text_or_null.describe("Why the receiver did not accept the event; null: it did."),
    response: text_or_null.describe(
      "The first 1,024 bytes of a response that did not accept it. Null for roles below admin, for an app's key, and with `identity_id`.",
    ),
  },
  "An event that was sent.",
);

const attempt_list = named(
  "WebhookAttemptList",
  { attempts: z.array(attempt) },
  "The newest first.",
);

const webhook_list = named(
  "WebhookList",
  { webhooks: z.array(webhook) },
  "All webhooks of the app, by id.",
);

const path = { id: id.meta({ examples: ["main"] }) };

const SETTINGS = {
  url: "https://sketch.example.com/webhooks/passbook",
  events: ["job.completed", "job.expired", "credits.low"],
  thresholds: [20, 100],
  active: true,
};

const EXAMPLE = {
  id: "main",
  ...SETTINGS,
  paused_at: null,
  paused_reason: null,
  last_success_at: "2026-11-21T09:30:00.000Z",
  last_error: null,
  last_error_at: null,
  failing_since: null,
  version: 2,
  created_at: "2026-11-20T09:30:00.000Z",
};

export const webhooks = describe("Webhooks", endpoints, {
  listWebhooks: {
    summary: "The app's webhooks",
    description: "All of them, by id, without their secrets.",
    success: {
      description: "The webhooks.",
      schema: webhook_list,
      example: { webhooks: [EXAMPLE] },
    },
  },
  saveWebhook: {
    summary: "Create a webhook, or change it",
    description:
      "Events are sent as Standard Webhooks (standardwebhooks.com). The response that creates a webhook has its `secret`, only once: if you lost it, rotate the secret. Omitted `thresholds` and `active` keep their values; a new webhook is active. `active: true` continues a paused webhook where it stopped. To change a webhook, send the `version` that you read; to create one, omit it or send 0. If the webhook was saved in the meantime, or a new one's id is used with other settings, the response is 409 `webhook_changed` and nothing changes. The address begins with `https://` and has a public host name and no port. Changes take effect everywhere within a minute.",
    path,
    example: { ...SETTINGS, version: 1 },
    success: {
      description: "The webhook.",
      schema: saved_webhook,
      example: { webhook: EXAMPLE, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD…" },
    },
  },
  deleteWebhook: {
    summary: "Delete a webhook",
    description: "Nothing is sent to it any more. Its events that were not delivered are lost.",
    path,
    success: done,
  },
  rotateWebhookSecret: {
    summary: "Replace a webhook's secret",
    description:
      "For 24 hours each delivery carries two signatures, with the new secret and with the previous one. If the request is repeated with its `Idempotency-Key`, `secret` is null: if you lost the first response, rotate again with another key.",
    path,
    example: { reason: "a colleague left" },
    success: {
      description: "The new secret.",
      schema: rotated_secret,
      example: { secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD…" },
    },
  },
  testWebhook: {
    summary: "Send a test to a webhook",
    description:
      'Sends `type` once, now, also to a paused webhook and if it does not list the type, and returns how the receiver responded within 10 seconds. `ping`, which is sent without a `type`, has no data; any other type is a sample with every member of a real event. Each has `"test": true` and the header `webhook-test: true`, and its ids belong to nobody. A request that is repeated with its `Idempotency-Key` sends the same `webhook-id` again. At most 6 a minute for a webhook.',
    path,
    example: { type: "job.completed", reason: "a new server" },
    success: {
      description: "The receiver's response.",
      schema: tested_webhook,
      example: { status: 204, duration_ms: 38, error: null, response: null },
    },
  },
  listWebhookAttempts: {
    summary: "Events that were sent",
    description:
      "The last attempts of 7 days, at most 20. With `identity_id`, those of that account: each event that was sent, with the receiver's status. Without it, those of all accounts that the webhook's list knows: each attempt that failed, and of those that succeeded about one a minute. Operators may send an e-mail address as `identity_id`.",
    path,
    success: {
      description: "The attempts.",
      schema: attempt_list,
      example: {
        attempts: [
          {
            at: "2026-11-21T09:30:00.000Z",
            event_id: "0192f3a1-7b5e-7c3d-9a41-5d2e8f6b7c10.17.job.completed",
            type: "job.completed",
            identity_id: "user_5b0f6c1e-8a37-4f8e-9d52-6c1d8f0a7b34",
            line: 17,
            attempts: 2,
            status: 204,
            duration_ms: 38,
            error: null,
            response: null,
          },
        ],
      },
    },
  },
  listWebhookDeliveries: {
    summary: "Events that were not delivered",
    description:
      "At most one for each account, because the events of an account are delivered in order, by identity. They are listed for 30 days. `status=pending` lists only those that will be tried again; `status=failed` lists both, as without `status`.",
    path,
    success: {
      description: "A page of deliveries.",
      schema: delivery_page,
      example: {
        replays_since: null,
        deliveries: [
          {
            event_id: "0192f3a1-7b5e-7c3d-9a41-5d2e8f6b7c10.17.job.completed",
            type: "job.completed",
            identity_id: "user_5b0f6c1e-8a37-4f8e-9d52-6c1d8f0a7b34",
            line: 17,
            attempts: 3,
            status: "pending",
            last_error: "status_500",
            at: "2026-11-21T09:30:00.000Z",
            retry_at: "2026-11-21T09:32:00.000Z",
          },
        ],
      },
    },
  },
  retryWebhook: {
    summary: "Send the events that wait now",
    description:
      "Each account's event that waits is tried now instead of at its `retry_at`, and its attempts are counted from the beginning. Without a waiting event it does nothing. A paused webhook stays paused.",
    path,
    example: { reason: "the receiver is back" },
    success: done,
  },
  replayWebhook: {
    summary: "Send events again",
    description:
      "With `identity_id` and `after_line`: sends the events of the account's entries after this one again, in order and with the same `webhook-id`s. 0 begins with the events since the webhook was created. An operator may name the person by e-mail address. With `since`, at most 7 days ago, and neither of them: does the same for the entries since then of all accounts that have the app, a hundred accounts after the other, in the background; the list of deliveries has `replays_since` until each has begun. Accounts are found by the read model, which is some seconds late and has days as far back as `READ_MODEL_DAYS`.",
    path,
    example: { identity_id: "user_5b0f6c1e-8a37-4f8e-9d52-6c1d8f0a7b34", after_line: 16 },
    success: { ...done, description: "The events will be sent." },
  },
});
