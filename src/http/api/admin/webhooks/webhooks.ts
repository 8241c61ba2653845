/** `/api/admin/apps/{slug}/webhooks`: the webhooks of an app, for operators and for the app's own server. */
import type { Webhook } from "../../../../operator/save_webhook.ts";
import { WEBHOOK_ID_PATTERN } from "../../../../domain/webhook.ts";
import { optionalReasonBody } from "../../../../operator/audited_action.ts";
import * as operator from "../../../../operator/delete_record.ts";
import * as webhook from "../../../../operator/save_webhook.ts";
import * as actions from "../../../../operator/webhook_actions.ts";
import { actingOf } from "../../../caller/acting.ts";
import { endpoint } from "../../endpoint.ts";
import { countRequest } from "../../../middleware/rate_limits.ts";
import { refuse } from "../../../refusals.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";
import { recordKeyOf, removal } from "../clients/clients.ts";
import { refuseField } from "../refuse_field.ts";

function webhookView(webhook: Webhook) {
  const { id, url, events, thresholds, paused_reason, last_error } = webhook;
  return {
    id,
    url,
    events,
    thresholds,
    active: webhook.paused_at_ms === null,
    paused_at: timeOrNull(webhook.paused_at_ms),
    paused_reason,
    last_success_at: timeOrNull(webhook.last_success_at_ms),
    last_error,
    last_error_at: timeOrNull(webhook.last_error_at_ms),
    failing_since: timeOrNull(webhook.failing_since_ms),
    version: webhook.version,
    created_at: timestamp(webhook.created_at_ms),
  };
}

function timeOrNull(at_ms: number | null): string | null {
  return at_ms === null ? null : timestamp(at_ms);
}

export const saveWebhook = endpoint(
  {
    at: "PUT /api/admin/apps/{slug}/webhooks/{id}",
    caller: "owner",
    role: "admin",
    body: webhook.saveWebhookBody,
    refusals: ["app_not_found", "webhook_changed", "webhook_not_found", "limit_reached:webhooks"],
  },
  async (context, { params, body, key }) => {
    const webhook_key = recordKeyOf(params);
    if (!WEBHOOK_ID_PATTERN.test(webhook_key.id)) {
      const detail =
        "The webhook's id must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit.";
      return refuse(context, { code: "invalid_request", detail });
    }
    const problem = await webhook.findWebhookProblem(context.get("services"), webhook_key, body);
    if (problem !== null) return refuseField(context, problem);
    const acting = await actingOf(context);
    const saved = await webhook.saveWebhook(acting, webhook_key, { ...body, key });
    return respondOnce(context, saved, ({ record, secret }) => ({
      webhook: webhookView(record),
      secret,
    }));
  },
);

export const listWebhooks = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/webhooks",
    caller: "owner",
    role: "viewer",
    refusals: ["app_not_found"],
  },
  async (context, { params }) => {
    const listed = await context.get("services").webhook_records.list(params.slug);
    if (!listed.ok) return refuse(context, listed.refusal);
    return context.json({ webhooks: listed.value.map(webhookView) });
  },
);

export const deleteWebhook = removal(
  {
    at: "DELETE /api/admin/apps/{slug}/webhooks/{id}",
    caller: "owner",
    refusals: ["webhook_not_found"],
  },
  operator.deleteWebhook,
);

export const rotateWebhookSecret = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/webhooks/{id}/rotate",
    caller: "owner",
    role: "admin",
    body: optionalReasonBody,
    body_is_optional: true,
    refusals: ["webhook_not_found"],
  },
  async (context, { params, body, key }) => {
    const acting = await actingOf(context);
    const rotated = await actions.rotateSecret(acting, recordKeyOf(params), { ...body, key });
    return respondOnce(context, rotated, (secret) => ({ secret }));
  },
);

export const testWebhook = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/webhooks/{id}/test",
    caller: "owner",
    role: "admin",
    body: actions.testWebhookBody,
    body_is_optional: true,
    refusals: ["webhook_not_found"],
  },
  async (context, { params, body, key }) => {
    const limited = await countRequest(context, "webhook_test", `${params.slug} ${params.id}`);
    if (limited !== null) return refuse(context, limited);
    const acting = await actingOf(context);
    const tested = await actions.testWebhook(acting, recordKeyOf(params), { ...body, key });
    return respondOnce(context, tested, ({ status, duration_ms, reason, response }) => ({
      status,
      duration_ms,
      error: reason,
      response,
    }));
  },
);

export const retryWebhook = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/webhooks/{id}/retry",
    caller: "owner",
    role: "admin",
    body: optionalReasonBody,
    body_is_optional: true,
    refusals: ["webhook_not_found"],
  },
  async (context, { params, body, key }) => {
    const acting = await actingOf(context);
    const retried = await actions.retryWebhook(acting, recordKeyOf(params), { ...body, key });
    return respondDone(context, retried);
  },
);

export const replayWebhook = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/webhooks/{id}/replay",
    caller: "owner",
    role: "admin",
    body: actions.replayWebhookBody,
    refusals: ["webhook_not_found", "account_unknown"],
  },
  async (context, { params, body, key }) => {
    const acting = await actingOf(context);
    const replayed = await actions.replayWebhook(acting, recordKeyOf(params), { ...body, key });
    return respondDone(context, replayed);
  },
);

export const listWebhookAttempts = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/webhooks/{id}/attempts",
    caller: "owner",
    role: "viewer",
    query: actions.listAttemptsQuery,
    refusals: ["webhook_not_found", "account_unknown"],
  },
  async (context, { params, query }) => {
    const acting = await actingOf(context);
    const read = await actions.readAttempts(acting, recordKeyOf(params), query);
    return read.ok ? context.json({ attempts: read.value }) : refuse(context, read.refusal);
  },
);

export const listWebhookDeliveries = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/webhooks/{id}/deliveries",
    caller: "owner",
    role: "viewer",
    query: actions.listDeliveriesQuery,
    refusals: ["webhook_not_found"],
  },
  async (context, { params, query }) => {
    const page = await actions.readDeliveries(context.get("services"), recordKeyOf(params), query);
    return page.ok ? context.json(page.value) : refuse(context, page.refusal);
  },
);
