/** `POST …/webhooks/{id}/test`, `GET …/webhooks/{id}/deliveries` and `POST …/webhooks/{id}/replay`. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { accepted, refused } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { countRequest } from "../../../middleware/rate_limits.ts";
import { refuse } from "../../../refusals.ts";
import type { Services } from "../../../services.ts";
import {
  idempotencyKey,
  pageLimit,
  queryText,
  readOptionalBody,
  validBody,
  validQuery,
} from "../../../validation.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";
import { resolveIdentity } from "../accounts/identity.ts";
import { performAction, performActionOnce, reason as reasonText } from "../audited_action.ts";
import { webhookAction, webhookReason } from "./change.ts";
import { webhookKeyOf } from "./save.ts";

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
  reason: z.optional(reasonText),
});

type Pinged = Awaited<ReturnType<Services["webhook_engine"]["sendPing"]>>;
type WebhookKey = ReturnType<typeof webhookKeyOf>;
type Reason = z.output<typeof webhookReason>;

/** Sends a `ping`, a few times a minute at most: the address is one that the app chose. A repeated request sends it again under the same `webhook-id`, so its receiver handles it once. */
export async function testWebhook(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { reason }: Reason,
  key: string | undefined,
): Promise<OnceAnswer<Pinged>> {
  const limited = await countRequest(context, "webhook_test", `${app_slug} ${id}`);
  if (limited !== null) return refused(limited);
  const action = webhookAction(context, "app_webhook.test", { app_slug, id }, { reason, key });
  const { webhook_records, webhook_engine } = context.get("services");
  return performAction<Pinged>(context, action, async (_, { audit_id }) => {
    const found = await webhook_records.find(app_slug, id);
    if (!found.ok) return found;
    return accepted({
      value: await webhook_engine.sendPing(found.value, audit_id),
      replayed: false,
    });
  });
}

/** Sends an account's events again. Operators may name the account by e-mail address. */
export function replayWebhook(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { reason, identity_id: named, after_line }: z.output<typeof replayWebhookBody>,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const details = { identity_id: named, after_line };
  const action = webhookAction(
    context,
    "app_webhook.replay",
    { app_slug, id },
    { reason, key, ...details },
  );
  const { webhook_records, webhook_engine } = context.get("services");
  return performActionOnce(context, action, async () => {
    const found = await webhook_records.find(app_slug, id);
    if (!found.ok) return found;
    // An app's server may not find out whose an e-mail address is.
    const is_operator = context.get("own_app") === undefined;
    const resolved = is_operator ? await resolveIdentity(context, named) : accepted(named);
    return resolved.ok ? webhook_engine.replay(found.value, resolved.value, after_line) : resolved;
  });
}

/** A page of the events that wait. `failed` lists all, since each of them failed or waits for one that did. */
export async function readDeliveries(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { status, limit, cursor }: z.output<typeof listDeliveriesQuery>,
) {
  const { webhook_records, webhook_engine } = context.get("services");
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
      identity_id: delivery.identity_id,
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

export const pingView = ({ status, duration_ms, reason }: Pinged) => ({
  status,
  duration_ms,
  error: reason,
});

export const postTestWebhook = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, webhookReason);
  if (!body.ok) return refuse(context, body.refusal);
  const key = idempotencyKey(context);
  const pinged = await testWebhook(context, webhookKeyOf(context), body.value, key);
  return respondOnce(context, pinged, pingView);
});

export const postReplayWebhook = factory.createHandlers(
  validBody(replayWebhookBody),
  async (context) => {
    const body = context.req.valid("json");
    const key = idempotencyKey(context);
    return respondDone(context, await replayWebhook(context, webhookKeyOf(context), body, key));
  },
);

export const listDeliveries = factory.createHandlers(
  validQuery(listDeliveriesQuery),
  async (context) => {
    const page = await readDeliveries(context, webhookKeyOf(context), context.req.valid("query"));
    return page.ok ? context.json(page.value) : refuse(context, page.refusal);
  },
);
