/** `GET …/webhooks`, `DELETE …/webhooks/{id}` and `POST …/webhooks/{id}/rotate`. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { accepted } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, readOptionalBody, validQuery } from "../../../validation.ts";
import { respondDone, respondOnce } from "../../../views.ts";
import { performAction, performActionOnce, reason as reasonText } from "../audited_action.ts";
import type { OperatorAction } from "../../../../operator/audited_action.ts";
import { webhookKeyOf } from "./save.ts";
import { webhookView } from "./views.ts";

/** The reason of an action that needs no other field. */
export const webhookReason = z.strictObject({ reason: z.optional(reasonText) });
export const removeWebhookQuery = z.object({ reason: z.optional(reasonText) });

type Reason = z.output<typeof webhookReason>;
type WebhookKey = ReturnType<typeof webhookKeyOf>;

/** An action on a webhook that exists. `act` is its name in the audit log; `details`: more than the webhook's id. */
export function webhookAction(
  context: AppContext,
  act: string,
  { app_slug, id }: WebhookKey,
  {
    reason = null,
    key,
    ...details
  }: { readonly reason?: string | null | undefined; readonly key: string | undefined } & Readonly<
    Record<string, unknown>
  >,
): OperatorAction {
  const { webhook_records } = context.get("services");
  return {
    act,
    subject: app_slug,
    reason,
    details: { webhook_id: id, ...details },
    key,
    find: () => webhook_records.find(app_slug, id),
  };
}

export function removeWebhook(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { reason }: Reason,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const action = webhookAction(context, "app_webhook.delete", { app_slug, id }, { reason, key });
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
  const action = webhookAction(context, "app_webhook.rotate", { app_slug, id }, { reason, key });
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
