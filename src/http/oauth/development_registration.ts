/**
 * Dynamic client registration (RFC 7591), only in development: the official MCP clients accept only documents at https
 * addresses, and no document on a developer's machine has one. Nothing is stored: the client's id is the address of its document
 * at this service, and that address has all that the client sent.
 */
import { base64url } from "jose";
import { CLIENT_ID_MAX_LENGTH } from "../../domain/oauth_client.ts";
import { isWebRedirect } from "../../domain/redirect_match.ts";
import { factory } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

export const REGISTRATION_PATH = "/oauth/register";

/** Clients by the first version of the Model Context Protocol try this path if the metadata names none. */
export const GUESSED_REGISTRATION_PATH = "/register";

const CLIENTS_PATH = "/oauth/clients/development";

/** The route of the documents. */
export const DEVELOPMENT_CLIENT_PATH = `${CLIENTS_PATH}/:client`;

const NOT_FOUND = { code: "not_found" } as const;

/** What a client may say about itself that its document repeats. */
interface Registration {
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
}

export const registerDevelopmentClient = factory.createHandlers(async (context) => {
  if (!context.get("services").config.dev_signin) return context.json(NO_REGISTRATION, 404);
  const sent = readRegistration(await context.req.text());
  if (sent === null) return context.json(INVALID_REDIRECT_URI, 400);
  const name = base64url.encode(JSON.stringify(sent));
  const client_id = `${context.get("base_url")}${CLIENTS_PATH}/${name}`;
  if (client_id.length > CLIENT_ID_MAX_LENGTH) return context.json(TOO_LONG, 400);
  return context.json(documentOf(client_id, sent), 201);
});

export const readDevelopmentClient = factory.createHandlers((context) => {
  const name = context.req.param("client") ?? "";
  const sent = context.get("services").config.dev_signin ? readRegistration(decode(name)) : null;
  if (sent === null) return refuseByAccept(context, NOT_FOUND);
  return context.json(documentOf(`${context.get("base_url")}${CLIENTS_PATH}/${name}`, sent));
});

/** SDKs show the whole response to their developer. */
const NO_REGISTRATION = {
  error: "invalid_client_metadata",
  error_description:
    "This service registers no clients by request. Publish a client metadata document at an https address, and give your SDK that address (client_metadata_url); or use a client that an operator registered.",
};

/** RFC 7591, section 3.2.2. */
const INVALID_REDIRECT_URI = {
  error: "invalid_redirect_uri",
  error_description:
    "Send JSON with redirect_uris: each https, or http on 127.0.0.1, [::1] or localhost.",
};

const TOO_LONG = {
  error: "invalid_client_metadata",
  error_description: "The name and the redirect addresses are too long. Send fewer addresses.",
};

/** The address would get too long with all that clients send. Null: the client has no redirect address that can be used. */
function readRegistration(text: string): Registration | null {
  const sent = parse(text) as { client_name?: unknown; redirect_uris?: unknown } | null;
  const sent_uris: readonly unknown[] = Array.isArray(sent?.redirect_uris)
    ? sent.redirect_uris
    : [];
  const redirect_uris = sent_uris.filter(
    (uri): uri is string => typeof uri === "string" && isWebRedirect(uri),
  );
  if (redirect_uris.length === 0) return null;
  const { client_name } = sent ?? {};
  return { ...(typeof client_name === "string" ? { client_name } : {}), redirect_uris };
}

function documentOf(client_id: string, registration: Registration) {
  return {
    client_id,
    ...registration,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

function decode(name: string): string {
  try {
    return new TextDecoder().decode(base64url.decode(name));
  } catch {
    return "";
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
