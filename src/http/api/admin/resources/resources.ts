/** `/api/admin/apps/{slug}/resources`: the protected resources of an app. */
import type { ResourceRecord } from "../../../../operator/save_resource.ts";
import * as operator from "../../../../operator/delete_record.ts";
import { idProblem } from "../../../../operator/save_client.ts";
import * as resource from "../../../../operator/save_resource.ts";
import { actingOf } from "../../../caller/acting.ts";
import { endpoint } from "../../endpoint.ts";
import { refuse } from "../../../refusals.ts";
import { respondOnce, timestamp } from "../../../views.ts";
import { recordKeyOf, removal } from "../clients/clients.ts";
import { refuseField } from "../refuse_field.ts";

function resourceView({ version: saved, created_at_ms, ...record }: ResourceRecord) {
  const { id, uri, scopes, charges } = record;
  return { id, uri, scopes, charges, version: saved, created_at: timestamp(created_at_ms) };
}

export const saveResource = endpoint(
  {
    at: "PUT /api/admin/apps/{slug}/resources/{id}",
    role: "admin",
    body: resource.saveResourceBody,
    refusals: [
      "app_not_found",
      "resource_changed",
      "resource_taken",
      "limit_reached:resources",
      "resource_not_found",
    ],
  },
  async (context, { params, body, key }) => {
    const resource_key = recordKeyOf(params);
    const id_problem = idProblem(resource_key.id);
    if (id_problem !== null) {
      const detail = `The resource's id ${id_problem}.`;
      return refuse(context, { code: "invalid_request", detail });
    }
    const problem = resource.findResourceProblem(context.get("base_url"), body);
    if (problem !== null) return refuseField(context, problem);
    const saved = await resource.saveResource(await actingOf(context), resource_key, {
      ...body,
      key,
    });
    return respondOnce(context, saved, ({ record }) => ({ resource: resourceView(record) }));
  },
);

export const listResources = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/resources",
    role: "viewer",
    refusals: ["app_not_found"],
  },
  async (context, { params }) => {
    const listed = await context.get("services").oauth_records.listResources(params.slug);
    if (!listed.ok) return refuse(context, listed.refusal);
    return context.json({ resources: listed.value.map(resourceView) });
  },
);

export const readResource = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/resources/{id}",
    role: "viewer",
    refusals: ["resource_not_found"],
  },
  async (context, { params }) => {
    const resource = await context.get("services").oauth_records.findResource(recordKeyOf(params));
    if (resource === null) return refuse(context, { code: "resource_not_found" });
    return context.json({ resource: resourceView(resource) });
  },
);

export const deleteResource = removal(
  {
    at: "DELETE /api/admin/apps/{slug}/resources/{id}",
    refusals: ["resource_not_found"],
  },
  operator.deleteResource,
);
