/** `PUT /api/admin/apps/{slug}/webhooks/{id}`: creates a webhook, or changes it. */
import * as z from "zod/mini";
import {
  SUBSCRIBABLE_EVENTS,
  thresholdsProblem,
  webhookEventsProblem,
  WEBHOOK_ID_PATTERN,
  webhookUrlProblem,
} from "../../../../domain/webhook.ts";
import { saveWebhook } from "../../../../operator/save_webhook.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, validBody } from "../../../validation.ts";
import { respondOnce } from "../../../views.ts";
import { actingOf, reason as reasonText, version } from "../audited_action.ts";
import { webhookView } from "./views.ts";

/** The domain's rules check the rest: the fields depend on each other and on the service's settings. */
export const saveWebhookBody = z.strictObject({
  url: z.string("must be a string"),
  events: z.array(
    z.enum(SUBSCRIBABLE_EVENTS, `must be one of ${SUBSCRIBABLE_EVENTS.join(", ")}`),
    "must be a list of events",
  ),
  thresholds: z.optional(z.array(z.int("must be a whole number"), "must be a list of credits")),
  active: z.optional(z.boolean("must be true or false")),
  version,
  reason: z.optional(reasonText),
});

export type SaveWebhook = z.output<typeof saveWebhookBody>;

/** What is wrong with settings: the field, and the end of a sentence. */
export interface WebhookProblem {
  readonly field: "url" | "events" | "thresholds";
  readonly message: string;
}

/** Null if the settings are valid. Omitted thresholds are those of the webhook as it is. */
export async function findWebhookProblem(
  context: AppContext,
  { app_slug, id }: { readonly app_slug: string; readonly id: string },
  { url, events, thresholds }: SaveWebhook,
): Promise<WebhookProblem | null> {
  const { config, webhook_records } = context.get("services");
  const saved = thresholds === undefined ? await webhook_records.find(app_slug, id) : null;
  const saved_thresholds = saved?.ok ? saved.value.thresholds : [];
  const problems = {
    url: webhookUrlProblem(url, config.dev_signin),
    events: webhookEventsProblem(events),
    thresholds: thresholdsProblem(thresholds ?? saved_thresholds, events),
  };
  for (const [field, message] of Object.entries(problems)) {
    if (message !== null) return { field: field as WebhookProblem["field"], message };
  }
  return null;
}

/** The app and the webhook that the path names. */
export function webhookKeyOf(context: AppContext) {
  const app_slug = context.req.param("slug") ?? "";
  return { app_slug, id: context.req.param("id") ?? "" };
}

export const putWebhook = factory.createHandlers(validBody(saveWebhookBody), async (context) => {
  const webhook_key = webhookKeyOf(context);
  if (!WEBHOOK_ID_PATTERN.test(webhook_key.id)) {
    const detail =
      "The webhook's id must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit.";
    return refuse(context, { code: "invalid_request", detail });
  }
  const body = context.req.valid("json");
  const problem = await findWebhookProblem(context, webhook_key, body);
  if (problem !== null) {
    const detail = `${problem.field} ${problem.message}.`;
    return refuse(context, { code: "invalid_request", detail });
  }
  const { reason, version: read_version, ...settings } = body;
  const saved = await saveWebhook(await actingOf(context), webhook_key, settings, {
    reason,
    version: read_version,
    key: idempotencyKey(context),
  });
  return respondOnce(context, saved, ({ record, secret }) => ({
    webhook: webhookView(record),
    secret,
  }));
});
