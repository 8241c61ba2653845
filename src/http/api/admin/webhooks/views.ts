/** Webhooks in the form of the API. */
import type { Services } from "../../../services.ts";
import { timestamp } from "../../../views.ts";

type Found = Awaited<ReturnType<Services["webhook_records"]["find"]>>;
export type Webhook = Extract<Found, { ok: true }>["value"];

export function webhookView(webhook: Webhook) {
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
    version: webhook.version,
    created_at: timestamp(webhook.created_at_ms),
  };
}

export function timeOrNull(at_ms: number | null): string | null {
  return at_ms === null ? null : timestamp(at_ms);
}
