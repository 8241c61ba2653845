/** `GET …/webhooks`, `DELETE …/webhooks/{id}` and `POST …/webhooks/{id}/rotate`. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { accepted } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, readOptionalBody, validQuery } from "../../../validation.ts";
import { respondDone, respondOnce } from "../../../views.ts";
import { performAction, performActionOnce, reason as reasonText } from "../audited_action.ts";
import { webhookKeyOf } from "./save.ts";
import { webhookView } from "./views.ts";

/** The reason of an action that needs no other field. */
export const webhookReason = z.strictObject({ reason: z.optional(reasonText) });
export const removeWebhookQuery = z.object({ reason: z.optional(reasonText) });

type Reason = z.output<typeof webhookReason>;
type WebhookKey = ReturnType<typeof webhookKeyOf>;

export function removeWebhook(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { reason }: Reason,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const details = { webhook_id: id };
  const action = {
    act: "app_webhook.delete",
    subject: app_slug,
    reason: reason ?? null,
    details,
    key,
  };
  const { webhook_records } = context.get("services");
  return performActionOnce(context, action, () => webhook_records.remove(app_slug, id));
}

/** Replaces the secret. Null if the same request replaced it before, because a secret is shown only once. */
export function rotateSecret(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { reason }: Reason,
  key: string | undefined,
): Promise<OnceAnswer<string | null>> {
  const details = { webhook_id: id };
  const action = {
    act: "app_webhook.rotate",
    subject: app_slug,
    reason: reason ?? null,
    details,
    key,
  };
  const { webhook_records } = context.get("services");
  return performAction<string | null>(context, action, async (_, { audit_id, is_done }) => {
    if (is_done) return accepted({ value: null, replayed: true });
    const rotated = await webhook_records.rotate(app_slug, id, audit_id);
    return rotated.ok ? accepted({ value: rotated.value, replayed: false }) : rotated;
  });
}

export const listWebhooks = factory.createHandlers(async (context) => {
  const { webhook_records } = context.get("services");
  const listed = await webhook_records.list(context.req.param("slug") ?? "");
  if (!listed.ok) return refuse(context, listed.refusal);
  return context.json({ webhooks: listed.value.map(webhookView) });
});

export const deleteWebhook = factory.createHandlers(
  validQuery(removeWebhookQuery),
  async (context) => {
    const query = context.req.valid("query");
    const key = idempotencyKey(context);
    return respondDone(context, await removeWebhook(context, webhookKeyOf(context), query, key));
  },
);

export const postRotateWebhook = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, webhookReason);
  if (!body.ok) return refuse(context, body.refusal);
  const key = idempotencyKey(context);
  const rotated = await rotateSecret(context, webhookKeyOf(context), body.value, key);
  return respondOnce(context, rotated, (secret) => ({ secret }));
});
