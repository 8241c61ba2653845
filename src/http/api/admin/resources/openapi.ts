/** Protected resources of apps in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { REGISTRATION_ID_PATTERN } from "../../../../domain/oauth_client.ts";
import { done, operation } from "../../../openapi/operation.ts";
import { record_version, time } from "../../../openapi/schemas.ts";
import { removeResourceQuery } from "./change.ts";
import { saveResourceBody } from "./save.ts";

const id = z.string().regex(REGISTRATION_ID_PATTERN);

const resource = z
  .strictObject({
    id,
    uri: z.string().describe("What clients send as `resource`, and the `aud` of its tokens."),
    scopes: z.array(z.string()).describe("The scopes that clients may request for it."),
    version: record_version,
    created_at: time,
  })
  .meta({ id: "Resource" });

const resource_list = z
  .strictObject({ resources: z.array(resource) })
  .meta({ id: "ResourceList", description: "All protected resources of the app, by id." });

const one_resource = z.strictObject({ resource }).meta({ id: "OneResource" });

const slug = z.object({ slug: z.string().meta({ examples: ["sketch"] }) });
const path = slug.extend({ id: id.meta({ examples: ["mcp"] }) });

const SETTINGS = { uri: "https://mcp.sketch.example.com/mcp", scopes: ["drawings:read"] };
const EXAMPLE = { id: "mcp", ...SETTINGS, version: 2, created_at: "2026-11-20T09:30:00.000Z" };
const ONE = { description: "The resource.", schema: one_resource, example: { resource: EXAMPLE } };

const common = { tag: "Apps", security: "operator" } as const;

export const resource_paths: ZodOpenApiPathsObject = {
  "/api/admin/apps/{slug}/resources": {
    get: operation({
      ...common,
      id: "listResources",
      summary: "The app's protected resources",
      description: "All of them, by id.",
      path: slug,
      success: {
        description: "The resources.",
        schema: resource_list,
        example: { resources: [EXAMPLE] },
      },
      refusals: ["app_unknown"],
    }),
  },
  "/api/admin/apps/{slug}/resources/{id}": {
    get: operation({
      ...common,
      id: "readResource",
      summary: "One protected resource of the app",
      description: "Its address and scopes.",
      path,
      success: ONE,
      refusals: ["resource_not_found"],
    }),
    put: operation({
      ...common,
      id: "saveResource",
      summary: "Register a protected resource, or change it",
      description:
        "A protected resource is an API or MCP server of the app that accepts this service's tokens. `uri` is https, or plain http on this machine, without query and fragment, and not on this service's own address. Clients must send exactly this address; only a slash after a bare origin does not matter. No two resources have the same address. `scopes` are the resource's own words, and none of `openid`, `profile`, `email`, `offline_access`, `read`, `write`, `upstream` and `admin`, which have a meaning here. To change a resource, send the `version` that you read; to register one, omit it or send 0. If the resource was saved in the meantime, or a new one's id is registered with other settings, the response is 409 `resource_changed` and nothing changes. Changes take effect everywhere within a minute.",
      path,
      body: { schema: saveResourceBody, example: { ...SETTINGS, version: 1 } },
      idempotent: true,
      success: ONE,
      refusals: [
        "app_unknown",
        "resource_changed",
        "resource_taken",
        "too_many_resources",
        "resource_not_found",
      ],
    }),
    delete: operation({
      ...common,
      id: "deleteResource",
      summary: "Delete a protected resource",
      description:
        "Within a minute no tokens are issued for it anywhere. Tokens that were issued work until they expire, at most ten minutes.",
      path,
      query: removeResourceQuery,
      idempotent: true,
      success: done,
      refusals: ["resource_not_found"],
    }),
  },
};
