/** The actions of operators and the schedule on the deliveries of webhooks. */
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import { APP_ITSELF } from "../domain/webhook.ts";
import { attempt, type Attempted } from "./attempt.ts";
import type { RecordedAttempt } from "./attempts.ts";
import { sampleData, type TestType } from "../domain/webhook_samples.ts";
import { senderName, type Webhook } from "./sender_contract.ts";
import type { Deliveries } from "./deliveries.ts";
import type { DeliveryPageRequest, ListedDelivery } from "./deliveries_contract.ts";
import type { Sender } from "./object.ts";

/** Calls to objects at the same time. */
const CHECKED_AT_ONCE = 50;

export interface DeliveryPage {
  /** Since when the events of all accounts are being sent again; null: they are not. */
  readonly replays_since_ms: number | null;
  readonly deliveries: readonly ListedDelivery[];
  /** Null: there are no more. */
  readonly next_cursor: string | null;
}

export interface WebhookEngine {
  /** Sends a `ping` or a sample with this id now, also to a paused webhook. @throws if the directory cannot be reached. */
  sendTest(webhook: Webhook, id: string, type: TestType): Promise<Attempted>;
  /** Deliveries that wait, by identity. `status`: only those; null: all. `cursor`: of the page before. */
  listDeliveries(
    webhook: Webhook,
    filter: {
      readonly status: DeliveryPageRequest["status"];
      readonly cursor: string | null;
      readonly limit: number;
    },
  ): Promise<DeliveryPage>;
  /** The last attempts, at most 20: of one account, or those that the webhook's object knows. The newest first. */
  listAttempts(webhook: Webhook, identity_id: string | null): Promise<readonly RecordedAttempt[]>;
  /**
   * Sends the events of an account's entries after this one again. Refused as `account_unknown` if the account is not
   * open for the webhook's app.
   */
  replay(webhook: Webhook, identity_id: string, after_line: number): Promise<Result<null, Refusal>>;
  /** Sends the events of all accounts since a time again, in the background. */
  replayAll(webhook: Webhook, since_ms: number): Promise<void>;
  /** The webhook's app itself has a new event. */
  wakeForApp(webhook: Webhook): Promise<void>;
  /** The webhook is active again: continues where each account stopped. */
  wake(webhook: Webhook): Promise<void>;
  /** Makes sure that the deliveries of these webhooks are looked after, although the platform may have lost an alarm. */
  checkDeliveries(webhooks: readonly Pick<Webhook, "uid">[]): Promise<{ readonly checked: number }>;
}

interface EngineParts {
  readonly senders: DurableObjectNamespace<Sender>;
  readonly secretsOf: (uid: string) => Promise<readonly string[]>;
  /** Whether a receiver may be on a loopback address. */
  readonly is_development: boolean;
  /** Null: the account does not have the app. */
  readonly readEvents: (
    identity_id: string,
    request: WebhookEventsRequest,
  ) => Promise<WebhookEvents | null>;
  readonly deliveries: DurableObjectNamespace<Deliveries>;
}

export function createWebhookEngine(parts: EngineParts): WebhookEngine {
  const { senders, deliveries } = parts;
  const senderOf = (uid: string, identity_id: string) =>
    senders.getByName(senderName(uid, identity_id));
  return {
    async sendTest({ uid, url, app_slug }, id, type) {
      const secrets = await parts.secretsOf(uid);
      const now_ms = Date.now();
      const data = sampleData(type, app_slug, now_ms);
      const body = JSON.stringify({ type, timestamp: timestamp(now_ms), test: true, data });
      return attempt({ url, id, body, secrets, is_test: true }, parts);
    },
    async listDeliveries({ uid }, { status, cursor, limit }) {
      const page = { status, after_identity_id: cursor ?? "", limit: limit + 1 };
      const found = await deliveries.getByName(uid).list(page);
      const rows = found.deliveries.slice(0, limit);
      const next_cursor =
        found.deliveries.length > limit ? (rows.at(-1)?.identity_id ?? null) : found.looked_at_to;
      return { deliveries: rows, next_cursor, replays_since_ms: found.replays_since_ms };
    },
    async listAttempts({ uid }, identity_id) {
      return identity_id === null
        ? deliveries.getByName(uid).attempts()
        : senderOf(uid, identity_id).attempts();
    },
    async replay(webhook, identity_id, after_line) {
      const { uid, app_slug, created_at_ms: since_ms } = webhook;
      const nothing = { events: [], thresholds: [], since_ms, after: null };
      const known = await parts.readEvents(identity_id, { app_slug, ...nothing });
      if (known === null || !known.has_app) {
        return refused({ code: "account_unknown", app_slug });
      }
      await senderOf(uid, identity_id).replay(after_line, known.begin);
      return accepted(null);
    },
    async replayAll({ uid }, since_ms) {
      await deliveries.getByName(uid).replay(since_ms);
    },
    async wakeForApp({ uid }) {
      // No sender has delivered all of this, so each looks.
      await senderOf(uid, APP_ITSELF).wake("app");
    },
    async wake({ uid }) {
      await deliveries.getByName(uid).resume();
    },
    async checkDeliveries(webhooks) {
      for (let at = 0; at < webhooks.length; at += CHECKED_AT_ONCE) {
        const some = webhooks.slice(at, at + CHECKED_AT_ONCE);
        await Promise.all(some.map(({ uid }) => deliveries.getByName(uid).check()));
      }
      return { checked: webhooks.length };
    },
  };
}

/** Calls the sender of an account's events, because its retry is overdue or its webhook is active again. */
export async function callSender(
  senders: DurableObjectNamespace<Sender>,
  how: "wake" | "resume",
  uid: string,
  identity_id: string,
): Promise<boolean> {
  const sender = senders.getByName(senderName(uid, identity_id));
  return how === "resume" ? sender.resume() : sender.wake("overdue");
}

/** Sends the events of an account since a time again, if it has the webhook's app. */
export async function replaySince(
  { senders, readEvents }: Pick<EngineParts, "senders" | "readEvents">,
  { uid, app_slug, created_at_ms }: Webhook,
  identity_id: string,
  replayed_since_ms: number,
): Promise<void> {
  const beginAt = (since_ms: number) =>
    readEvents(identity_id, { app_slug, events: [], thresholds: [], since_ms, after: null });
  const [from, known] = await Promise.all([
    beginAt(Math.max(replayed_since_ms, created_at_ms)),
    beginAt(created_at_ms),
  ]);
  if (from === null || known === null || !known.has_app) return;
  await senders.getByName(senderName(uid, identity_id)).replay(from.begin.line, known.begin);
}
