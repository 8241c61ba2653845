/** Operators' actions on a webhook of an app, which the app's own server may do too, and the events that wait for it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { WebhookKey } from "../directory/webhook_records.ts";
import { accepted } from "../domain/result.ts";
import { APP_ITSELF } from "../domain/webhook.ts";
import { timestamp } from "../domain/wire.ts";
import { pageLimit, queryText } from "../fields.ts";
import type { WebhookEngine } from "../webhooks/engine.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import {
  performAction,
  performActionOnce,
  reason,
  type ActionRequest,
  type OperatorAction,
} from "./audited_action.ts";
import { resolveIdentity } from "./find_person.ts";
import type { Keyed } from "./save_record.ts";

/** Longest identity or e-mail address, in UTF-16 code units. */
const IDENTITY_MAX_LENGTH = 255;

const identity = (text: z.ZodMiniString) =>
  text.check(
    z.minLength(1, "must not be empty"),
    z.maxLength(IDENTITY_MAX_LENGTH, `must have at most ${IDENTITY_MAX_LENGTH} characters`),
  );

export const listDeliveriesQuery = z.object({
  status: z.optional(z.enum(["pending", "failed"], "must be pending or failed")),
  limit: pageLimit,
  cursor: z.optional(identity(queryText)),
});

export const replayWebhookBody = z.strictObject({
  identity_id: identity(z.string("must be a string")),
  after_line: z.int("must be a whole number").check(z.gte(0, "must not be negative")),
  reason: z.optional(reason),
});

type Pinged = Awaited<ReturnType<WebhookEngine["sendPing"]>>;

/** An action on a webhook that exists. `act` is its name in the audit log. */
function webhookAction(
  { services }: Acting,
  act: string,
  { app_slug, id }: WebhookKey,
  request: ActionRequest,
  details = {},
): OperatorAction {
  return {
    act: `app_webhook.${act}`,
    subject: app_slug,
    details: { webhook_id: id, ...details },
    ...request,
    find: () => services.webhook_records.find(app_slug, id),
  };
}

/** Replaces the secret. Null if the same request replaced it before, because a secret is shown only once. */
export function rotateSecret(
  acting: Acting,
  webhook: WebhookKey,
  request: ActionRequest,
): Promise<OnceAnswer<string | null>> {
  const { webhook_records } = acting.services;
  const action = webhookAction(acting, "rotate", webhook, request);
  return performAction<string | null>(acting, action, async (_, { audit_id, is_done }) => {
    if (is_done) return accepted({ value: null, replayed: true });
    const rotated = await webhook_records.rotate(webhook.app_slug, webhook.id, audit_id);
    return rotated.ok ? accepted({ value: rotated.value, replayed: false }) : rotated;
  });
}

/**
 * Sends a `ping`. A repeated request sends it again under the same `webhook-id`, so its receiver handles it once. The
 * caller has counted the request, because the address is one that the app chose.
 */
export function testWebhook(
  acting: Acting,
  webhook: WebhookKey,
  request: ActionRequest,
): Promise<OnceAnswer<Pinged>> {
  const { webhook_records, webhook_engine } = acting.services;
  const action = webhookAction(acting, "test", webhook, request);
  return performAction<Pinged>(acting, action, async (_, { audit_id }) => {
    const found = await webhook_records.find(webhook.app_slug, webhook.id);
    if (!found.ok) return found;
    const pinged = await webhook_engine.sendPing(found.value, audit_id);
    return accepted({ value: pinged, replayed: false });
  });
}

/** Tries now what waits, and begins to count attempts again. A paused webhook stays paused. */
export function retryWebhook(
  acting: Acting,
  webhook: WebhookKey,
  request: ActionRequest,
): Promise<OnceAnswer<null>> {
  const { webhook_records, webhook_engine } = acting.services;
  const action = webhookAction(acting, "retry", webhook, request);
  return performActionOnce(acting, action, async () => {
    const found = await webhook_records.find(webhook.app_slug, webhook.id);
    if (!found.ok) return found;
    if (found.value.paused_at_ms === null) await webhook_engine.wake(found.value);
    return accepted(null);
  });
}

/** Sends an account's events again. Operators may name the account by e-mail address. */
export function replayWebhook(
  acting: Acting,
  webhook: WebhookKey,
  { identity_id: named, after_line, ...request }: Keyed<z.output<typeof replayWebhookBody>>,
): Promise<OnceAnswer<null>> {
  const { webhook_records, webhook_engine, identity } = acting.services;
  const details = { identity_id: named, after_line };
  const action = webhookAction(acting, "replay", webhook, request, details);
  return performActionOnce(acting, action, async () => {
    const found = await webhook_records.find(webhook.app_slug, webhook.id);
    if (!found.ok) return found;
    // An app's server may not find out whose an e-mail address is.
    const is_operator = acting.actor.rights !== null;
    const resolved = is_operator ? await resolveIdentity(identity, named) : accepted(named);
    return resolved.ok ? webhook_engine.replay(found.value, resolved.value, after_line) : resolved;
  });
}

/** A page of the events that wait. `failed` lists all, since each of them failed or waits for one that did. */
export async function readDeliveries(
  { webhook_records, webhook_engine }: OperatorServices,
  { app_slug, id }: WebhookKey,
  { status, limit, cursor }: z.output<typeof listDeliveriesQuery>,
) {
  const found = await webhook_records.find(app_slug, id);
  if (!found.ok) return found;
  const { deliveries, next_cursor } = await webhook_engine.listDeliveries(found.value, {
    status: status === "pending" ? status : null,
    cursor: cursor ?? null,
    limit,
  });
  return accepted({
    deliveries: deliveries.map((delivery) => ({
      event_id: delivery.event_id,
      type: delivery.type,
      identity_id: delivery.identity_id === APP_ITSELF ? null : delivery.identity_id,
      line: delivery.line,
      attempts: delivery.attempts,
      status: delivery.status,
      last_error: delivery.reason,
      at: timestamp(delivery.at_ms),
      // The time of a retry that a resumption waits for is 0.
      retry_at:
        delivery.retry_at_ms === null
          ? null
          : timestamp(Math.max(delivery.retry_at_ms, delivery.at_ms)),
    })),
    next_cursor: next_cursor ?? undefined,
  });
}

export type DeliveryPage = Extract<
  Awaited<ReturnType<typeof readDeliveries>>,
  { ok: true }
>["value"];
