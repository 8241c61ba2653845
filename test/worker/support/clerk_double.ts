/**
 * A stand-in for the one operation of Clerk's Backend API that Passbook calls. It checks each request and its own
 * responses against Clerk's API description (`clerk_bapi.json`), and runs inside workerd and in Node.
 */
import { Validator, type Schema } from "@cfworker/json-schema";
import clerk_bapi from "./clerk_bapi.json" with { type: "json" };

export const CLERK_SECRET_KEY = "sk_test_passbook";

const [OPERATION_PATH = ""] = Object.keys(clerk_bapi.paths);
const PATH = new RegExp(`^/v1${OPERATION_PATH.replaceAll(/\{\w+\}/g, "([^/]+)")}$`);

/** What Clerk holds for one connection of a person. */
export type ClerkConnection =
  | { readonly kind: "token"; readonly token: string }
  /** The authorization server refuses to renew the token. */
  | { readonly kind: "cannot_renew"; readonly code: string };

export interface ClerkDouble {
  /** Connects a person, by the id at Clerk, with a provider such as `github`. */
  connect(user_id: string, provider: string, connection: ClerkConnection): void;
  /** Makes a person known who has no connection. */
  addUser(user_id: string): void;
  /** Responds in place of the operation; null: the operation again. */
  respond(answer: (() => Response | Promise<Response>) | null): void;
  /** The paths of the requests. */
  readonly requests: readonly string[];
  handle(request: Request): Promise<Response>;
}

export function openClerk(): ClerkDouble {
  const users = new Map<string, Map<string, ClerkConnection>>();
  const requests: string[] = [];
  let instead: (() => Response | Promise<Response>) | null = null;
  const addUser = (user_id: string): Map<string, ClerkConnection> => {
    const connections = users.get(user_id) ?? new Map<string, ClerkConnection>();
    users.set(user_id, connections);
    return connections;
  };
  const answer = (request: Request): Response => {
    const url = new URL(request.url);
    const [, user_id = "", strategy = ""] = PATH.exec(url.pathname) ?? [];
    if (request.headers.get("Authorization") !== `Bearer ${CLERK_SECRET_KEY}`) {
      return failure(400, "ClerkErrors", "authentication_invalid", 401);
    }
    const connections = users.get(decodeURIComponent(user_id));
    if (connections === undefined) return failure(404, "ResourceNotFound", "resource_not_found");
    if (!/^oauth_\w+$/.test(strategy)) {
      return failure(400, "ClerkErrors", "unsupported_oauth_provider");
    }
    const connection = connections.get(strategy);
    if (connection?.kind === "cannot_renew") {
      return failure(400, "ClerkErrors", connection.code);
    }
    const tokens = connection === undefined ? [] : [tokenOf(strategy, connection.token)];
    expectSchema("OAuthAccessToken", tokens);
    // The official client always asks for pages.
    const is_paged = url.searchParams.get("paginated") === "true";
    return Response.json(is_paged ? { data: tokens, total_count: tokens.length } : tokens);
  };
  return {
    requests,
    addUser: (user_id) => void addUser(user_id),
    connect: (user_id, provider, connection) =>
      void addUser(user_id).set(`oauth_${provider}`, connection),
    respond: (next) => {
      instead = next;
    },
    async handle(request) {
      requests.push(new URL(request.url).pathname);
      return (await instead?.()) ?? answer(request);
    },
  };
}

function tokenOf(provider: string, token: string) {
  return {
    object: "oauth_access_token",
    external_account_id: "eac_1",
    provider_user_id: "4711",
    token,
    expires_at: null,
    provider,
    public_metadata: {},
    label: null,
    scopes: ["read:user"],
  };
}

function failure(
  documented: 400 | 404 | 422,
  response: keyof typeof clerk_bapi.components.responses,
  code: string,
  status: number = documented,
): Response {
  const body = { errors: [{ message: code, long_message: code, code }], clerk_trace_id: "trace" };
  const { $ref } = clerk_bapi.components.responses[response].content["application/json"].schema;
  expectSchema($ref.slice("#/components/schemas/".length), body);
  return Response.json(body, { status });
}

/** @throws if a body does not match the description. */
function expectSchema(name: string, body: unknown): void {
  const schemas = toJsonSchema(clerk_bapi.components.schemas) as Record<string, Schema>;
  const schema = { components: { schemas }, $ref: `#/components/schemas/${name}` };
  const { valid, errors } = new Validator(schema, "2020-12").validate(body);
  if (!valid) throw new Error(`not what Clerk's API describes: ${JSON.stringify(errors)}`);
}

/** `nullable` of OpenAPI 3.0 is a type of JSON Schema. */
function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...rest } = value as Record<string, unknown>;
  const schema = Object.fromEntries(
    Object.entries(rest).map(([key, member]) => [key, toJsonSchema(member)]),
  );
  return nullable === true ? { ...schema, type: [schema["type"], "null"] } : schema;
}
