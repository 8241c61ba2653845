/** Protected resources of apps in the OpenAPI document. */
import * as z from "zod";
import { REGISTRATION_ID_PATTERN } from "../../../../domain/oauth_client.ts";
import { done, describe } from "../../../openapi/operation.ts";
import * as endpoints from "./resources.ts";
import { record_version, time } from "../../../openapi/schemas.ts";
import { named } from "../../../openapi/shapes.ts";

const id = z.string().regex(REGISTRATION_ID_PATTERN);

const resource = named("Resource", {
  id,
  uri: z
    .string()
    .describe("The value that clients send as `resource`, and the `aud` of its tokens."),
  scopes: z.array(z.string()).describe("The scopes that clients may request for it."),
  charges: z
    .boolean()
    .describe("Whether people who connect a client to it let the app charge them for it."),
  version: record_version,
  created_at: time,
});

const resource_list = named(
  "ResourceList",
  { resources: z.array(resource) },
  "All protected resources of the app, by id.",
);

const one_resource = named("OneResource", { resource });

const path = { id: id.meta({ examples: ["mcp"] }) };

const SETTINGS = {
  uri: "https://mcp.sketch.example.com/mcp",
  scopes: ["drawings:read"],
  charges: true,
};
const EXAMPLE = { id: "mcp", ...SETTINGS, version: 2, created_at: "2026-11-20T09:30:00.000Z" };
const ONE = { description: "The resource.", schema: one_resource, example: { resource: EXAMPLE } };

export const resources = describe("Apps", endpoints, {
  listResources: {
    summary: "The app's protected resources",
    description: "All of them, by id.",
    success: {
      description: "The resources.",
      schema: resource_list,
      example: { resources: [EXAMPLE] },
    },
  },
  readResource: {
    summary: "One protected resource of the app",
    description: "Its address, its scopes, and whether it charges.",
    path,
    success: ONE,
  },
  saveResource: {
    summary: "Register a protected resource, or change it",
    description:
      "A protected resource is an API or MCP server of the app that accepts this service's tokens. `uri` is https, or plain http on this machine, without query and fragment, and not on this service's own address. Clients must send exactly this address; only a slash after a bare origin does not matter. No two resources have the same address. `scopes` are the resource's own words, and none of `openid`, `profile`, `email`, `offline_access`, `read`, `write`, `upstream`, `charge` and `admin`, which have a meaning here. With `charges` (default false), a person who connects a client to it sets a limit for the app, and the app's confidential clients exchange the tokens for it for tokens that may charge within this limit; people who connected a client before are asked again. To change a resource, send the `version` that you read; to register one, omit it or send 0. If the resource was saved in the meantime, or a new one's id is registered with other settings, the response is 409 `resource_changed` and nothing changes. Changes take effect everywhere within a minute.",
    path,
    example: { ...SETTINGS, version: 1 },
    success: ONE,
  },
  deleteResource: {
    summary: "Delete a protected resource",
    description:
      "Within a minute no tokens are issued for it anywhere. Tokens that were issued work until they expire, at most ten minutes.",
    path,
    success: done,
  },
});
