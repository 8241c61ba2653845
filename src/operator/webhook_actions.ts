/** Operators' actions on a webhook of an app, which the app's own server may do too, and the events that wait for it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { WebhookKey } from "../directory/webhook_records.ts";
import { accepted } from "../domain/result.ts";
import { APP_ITSELF } from "../domain/webhook.ts";
import { timestamp } from "../domain/wire.ts";
import { DAY_MS } from "../domain/calendar.ts";
import { dateTime, pageLimit, queryText } from "../fields.ts";
import type { WebhookEngine } from "../webhooks/engine.ts";
import { TEST_TYPES } from "../domain/webhook_samples.ts";
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

/** How far back the events of all accounts can be sent again, in days. */
const REPLAYED_DAYS_MAX = 7;

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

export const listAttemptsQuery = z.object({ identity_id: z.optional(identity(queryText)) });

export const replayWebhookBody = z
  .strictObject({
    identity_id: z.optional(identity(z.string("must be a string"))),
    after_line: z.optional(z.int("must be a whole number").check(z.gte(0, "must not be negative"))),
    since: z.optional(
      dateTime.check(
        z.refine((at_ms) => at_ms <= Date.now(), "must not be in the future"),
        z.refine(
          (at_ms) => at_ms >= Date.now() - REPLAYED_DAYS_MAX * DAY_MS,
          `must be at most ${REPLAYED_DAYS_MAX} days ago`,
        ),
      ),
    ),
    reason: z.optional(reason),
  })
  .check(
    z.refine(({ identity_id, since }) => identity_id === undefined || since === undefined, {
      error: "must not be given with identity_id",
      path: ["since"],
    }),
    z.refine(({ identity_id, since }) => identity_id !== undefined || since !== undefined, {
      error: "must be given, or since for all accounts",
      path: ["identity_id"],
    }),
    z.refine(
      ({ identity_id, after_line }) => (identity_id === undefined) === (after_line === undefined),
      { error: "must be given with identity_id, and only then", path: ["after_line"] },
    ),
  );

export const testWebhookBody = z.strictObject({
  type: z.optional(z.enum(TEST_TYPES, `must be one of ${TEST_TYPES.join(", ")}`)),
  reason: z.optional(reason),
});

type Tested = Awaited<ReturnType<WebhookEngine["sendTest"]>>;

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
 * Sends a `ping`, or a sample of another event. A repeated request sends it again under the same `webhook-id`, so its
 * receiver handles it once. The caller has counted the request, because the address is one that the app chose. Only an
 * operator learns what the receiver responded.
 */
export function testWebhook(
  acting: Acting,
  webhook: WebhookKey,
  { type = "ping", ...request }: Keyed<z.output<typeof testWebhookBody>>,
): Promise<OnceAnswer<Tested>> {
  const { webhook_records, webhook_engine } = acting.services;
  const action = webhookAction(acting, "test", webhook, request, { type });
  return performAction<Tested>(acting, action, async (_, { audit_id }) => {
    const found = await webhook_records.find(webhook.app_slug, webhook.id);
    if (!found.ok) return found;
    const tested = await webhook_engine.sendTest(found.value, audit_id, type);
    const value = acting.actor.rights === null ? { ...tested, response: null } : tested;
    return accepted({ value, replayed: false });
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

/** Sends events again: those of one account, whom operators may name by e-mail address, or since a time those of all. */
export function replayWebhook(
  acting: Acting,
  webhook: WebhookKey,
  { identity_id, after_line = 0, since, ...request }: Keyed<z.output<typeof replayWebhookBody>>,
): Promise<OnceAnswer<null>> {
  const { webhook_records, webhook_engine } = acting.services;
  const details = since === undefined ? { identity_id, after_line } : { since: timestamp(since) };
  const action = webhookAction(acting, "replay", webhook, request, details);
  return performActionOnce(acting, action, async () => {
    const found = await webhook_records.find(webhook.app_slug, webhook.id);
    if (!found.ok) return found;
    if (since !== undefined) {
      await webhook_engine.replayAll(found.value, since);
      return accepted(null);
    }
    const resolved = await resolveNamed(acting, identity_id ?? "");
    return resolved.ok ? webhook_engine.replay(found.value, resolved.value, after_line) : resolved;
  });
}

/** Operators may name an account by e-mail address. An app's server may not find out whose an address is. */
async function resolveNamed({ services, actor }: Acting, named: string) {
  return actor.rights === null ? accepted(named) : resolveIdentity(services.identity, named);
}

/** What became of the last events: of those of one account, or of all accounts that the webhook's object knows. */
export async function readAttempts(
  acting: Acting,
  { app_slug, id }: WebhookKey,
  { identity_id }: z.output<typeof listAttemptsQuery>,
) {
  const { webhook_records, webhook_engine } = acting.services;
  const found = await webhook_records.find(app_slug, id);
  if (!found.ok) return found;
  const resolved =
    identity_id === undefined ? accepted(null) : await resolveNamed(acting, identity_id);
  if (!resolved.ok) return resolved;
  const attempts = await webhook_engine.listAttempts(found.value, resolved.value);
  const sees_response = acting.actor.rights?.role === "admin";
  return accepted(
    attempts.map((attempt) => ({
      at: timestamp(attempt.at_ms),
      event_id: attempt.event_id,
      type: attempt.type,
      identity_id: attempt.identity_id === APP_ITSELF ? null : attempt.identity_id,
      line: attempt.line,
      attempts: attempt.attempts,
      status: attempt.status,
      duration_ms: attempt.duration_ms,
      error: attempt.reason,
      response: sees_response ? attempt.response : null,
    })),
  );
}

export type ShownAttempt = Extract<
  Awaited<ReturnType<typeof readAttempts>>,
  { ok: true }
>["value"][number];

/** A page of the events that wait. `failed` lists all, since each of them failed or waits for one that did. */
export async function readDeliveries(
  { webhook_records, webhook_engine }: OperatorServices,
  { app_slug, id }: WebhookKey,
  { status, limit, cursor }: z.output<typeof listDeliveriesQuery>,
) {
  const found = await webhook_records.find(app_slug, id);
  if (!found.ok) return found;
  const { deliveries, next_cursor, replays_since_ms } = await webhook_engine.listDeliveries(
    found.value,
    {
      status: status === "pending" ? status : null,
      cursor: cursor ?? null,
      limit,
    },
  );
  return accepted({
    replays_since: replays_since_ms === null ? null : timestamp(replays_since_ms),
    deliveries: deliveries.map((delivery) => ({
      event_id: delivery.event_id,
      type: delivery.type,
      identity_id: delivery.identity_id === APP_ITSELF ? null : delivery.identity_id,
      line: delivery.line,
      attempts: delivery.attempts,
      status: delivery.status,
      last_error: delivery.reason,
      at: timestamp(delivery.at_ms),
      retry_at: delivery.retry_at_ms === null ? null : timestamp(delivery.retry_at_ms),
    })),
    next_cursor: next_cursor ?? undefined,
  });
}

export type DeliveryPage = Extract<
  Awaited<ReturnType<typeof readDeliveries>>,
  { ok: true }
>["value"];
