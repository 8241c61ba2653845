/** The webhooks of apps in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { SUBSCRIBABLE_EVENTS, WEBHOOK_ID_PATTERN } from "../../../../domain/webhook.ts";
import { done, operation } from "../../../openapi/operation.ts";
import { time } from "../../../openapi/schemas.ts";
import { removeWebhookQuery, webhookReason } from "./change.ts";
import { saveWebhookBody } from "./save.ts";

const id = z.string().regex(WEBHOOK_ID_PATTERN);
const time_or_null = time.nullable();
const text_or_null = z.string().nullable();

const webhook = z
  .strictObject({
    id,
    url: z.string(),
    events: z.array(z.enum(SUBSCRIBABLE_EVENTS)),
    thresholds: z
      .array(z.int().min(1))
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
    created_at: time,
  })
  .meta({ id: "Webhook" });

const secret = z.string().nullable();

const saved_webhook = z
  .strictObject({
    webhook,
    secret: secret.describe(
      "`whsec_` and 32 bytes in base64, only in the response that created the webhook; otherwise null.",
    ),
  })
  .meta({ id: "SavedWebhook" });

const rotated_secret = z
  .strictObject({
    secret: secret.describe("The new secret; null in the response to a repeated request."),
  })
  .meta({ id: "RotatedSecret" });

const webhook_list = z
  .strictObject({ webhooks: z.array(webhook) })
  .meta({ id: "WebhookList", description: "All webhooks of the app, by id." });

const slug = z.object({ slug: z.string().meta({ examples: ["sketch"] }) });
const path = slug.extend({ id: id.meta({ examples: ["main"] }) });

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
  created_at: "2026-11-20T09:30:00.000Z",
};

const common = { tag: "Webhooks", security: "owner" } as const;

export const webhook_paths: ZodOpenApiPathsObject = {
  "/api/admin/apps/{slug}/webhooks": {
    get: operation({
      ...common,
      id: "listWebhooks",
      summary: "The app's webhooks",
      description: "All of them, by id, without their secrets.",
      path: slug,
      success: {
        description: "The webhooks.",
        schema: webhook_list,
        example: { webhooks: [EXAMPLE] },
      },
      refusals: ["app_unknown"],
    }),
  },
  "/api/admin/apps/{slug}/webhooks/{id}": {
    put: operation({
      ...common,
      id: "saveWebhook",
      summary: "Create a webhook, or change it",
      description:
        "Events are sent as Standard Webhooks (standardwebhooks.com). The response that creates a webhook has its `secret`, only once: if you lost it, rotate the secret. Omitted `thresholds` and `active` keep their values; a new webhook is active. `active: true` continues a paused webhook where it stopped. The address begins with `https://` and has a public host name and no port. Changes take effect everywhere within a minute.",
      path,
      body: { schema: saveWebhookBody, example: SETTINGS },
      idempotent: true,
      success: {
        description: "The webhook.",
        schema: saved_webhook,
        example: { webhook: EXAMPLE, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD…" },
      },
      refusals: ["app_unknown", "too_many_webhooks"],
    }),
    delete: operation({
      ...common,
      id: "deleteWebhook",
      summary: "Delete a webhook",
      description: "Nothing is sent to it any more. Its events that were not delivered are lost.",
      path,
      query: removeWebhookQuery,
      idempotent: true,
      success: done,
      refusals: ["webhook_not_found"],
    }),
  },
  "/api/admin/apps/{slug}/webhooks/{id}/rotate": {
    post: operation({
      ...common,
      id: "rotateWebhookSecret",
      summary: "Replace a webhook's secret",
      description:
        "For 24 hours each delivery carries two signatures, with the new secret and with the previous one. If the request is repeated with its `Idempotency-Key`, `secret` is null: if you lost the first response, rotate again with another key.",
      path,
      body: { schema: webhookReason, example: { reason: "a colleague left" }, optional: true },
      idempotent: true,
      success: {
        description: "The new secret.",
        schema: rotated_secret,
        example: { secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD…" },
      },
      refusals: ["webhook_not_found"],
    }),
  },
};
