/** The webhooks of an app: their addresses, events and thresholds. Pure. */
import { ACCESS_EVENTS } from "./access_event.ts";
import { isLoopbackHost, originOf, parseAbsoluteUrl } from "./origins.ts";
import { publicHostProblem } from "./public_url.ts";

/** The format of a webhook's id, which is unique within its app: that of an app's slug. */
export const WEBHOOK_ID_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Webhooks of one app: one for each of its environments and a few tools. */
export const WEBHOOKS_PER_APP_MAX = 10;

/** Thresholds of one webhook: enough for several warnings before a balance is used up. */
const THRESHOLDS_MAX = 10;

/** After a rotation, each delivery carries the signature of the previous secret too, for this long. */
export const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1000;

/** Events of an app itself, which concern no account. */
export const APP_EVENTS = ["app.paused", "app.continued"] as const;
export type AppEvent = (typeof APP_EVENTS)[number];

/** In the place of an account's identity: the app itself, whose events concern no account. No identity has a space. */
export const APP_ITSELF = "the app itself";

/** How long an event of an app itself can be delivered: as long as a delivery that waits is listed. */
export const EVENTS_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The events that a webhook can subscribe to. A `ping` is sent by a test, whatever the events. */
export const SUBSCRIBABLE_EVENTS = [
  "job.created",
  "job.progressed",
  "job.completed",
  "job.failed",
  "job.expired",
  "credits.changed",
  "credits.granted",
  "credits.low",
  "credits.expiring",
  "credits.expired",
  "credits.refused",
  "topup.failed",
  "topup.disabled",
  "purchase.completed",
  "purchase.refunded",
  "account.deleted",
  ...ACCESS_EVENTS,
  ...APP_EVENTS,
] as const;
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];

/**
 * The fault of a webhook's address, as the end of a sentence; null: it is valid. `is_development`: the
 * service runs on a developer's machine, so a receiver may run there too.
 */
export function webhookUrlProblem(text: string, is_development: boolean): string | null {
  const url = parseAbsoluteUrl(text);
  if (url === null) {
    return "must be an absolute address such as https://example.com/webhooks, without user name and password";
  }
  if (url.hash !== "") return "must not have a fragment (#…), which is never sent";
  const is_loopback = isLoopbackHost(url.hostname.replace(/\.$/, ""));
  if (is_development && is_loopback && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== "https:") {
    return is_development
      ? "must begin with https://; http:// is possible for a loopback address only"
      : "must begin with https://";
  }
  const problem = publicHostProblem(url);
  if (problem === "ip_address") return "must have a host name instead of an IP address";
  if (is_development) return null;
  if (problem !== null) return `must have a public host name, not ${url.hostname}`;
  return url.port === "" ? null : `must use port 443, not ${originOf(url)}`;
}

/** The fault of the events, as the end of a sentence; null: they are valid. */
export function webhookEventsProblem(events: readonly SubscribableEvent[]): string | null {
  if (events.length === 0) return `must name at least one of ${SUBSCRIBABLE_EVENTS.join(", ")}`;
  return new Set(events).size === events.length ? null : "must name each event once";
}

/** The fault of the thresholds, as the end of a sentence; null: they are valid. */
export function thresholdsProblem(
  thresholds: readonly number[],
  events: readonly string[],
): string | null {
  if (thresholds.length > THRESHOLDS_MAX) return `must have at most ${THRESHOLDS_MAX} numbers`;
  if (!thresholds.every((it) => Number.isSafeInteger(it) && it > 0)) {
    return "must be whole numbers of credits greater than 0";
  }
  if (new Set(thresholds).size < thresholds.length) return "must name each number once";
  if (events.includes("credits.low") && thresholds.length === 0) {
    return "must have at least one number for credits.low";
  }
  return null;
}
