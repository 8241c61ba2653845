/** `GET …/clients`, `GET …/clients/{id}`, `DELETE …/clients/{id}` and `POST …/clients/{id}/secret` of an app. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, readOptionalBody, validQuery } from "../../../validation.ts";
import { respondDone, respondOnce } from "../../../views.ts";
import { accepted, refused } from "../../../../domain/result.ts";
import { performAction, performActionOnce, reason as reasonText } from "../audited_action.ts";
import { clientView, registrationKeyOf, type RegistrationKey, type SavedClient } from "./save.ts";

export const removeClientQuery = z.object({ reason: z.optional(reasonText) });

export function removeClient(
  context: AppContext,
  client_key: RegistrationKey,
  { reason }: z.output<typeof removeClientQuery>,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const action = {
    act: "oauth_client.delete",
    subject: client_key.app_slug,
    reason: reason ?? null,
    details: { client: client_key.id },
    key,
  };
  const { oauth_records } = context.get("services");
  return performActionOnce(context, action, () => oauth_records.removeClient(client_key));
}

/** `now`: the old secret stops working too. */
export const replaceSecretQuery = z.object({
  now: z.optional(z.enum(["true", "false"], "must be true or false")),
});
export const replaceSecretBody = z.strictObject({ reason: z.optional(reasonText) });

interface Replacement extends z.output<typeof replaceSecretBody> {
  readonly keeps_old: boolean;
}

/** Replaces the secret of a client. It is null if the same request replaced it before. */
export function replaceSecret(
  context: AppContext,
  client_key: RegistrationKey,
  { keeps_old, reason }: Replacement,
  key: string | undefined,
): Promise<OnceAnswer<SavedClient>> {
  const action = {
    act: "oauth_client.secret",
    subject: client_key.app_slug,
    reason: reason ?? null,
    details: { client: client_key.id, keeps_old },
    key,
  };
  const { oauth_records } = context.get("services");
  return performAction<SavedClient>(context, action, async (_, { audit_id, is_done }) => {
    if (is_done) {
      const client = await oauth_records.findClient(client_key);
      if (client === null) return refused({ code: "client_not_found" });
      return accepted({ value: { record: client, secret: null }, replayed: true });
    }
    const replaced = await oauth_records.replaceSecret(client_key, keeps_old, audit_id);
    if (!replaced.ok) return replaced;
    return accepted({ value: replaced.value, replayed: replaced.value.secret === null });
  });
}

export const postClientSecret = factory.createHandlers(
  validQuery(replaceSecretQuery),
  async (context) => {
    const body = await readOptionalBody(context, replaceSecretBody);
    if (!body.ok) return refuse(context, body.refusal);
    const replacement = { ...body.value, keeps_old: context.req.valid("query").now !== "true" };
    const key = idempotencyKey(context);
    const replaced = await replaceSecret(context, registrationKeyOf(context), replacement, key);
    return respondOnce(context, replaced, ({ record, secret }) => ({
      client_secret: secret,
      client: clientView(record),
    }));
  },
);

export const listClients = factory.createHandlers(async (context) => {
  const { oauth_records } = context.get("services");
  const listed = await oauth_records.listClients(context.req.param("slug") ?? "");
  if (!listed.ok) return refuse(context, listed.refusal);
  return context.json({ clients: listed.value.map(clientView) });
});

export const getClient = factory.createHandlers(async (context) => {
  const { oauth_records } = context.get("services");
  const client = await oauth_records.findClient(registrationKeyOf(context));
  if (client === null) return refuse(context, { code: "client_not_found" });
  return context.json({ client: clientView(client) });
});

export const deleteClient = factory.createHandlers(
  validQuery(removeClientQuery),
  async (context) => {
    const query = context.req.valid("query");
    const key = idempotencyKey(context);
    return respondDone(
      context,
      await removeClient(context, registrationKeyOf(context), query, key),
    );
  },
);
