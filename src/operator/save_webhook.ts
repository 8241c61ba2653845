/** Creates a webhook of an app, or changes it. */
import type { OnceAnswer } from "../account/contract.ts";
import type { Webhook } from "../directory/webhook_list.ts";
import type { WebhookKey, WebhookSettings } from "../directory/webhook_records.ts";
import { SUBSCRIBABLE_EVENTS } from "../domain/webhook.ts";
import type { Acting } from "./acting.ts";
import { saveRecord, type RecordKind, type SavedRecord, type SaveRequest } from "./save_record.ts";

/** `secret`: only if the save created the webhook. */
export function saveWebhook(
  acting: Acting,
  key: WebhookKey,
  settings: WebhookSettings,
  request: SaveRequest,
): Promise<OnceAnswer<SavedRecord<Webhook>>> {
  const { webhook_records, webhook_engine } = acting.services;
  const kind: RecordKind<WebhookSettings, Webhook> = {
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
      if (settings.active === true) await webhook_engine.wake(webhook);
    },
  };
  const ordered = {
    ...settings,
    events: SUBSCRIBABLE_EVENTS.filter((event) => settings.events.includes(event)),
    thresholds: settings.thresholds?.toSorted((one, other) => one - other),
  };
  return saveRecord(acting, kind, ordered, request);
}
