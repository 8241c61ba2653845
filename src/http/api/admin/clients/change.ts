/** `GET …/clients`, `GET …/clients/{id}` and `DELETE …/clients/{id}` of an app. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, validQuery } from "../../../validation.ts";
import { respondDone } from "../../../views.ts";
import { performActionOnce, reason as reasonText } from "../audited_action.ts";
import { clientView, registrationKeyOf, type RegistrationKey } from "./save.ts";

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
