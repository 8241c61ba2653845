/** OAuth clients of apps in the OpenAPI document. */
import * as z from "zod";
import { REGISTRATION_ID_PATTERN } from "../../../../domain/oauth_client.ts";
import { done, describe } from "../../../openapi/operation.ts";
import * as endpoints from "./clients.ts";
import { record_version, time } from "../../../openapi/schemas.ts";
import { named, text_or_null } from "../../../openapi/shapes.ts";

const id = z.string().regex(REGISTRATION_ID_PATTERN);

const client = named("OAuthClient", {
  id,
  client_id: z.string().describe("The value that the client sends as `client_id`."),
  name: z.string().describe("The name that people see on the consent page."),
  redirect_uris: z.array(z.string()),
  post_logout_redirect_uris: z
    .array(z.string())
    .describe("Where a browser may go after the client signed a person out."),
  public: z.boolean().describe("Without a secret."),
  pkce_optional: z.boolean(),
  version: record_version,
  created_at: time,
  last_used_at: time
    .nullable()
    .describe("The start of the UTC day on which it last got tokens; null: never."),
});

const client_page = named(
  "OAuthClientList",
  { clients: z.array(client) },
  "All OAuth clients of the app, by id.",
);

const one_client = named("OneOAuthClient", { client });

const saved_client = named("SavedOAuthClient", {
  client,
  client_id: z.string(),
  client_secret: z
    .string()
    .optional()
    .describe("Only in the response that made the client confidential."),
});

const replaced_secret = named("ReplacedClientSecret", {
  client_secret: text_or_null.describe(
    "The new secret. Null in the response to a retry, because it is shown only once.",
  ),
  client,
});

const path = { id: id.meta({ examples: ["web"] }) };

const SETTINGS = {
  name: "Sketch",
  redirect_uris: ["https://sketch.example.com/callback"],
  post_logout_redirect_uris: ["https://sketch.example.com/"],
  public: false,
  pkce_optional: false,
};

const EXAMPLE = {
  id: "web",
  client_id: "sketch~web",
  ...SETTINGS,
  version: 3,
  created_at: "2026-11-20T09:30:00.000Z",
  last_used_at: "2026-11-22T00:00:00.000Z",
};

export const clients = describe("Apps", endpoints, {
  listOAuthClients: {
    summary: "The app's OAuth clients",
    description: "All of them, by id. Their secrets are not stored, and so never shown again.",
    success: {
      description: "The clients.",
      schema: client_page,
      example: { clients: [EXAMPLE] },
    },
  },
  readOAuthClient: {
    summary: "One OAuth client of the app",
    description: "Its settings and the day of its last use.",
    path,
    success: { description: "The client.", schema: one_client, example: { client: EXAMPLE } },
  },
  saveOAuthClient: {
    summary: "Register an OAuth client, or replace its settings",
    description:
      "A redirect address is https, an own scheme such as `com.example.app:/callback`, or plain http on `127.0.0.1`, `[::1]` or `localhost`. It has no fragment and no wildcard, and is compared exactly; only the port of a loopback address may differ. A confidential client (`public: false`) authenticates with a secret of its own, which works only at `/oauth/*`. The response that makes a client confidential contains it as `client_secret`, only once: if you lost it, replace it. `pkce_optional` is only for confidential clients that cannot use PKCE. Omitted optional settings are `false` or empty. To change a client, send the `version` that you read; to register one, omit it or send 0. If the client was saved in the meantime, or a new one's id is registered with other settings, the response is 409 `client_changed` and nothing changes. Changes take effect everywhere within a minute.",
    path,
    example: { ...SETTINGS, version: 2 },
    success: {
      description: "The client.",
      schema: saved_client,
      example: { client: EXAMPLE, client_id: "sketch~web", client_secret: "pb_cs_4f0e…" },
    },
  },
  deleteOAuthClient: {
    summary: "Delete an OAuth client",
    description:
      "Within a minute it can neither ask a person for a connection nor get, renew or use tokens of this service; another resource that does not introspect them accepts them until they expire, at most ten minutes. Its id is not used again: registering it gets 409 `client_deleted`. Its secret ends with it. People still see its connections, and can end them.",
    path,
    success: done,
  },
  replaceClientSecret: {
    summary: "Replace the secret of a confidential client",
    description:
      "The new secret works within a minute. The old one works for 24 hours too, so that you can change one server after another; with `?now=true` it stops within a minute, and so do those that were replaced before it. A public client has no secret, so it gets 400.",
    path,
    example: { reason: "It was in a log" },
    success: {
      description: "The new secret and its client.",
      schema: replaced_secret,
      example: { client_secret: "pb_cs_4f0e…", client: EXAMPLE },
    },
  },
});
