/** `PUT /api/admin/apps/{slug}/webhooks/{id}`: creates a webhook, or changes it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import type { Changes } from "../../../../domain/audit.ts";
import { accepted } from "../../../../domain/result.ts";
import {
  SUBSCRIBABLE_EVENTS,
  thresholdsProblem,
  webhookEventsProblem,
  WEBHOOK_ID_PATTERN,
  webhookUrlProblem,
} from "../../../../domain/webhook.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, validBody } from "../../../validation.ts";
import { respondOnce } from "../../../views.ts";
import { performAction, reason as reasonText } from "../audited_action.ts";
import { webhookView, type Webhook } from "./views.ts";

/** The domain's rules check the rest: the fields depend on each other and on the service's settings. */
export const saveWebhookBody = z.strictObject({
  url: z.string("must be a string"),
  events: z.array(
    z.enum(SUBSCRIBABLE_EVENTS, `must be one of ${SUBSCRIBABLE_EVENTS.join(", ")}`),
    "must be a list of events",
  ),
  thresholds: z.optional(z.array(z.int("must be a whole number"), "must be a list of credits")),
  active: z.optional(z.boolean("must be true or false")),
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

export interface SavedWebhook {
  readonly webhook: Webhook;
  /** Only in the response that created the webhook. */
  readonly secret: string | null;
}

/** Saves settings that were checked. `key` is the idempotency key. */
export async function saveWebhook(
  context: AppContext,
  webhook_key: { readonly app_slug: string; readonly id: string },
  { reason, ...body }: SaveWebhook,
  key: string | undefined,
): Promise<OnceAnswer<SavedWebhook>> {
  const { app_slug, id } = webhook_key;
  const settings = {
    ...body,
    events: SUBSCRIBABLE_EVENTS.filter((event) => body.events.includes(event)),
    thresholds: body.thresholds?.toSorted((one, other) => one - other),
  };
  const action = {
    act: "app_webhook.save",
    subject: app_slug,
    reason: reason ?? null,
    details: { webhook_id: id, ...settings },
    key,
  };
  const { webhook_records, webhook_engine } = context.get("services");
  let before: Webhook | null = null;
  return performAction<SavedWebhook>(
    context,
    action,
    async (_, { audit_id, is_done }) => {
      // An action that was done is not done again: someone may have changed the webhook since.
      if (is_done) {
        const found = await webhook_records.find(app_slug, id);
        return found.ok
          ? accepted({ value: { webhook: found.value, secret: null }, replayed: true })
          : found;
      }
      const saved = await webhook_records.save(webhook_key, settings, audit_id);
      if (!saved.ok) return saved;
      before = saved.value.before;
      const { webhook, secret } = saved.value;
      // Also if it was active: an interrupted request is repeated.
      if (settings.active === true) await webhook_engine.wake(webhook);
      return accepted({ value: { webhook, secret }, replayed: false });
    },
    ({ webhook }) => changesBetween(before, webhook),
  );
}

const SETTINGS = ["url", "events", "thresholds", "active"] as const;

/** Null for a new webhook, whose settings are in the record. */
function changesBetween(before: Webhook | null, after: Webhook): Changes | null {
  if (before === null) return null;
  const [from, to] = [webhookView(before), webhookView(after)];
  return Object.fromEntries(
    SETTINGS.filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name])).map(
      (name) => [name, { from: from[name], to: to[name] }],
    ),
  );
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
  const saved = await saveWebhook(context, webhook_key, body, idempotencyKey(context));
  return respondOnce(context, saved, ({ webhook, secret }) => ({
    webhook: webhookView(webhook),
    secret,
  }));
});
