/**
 * Sends the events of one account to one webhook, one after another, and stores after each how far it came. An event that
 * is not accepted holds up those after it, so that a receiver gets them in order.
 */
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import { reportError } from "../domain/error_report.ts";
import type { SubscribableEvent } from "../domain/webhook.ts";
import { pauseAfter, WEBHOOK_ATTEMPTS_MAX } from "../domain/webhook_retries.ts";
import { attempt } from "./attempt.ts";
import { withAttempt, type RecordedAttempt } from "./attempts.ts";
import type { DeliveryRecords } from "./delivery_records.ts";
import type { Webhook } from "./sender_contract.ts";
import type { SenderState, WaitingEvent } from "./state.ts";

/** How often the sender of a paused webhook checks whether it is active again, in case no call woke it. */
const PAUSED_CHECK_MS = 6 * 60 * 60 * 1000;

/** How long the last event of a deleted account is kept for a receiver that does not accept it. */
const LAST_EVENT_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Pages that one alarm sends; the next alarm continues. An alarm may run 15 minutes. */
const PAGES_PER_ALARM = 2;

/** The shortest time between two `credits.changed` of one account. The later one has the newest balance. */
const BALANCE_PAUSE_MS = 1_000;

/** An event that waits for another attempt is replaced by a newer one of such a type, whose attempts go on. */
const REPLACED: readonly SubscribableEvent[] = ["credits.changed", "job.progressed"];

/** The parts that a sender needs. */
export interface SenderParts {
  /** An active webhook may be a copy of a minute ago. Null: it was deleted. @throws if the directory cannot be reached. */
  findWebhook(uid: string): Promise<Webhook | null>;
  /** The newest first, as old as what `findWebhook` returns. @throws as it does. */
  secretsOf(uid: string): Promise<readonly string[]>;
  /** @throws if the account cannot be reached. */
  readEvents(identity_id: string, request: WebhookEventsRequest): Promise<WebhookEvents | null>;
  /** Whether a receiver may be on a loopback address. */
  readonly is_development: boolean;
  /** @throws if the directory cannot be reached. */
  pause(uid: string, reason: string): Promise<void>;
  readonly deliveries: DeliveryRecords;
}

/** The object's storage, and whom it sends for. */
interface SenderContext {
  readonly uid: string;
  readonly identity_id: string;
  readonly parts: SenderParts;
  readonly read: () => SenderState;
  readonly save: (columns: Partial<SenderState>) => SenderState;
}

/** When to continue, in milliseconds since the epoch. `idle`: there is nothing to send. `over`: there never will be. */
type NextRound = number | "idle" | "over";

type Sendable = Pick<WaitingEvent, "event_id" | "type" | "line"> & { readonly body: string };

/**
 * Sends what there is, a bounded part of it.
 * @throws if the directory or the account cannot be reached; then nothing counts as tried.
 */
export async function sendRound(context: SenderContext): Promise<NextRound> {
  const { uid, parts } = context;
  const webhook = await parts.findWebhook(uid);
  if (webhook === null) return "over";
  for (let left = PAGES_PER_ALARM; left > 0; left -= 1) {
    const next = await sendPage(context, webhook);
    if (next !== "continue") return next;
  }
  return Date.now();
}

async function sendPage(context: SenderContext, webhook: Webhook): Promise<NextRound | "continue"> {
  const { parts, identity_id, read, save } = context;
  const { waiting, position: after, generation } = read();
  const is_paused = webhook.paused_at_ms !== null;
  if (!is_paused && waiting !== null && waiting.retry_at_ms > Date.now())
    return waiting.retry_at_ms;
  const { app_slug, events, thresholds, created_at_ms: since_ms } = webhook;
  const request = { app_slug, events, thresholds, since_ms, after };
  const page = await parts.readEvents(identity_id, request);
  if (read().generation !== generation) return Date.now();
  if (page === null) return sendLast(context, webhook, generation);
  const { position: end, news } = page;
  for (const { id: event_id, position, ...event } of page.events) {
    // With the last event, the end of the page is stored too: one written row for a page of one event.
    const is_last = event_id === page.events.at(-1)?.id;
    const sent = is_last ? { position: end, news, waiting: null } : { position, waiting: null };
    const pause_ms = event.type === "credits.changed" ? balancePause(read()) : 0;
    if (pause_ms > 0) return Date.now() + pause_ms;
    const next = await send(context, webhook, { event_id, ...event }, generation, sent);
    if (next !== "sent") return next;
  }
  if (read().generation !== generation) return Date.now();
  if (page.events.length === 0) save({ position: end, news });
  if (news === null) return "continue";
  const state = read();
  if (state.last !== null) return sendLast(context, webhook, generation);
  if (state.waiting !== null) {
    // The app may not receive the event any more.
    save({ waiting: null });
    await quietly(parts.deliveries.drop(context.uid, identity_id));
  }
  return "idle";
}

