/** The actions of operators and the schedule on the deliveries of webhooks. */
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import { attempt, type Attempted } from "./attempt.ts";
import { senderName, type Webhook } from "./sender_contract.ts";
import type { Sender } from "./object.ts";
import type { ListedDelivery } from "./sender.ts";

/** Senders that one call wakes; the schedule wakes the others. */
const SENDERS_WOKEN = 100;

type DeliveryStatus = ListedDelivery["status"];

export interface DeliveryPage {
  readonly deliveries: readonly ListedDelivery[];
  /** Null: there are no more. */
  readonly next_cursor: string | null;
}

export interface WebhookEngine {
  /** Sends one `ping` with this id now, also to a paused webhook. @throws if the directory cannot be reached. */
  sendPing(webhook: Webhook, id: string): Promise<Attempted>;
  /** Deliveries that wait, by identity. `status`: only those; null: all. `cursor`: of the page before. */
  listDeliveries(
    webhook: Webhook,
    filter: {
      readonly status: DeliveryStatus | null;
      readonly cursor: string | null;
      readonly limit: number;
    },
  ): Promise<DeliveryPage>;
  /**
   * Sends the events of an account's entries after this one again. Refused as `account_unknown` if the account is not
   * open for the webhook's app.
   */
  replay(webhook: Webhook, identity_id: string, after_line: number): Promise<Result<null, Refusal>>;
  /** The webhook is active again: continues where each account stopped. */
  wake(webhook: Webhook): Promise<void>;
  /** Wakes senders whose retry is overdue, and deletes old deliveries. */
  wakeOverdue(now_ms: number): Promise<{ readonly woken: number; readonly deleted: number }>;
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
  readonly deliveries: {
    list(
      webhook_uid: string,
      page: {
        readonly status: DeliveryStatus | null;
        readonly after_identity_id: string;
        readonly limit: number;
      },
    ): Promise<readonly ListedDelivery[]>;
    dropOverdue(webhook_uid: string, identity_id: string, now_ms: number): Promise<void>;
    resume(webhook_uid: string): Promise<void>;
    listOverdue(
      now_ms: number,
      limit: number,
    ): Promise<
      readonly {
        readonly webhook_uid: string;
        readonly identity_id: string;
        readonly resumes: boolean;
      }[]
    >;
    deleteOld(now_ms: number): Promise<number>;
  };
}

export function createWebhookEngine(parts: EngineParts): WebhookEngine {
  const { senders, deliveries } = parts;
  const senderOf = (uid: string, identity_id: string) =>
    senders.getByName(senderName(uid, identity_id));
  const wakeOverdue = async (now_ms: number): Promise<number> => {
    const overdue = await deliveries.listOverdue(now_ms, SENDERS_WOKEN);
    const calls = overdue.map(async ({ webhook_uid, identity_id, resumes }) => {
      const sender = senderOf(webhook_uid, identity_id);
      const waits = await (resumes ? sender.resume() : sender.wake("overdue"));
      // The event was delivered, but its row could not be deleted. Without this, such rows would crowd out overdue senders.
      if (!waits) await deliveries.dropOverdue(webhook_uid, identity_id, now_ms);
    });
    const failed = (await Promise.allSettled(calls)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    return overdue.length;
  };
  return {
    async sendPing({ uid, url }, id) {
      const secrets = await parts.secretsOf(uid);
      const at = timestamp(Date.now());
      const body = JSON.stringify({ type: "ping", timestamp: at, data: {} });
      return attempt({ url, id, body, secrets }, parts);
    },
    async listDeliveries({ uid }, { status, cursor, limit }) {
      const page = { status, after_identity_id: cursor ?? "", limit: limit + 1 };
      const found = await deliveries.list(uid, page);
      const rows = found.slice(0, limit);
      const next_cursor = found.length > limit ? (rows.at(-1)?.identity_id ?? null) : null;
      return { deliveries: rows, next_cursor };
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
    async wake({ uid }) {
      await deliveries.resume(uid);
      await wakeOverdue(Date.now());
    },
    async wakeOverdue(now_ms) {
      return { woken: await wakeOverdue(now_ms), deleted: await deliveries.deleteOld(now_ms) };
    },
  };
}
