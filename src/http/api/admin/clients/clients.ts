/** `/api/admin/apps/{slug}/clients`: the OAuth clients of an app. */
import * as z from "zod/mini";
import type { ClientRecord, RegistrationKey } from "../../../../operator/save_client.ts";
import { registeredClientId } from "../../../../domain/oauth_client.ts";
import { optionalReasonBody, reasonQuery } from "../../../../operator/audited_action.ts";
import { replaceSecret } from "../../../../operator/client_secret.ts";
import * as operator from "../../../../operator/delete_record.ts";
import { idProblem, saveClient, saveClientBody } from "../../../../operator/save_client.ts";
import { actingOf } from "../../../caller/acting.ts";
import { endpoint, type Facts } from "../../endpoint.ts";
import { refuse } from "../../../refusals.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";

/** The app and the record that the path names. */
export function recordKeyOf({
  slug,
  id,
}: Readonly<Record<"slug" | "id", string>>): RegistrationKey {
  return { app_slug: slug, id };
}

function clientView({ app_slug, created_at_ms, last_used_at_ms, ...rest }: ClientRecord) {
  const { last_audit_id: _, ...client } = rest;
  return {
    ...client,
    client_id: registeredClientId(app_slug, client.id),
    created_at: timestamp(created_at_ms),
    last_used_at: last_used_at_ms === null ? null : timestamp(last_used_at_ms),
  };
}

export const saveOAuthClient = endpoint(
  {
    at: "PUT /api/admin/apps/{slug}/clients/{id}",
    role: "admin",
    body: saveClientBody,
    refusals: [
      "app_not_found",
      "client_changed",
      "client_deleted",
      "limit_reached:clients",
      "client_not_found",
    ],
  },
  async (context, { params, body, key }) => {
    const client_key = recordKeyOf(params);
    const problem = idProblem(client_key.id);
    if (problem !== null) {
      return refuse(context, { code: "invalid_request", detail: `The client's id ${problem}.` });
    }
    const saved = await saveClient(await actingOf(context), client_key, { ...body, key });
    return respondOnce(context, saved, ({ record, secret }) => {
      const client = clientView(record);
      return {
        client,
        client_id: client.client_id,
        ...(secret === null ? {} : { client_secret: secret }),
      };
    });
  },
);

/** `now`: the old secret stops working too. */
const replaceSecretQuery = z.object({
  now: z.optional(z.enum(["true", "false"], "must be true or false")),
});

export const replaceClientSecret = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/clients/{id}/secret",
    role: "admin",
    query: replaceSecretQuery,
    body: optionalReasonBody,
    body_is_optional: true,
    refusals: ["client_not_found"],
  },
  async (context, { params, query, body, key }) => {
    const request = { ...body, keeps_old: query.now !== "true", key };
    const replaced = await replaceSecret(await actingOf(context), recordKeyOf(params), request);
    return respondOnce(context, replaced, ({ record, secret }) => ({
      client_secret: secret,
      client: clientView(record),
    }));
  },
);

export const listOAuthClients = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/clients",
    role: "viewer",
    refusals: ["app_not_found"],
  },
  async (context, { params }) => {
    const listed = await context.get("services").oauth_records.listClients(params.slug);
    if (!listed.ok) return refuse(context, listed.refusal);
    return context.json({ clients: listed.value.map(clientView) });
  },
);

export const readOAuthClient = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/clients/{id}",
    role: "viewer",
    refusals: ["client_not_found"],
  },
  async (context, { params }) => {
    const client = await context.get("services").oauth_records.findClient(recordKeyOf(params));
    if (client === null) return refuse(context, { code: "client_not_found" });
    return context.json({ client: clientView(client) });
  },
);

interface RemovalFacts extends Pick<Facts, "refusals"> {
  readonly at: `DELETE /api/admin/apps/{slug}/${"clients" | "resources" | "webhooks"}/{id}`;
  readonly caller?: "owner";
}

/** Deletes the record that the path names. */
export const removal = (facts: RemovalFacts, remove: typeof operator.deleteClient) =>
  endpoint(
    { ...facts, role: "admin", query: reasonQuery },
    async (context, { params, query, key }) => {
      const acting = await actingOf(context);
      return respondDone(context, await remove(acting, recordKeyOf(params), { ...query, key }));
    },
  );

export const deleteOAuthClient = removal(
  {
    at: "DELETE /api/admin/apps/{slug}/clients/{id}",
    refusals: ["client_not_found"],
  },
  operator.deleteClient,
);
