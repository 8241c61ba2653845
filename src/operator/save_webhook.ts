/** Creates a webhook of an app, or changes it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { Webhook } from "../directory/webhook_list.ts";
import type { WebhookKey } from "../directory/webhook_records.ts";
import {
  SUBSCRIBABLE_EVENTS,
  thresholdsProblem,
  webhookEventsProblem,
  webhookUrlProblem,
} from "../domain/webhook.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { reason } from "./audited_action.ts";
import {
  saveRecord,
  version,
  type FieldProblem,
  type Keyed,
  type RecordKind,
  type SavedRecord,
} from "./save_record.ts";

export type { Webhook };

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
  reason: z.optional(reason),
});

export type SaveWebhook = z.output<typeof saveWebhookBody>;

/** Null if the settings are valid. Omitted thresholds are those of the webhook as it is. */
export async function findWebhookProblem(
  { config, webhook_records }: OperatorServices,
  { app_slug, id }: WebhookKey,
  { url, events, thresholds }: SaveWebhook,
): Promise<FieldProblem | null> {
  const saved = thresholds === undefined ? await webhook_records.find(app_slug, id) : null;
  const saved_thresholds = saved?.ok ? saved.value.thresholds : [];
  const problems = {
    url: webhookUrlProblem(url, config.dev_signin),
    events: webhookEventsProblem(events),
    thresholds: thresholdsProblem(thresholds ?? saved_thresholds, events),
  };
  for (const [field, message] of Object.entries(problems)) {
    if (message !== null) return { path: [field], message };
  }
  return null;
}

/** `secret`: only if the save created the webhook. */
export function saveWebhook(
  acting: Acting,
  key: WebhookKey,
  body: Keyed<SaveWebhook>,
): Promise<OnceAnswer<SavedRecord<Webhook>>> {
  const { webhook_records, webhook_engine } = acting.services;
  const kind: RecordKind<Keyed<SaveWebhook>, Webhook> = {
    act: "app_webhook.save",
    subject: key.app_slug,
    details: { webhook_id: key.id },
    not_found: { code: "webhook_not_found" },
    changed: { code: "webhook_changed" },
    async find() {
      const found = await webhook_records.find(key.app_slug, key.id);
      return found.ok ? found.value : null;
    },
    completed: ({ url, events, thresholds = [], active = true }) => ({
      url,
      events,
      thresholds,
      active,
    }),
    settingsOf: ({ url, events, thresholds, paused_at_ms }) => ({
      url,
      events,
      thresholds,
      active: paused_at_ms === null,
    }),
    write: (given, save) => webhook_records.save(key, given, save),
    // Also if it was active: so an operator sends at once what waits.
    async afterwards(webhook) {
      if (body.active === true) await webhook_engine.wake(webhook);
    },
  };
  const ordered = {
    ...body,
    events: SUBSCRIBABLE_EVENTS.filter((event) => body.events.includes(event)),
    thresholds: body.thresholds?.toSorted((one, other) => one - other),
  };
  return saveRecord(acting, kind, ordered);
}