/** After all other events, or when the account's rows are erased. */
async function sendLast(
  context: SenderContext,
  webhook: Webhook,
  generation: number,
): Promise<NextRound> {
  const { last } = context.read();
  if (last === null || Date.now() - last.at_ms >= LAST_EVENT_KEPT_MS) return "over";
  const { id: event_id, line, body } = last;
  const event = { event_id, type: "account.deleted", line, body } as const;
  const next = await send(context, webhook, event, generation, { last: null, waiting: null });
  return next === "sent" ? "over" : next;
}

function balancePause({ balance_at_ms }: SenderState): number {
  const passed_ms = Date.now() - balance_at_ms;
  // The clock may go back.
  return passed_ms < 0 ? 0 : BALANCE_PAUSE_MS - passed_ms;
}

function isAttemptedAgain(waiting: WaitingEvent | null, event: Sendable): boolean {
  if (waiting === null) return false;
  const { event_id, type } = event;
  return waiting.event_id === event_id || (waiting.type === type && REPLACED.includes(type));
}

/** Sends one event, and stores the failure, or `sent` if it was accepted. */
async function send(
  context: SenderContext,
  webhook: Webhook,
  event: Sendable,
  generation: number,
  sent: Partial<SenderState>,
): Promise<NextRound | "sent"> {
  const { parts, read, save } = context;
  const { uid, app_slug, id: webhook_id, url } = webhook;
  if (webhook.paused_at_ms !== null) return waitForResumption(context, event);
  const { body, event_id: id } = event;
  const secrets = await parts.secretsOf(uid);
  const attempted = await attempt({ url, id, body, secrets }, parts);
  const { waiting, generation: current, attempts: known } = read();
  // An operator changed the position meanwhile. At worst the receiver gets the event twice.
  if (current !== generation) return Date.now();
  const before = isAttemptedAgain(waiting, event) ? (waiting?.attempts ?? 0) : 0;
  // After the last attempt the webhook was paused. It is active again, so the attempts begin again.
  const attempts = before >= WEBHOOK_ATTEMPTS_MAX ? 1 : before + 1;
  const { type, line } = event;
  const of_event = { identity_id: context.identity_id, event_id: id, type, line, attempts };
  const recorded = { ...of_event, at_ms: Date.now(), ...attempted };
  const all = { attempts: withAttempt(known, { ...recorded, response: null }) };
  const { reason, duration_ms } = attempted;
  if (reason !== null) {
    const log = { app_slug, webhook_id, type, attempts, reason, duration_ms };
    console.warn({ event: "webhook_delivery_failed", ...log });
    const next_ms = await postpone(context, webhook, recorded, all);
    await quietly(parts.deliveries.record(uid, recorded));
    return next_ms;
  }
  save({ ...sent, ...all, ...(type === "credits.changed" && { balance_at_ms: Date.now() }) });
  await quietly(parts.deliveries.record(uid, recorded));
  if (waiting !== null) await quietly(parts.deliveries.drop(uid, context.identity_id));
  return "sent";
}

async function postpone(
  { uid, identity_id, parts, save }: SenderContext,
  { app_slug, id: webhook_id }: Webhook,
  { event_id, type, line, attempts, reason, at_ms }: RecordedAttempt,
  all: Pick<SenderState, "attempts">,
): Promise<number> {
  const pause_ms = pauseAfter(attempts);
  if (pause_ms === null) {
    await parts.pause(uid, reason ?? "");
    console.error({ event: "webhook_paused", app_slug, webhook_id, attempts, reason });
  }
  const retry_at_ms = at_ms + (pause_ms ?? PAUSED_CHECK_MS);
  const waiting = { event_id, type, line, attempts, reason, at_ms };
  save({ waiting: { ...waiting, retry_at_ms }, news: null, ...all });
  const [status, listed_retry_at_ms] =
    pause_ms === null ? (["failed", null] as const) : (["pending", retry_at_ms] as const);
  const listed = { identity_id, ...waiting, status, retry_at_ms: listed_retry_at_ms };
  await quietly(parts.deliveries.save(uid, listed));
  return retry_at_ms;
}

/** Lists the event, so that a resumption finds this sender. */
async function waitForResumption(
  { uid, identity_id, parts, read, save }: SenderContext,
  event: Sendable,
): Promise<number> {
  const { event_id, type, line } = event;
  const now_ms = Date.now();
  const { waiting } = read();
  if (waiting !== null && waiting.retry_at_ms > now_ms) return waiting.retry_at_ms;
  const known = isAttemptedAgain(waiting, event) ? waiting : null;
  const { attempts = 0, reason = null, at_ms = now_ms } = known ?? {};
  const row = { event_id, type, line, attempts, reason, at_ms };
  const status = attempts >= WEBHOOK_ATTEMPTS_MAX ? "failed" : "pending";
  await parts.deliveries.save(uid, { identity_id, ...row, status, retry_at_ms: null });
  const retry_at_ms = now_ms + PAUSED_CHECK_MS;
  save({ waiting: { ...row, retry_at_ms }, news: null });
  return retry_at_ms;
}

/** The operators' view of a delivery decides nothing about it. */
async function quietly(recording: Promise<unknown>): Promise<void> {
  try {
    await recording;
  } catch (error) {
    console.warn({ event: "webhook_record_failed", ...reportError(error) });
  }
}
