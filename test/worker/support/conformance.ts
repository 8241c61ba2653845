/** Checks responses against the OpenAPI document. `test/worker/support/passbook.ts` checks every one. */
import { Validator } from "@cfworker/json-schema";
import document from "../../../docs/openapi.json";

type Json = Readonly<Record<string, unknown>>;

export interface HeaderObject {
  readonly required?: boolean;
  readonly schema: Json;
}

type Content = Readonly<Record<string, { readonly schema: Json; readonly example?: unknown }>>;

interface ResponseObject {
  readonly headers?: Readonly<Record<string, HeaderObject | { readonly $ref: string }>>;
  readonly content?: Content;
}

export interface ParameterObject {
  readonly in: "query" | "path" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Json;
}

export interface OperationObject {
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly operationId: string;
  readonly security: readonly Json[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

export const paths = document.paths as unknown as Readonly<
  Record<string, Readonly<Record<string, OperationObject>>>
>;

const components = document.components as unknown as {
  readonly headers: Readonly<Record<string, HeaderObject>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly schemas: Readonly<Record<string, Json>>;
};

/** Headers that every response may have. Any other must be documented for its operation. */
const EVERYWHERE = new Set([
  "access-control-allow-credentials",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "cache-control",
  "content-length",
  "content-security-policy",
  "content-type",
  "cross-origin-opener-policy",
  "origin-agent-cluster",
  "passbook-request-id",
  "referrer-policy",
  "strict-transport-security",
  "vary",
  "x-content-type-options",
  "x-dns-prefetch-control",
  "x-download-options",
  "x-frame-options",
  "x-permitted-cross-domain-policies",
  "x-xss-protection",
]);

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/**
 * @throws Error with what the document does not have.
 */
export function expectDocumented(method: string, url: string, answer: Answered): void {
  if (method === "HEAD" || method === "OPTIONS") return;
  const { pathname } = new URL(url);
  if (leadsToHttps(url, answer)) return;
  const operation = findOperation(method, pathname);
  const where = `${method} ${pathname} → ${answer.status}`;
  if (operation === null) return expectUnknown(pathname, answer, where);
  const response = resolve(operation.responses[String(answer.status)]);
  if (response === null) throw new Error(`${where} is not in the document: ${answer.text}`);
  checkHeaders(response, answer, where);
  checkBody(response, answer, where);
}

/** Finds the operation of a path. A fixed path has priority over one with a parameter. */
function findOperation(method: string, pathname: string): OperationObject | null {
  const verb = method.toLowerCase();
  const fixed = paths[pathname]?.[verb];
  if (fixed !== undefined) return fixed;
  for (const [path, item] of Object.entries(paths)) {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
    if (path.includes("{") && pattern.test(pathname) && item[verb] !== undefined) return item[verb];
  }
  return null;
}

/** The document describes the redirect of plain http once for all pages. */
function leadsToHttps(url: string, { status, headers }: Answered): boolean {
  const { host, pathname, search } = new URL(url);
  return status === 308 && headers.get("Location") === `https://${host}${pathname}${search}`;
}

/** Codes that every address may return, also an unknown one. */
const ANYWHERE = new Set([
  "misconfigured",
  "internal",
  "unavailable",
  "method_not_allowed",
  "unknown_host",
  "https_required",
]);

/** The document has no pages. An address of the API that it does not have does not exist. */
function expectUnknown(pathname: string, { status, body, text }: Answered, where: string): void {
  if (!pathname.startsWith("/api/")) return;
  const { code } = (body ?? {}) as { code?: unknown };
  // Non-operators cannot find out which routes exist.
  const of_operators = ["unauthorized", "token_expired", "not_operator", "suspended", "scope"];
  if (pathname.startsWith("/api/admin/") && of_operators.includes(String(code))) return;
  if (ANYWHERE.has(String(code)) || (status === 404 && code === "not_found")) return;
  throw new Error(`${where} is an endpoint that the document does not know: ${text}`);
}

function resolve(
  response: ResponseObject | { readonly $ref: string } | undefined,
): ResponseObject | null {
  if (response === undefined) return null;
  if (!("$ref" in response)) return response;
  return components.responses[response.$ref.replace("#/components/responses/", "")] ?? null;
}

function checkHeaders({ headers = {} }: ResponseObject, answer: Answered, where: string): void {
  const documented = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  for (const name of answer.headers.keys()) {
    // A response to any request may renew a browser's cookies.
    if (name === "set-cookie" && answer.status >= 400) continue;
    if (!EVERYWHERE.has(name) && !documented.has(name)) {
      throw new Error(`${where}: the header ${name} is not in the document`);
    }
  }
  for (const [name, header] of Object.entries(headers)) {
    const described = "$ref" in header ? components.headers[name] : header;
    if (described === undefined) throw new Error(`${where}: no component describes ${name}`);
    const value = answer.headers.get(name);
    if (value !== null) check(described.schema, value, where);
    else if (described.required === true) {
      throw new Error(`${where}: the header ${name} is missing`);
    }
  }
}

function checkBody({ content }: ResponseObject, { headers, text, body }: Answered, where: string) {
  const [type = ""] = (headers.get("Content-Type") ?? "").split(";");
  if (content === undefined) {
    if (text !== "") throw new Error(`${where} has a body that is not in the document: ${text}`);
    return;
  }
  const media = content[type];
  if (media === undefined) throw new Error(`${where}: "${type}" is not in the document`);
  if (type !== "application/json") return;
  // The validator makes addresses of keys, which is impossible for half a character.
  const whole: unknown = JSON.parse(JSON.stringify(body).replace(/\\ud[89a-f][0-9a-f]{2}/g, "?"));
  check(media.schema, whole, `${where} ${text}`);
}

const validators = new WeakMap<object, Validator>();

/**
 * @throws Error if a value does not match a schema of the document.
 */
export function check(schema: Json, value: unknown, where: string): void {
  const validator = validators.get(schema) ?? new Validator({ ...schema, components }, "2020-12");
  validators.set(schema, validator);
  const { valid, errors } = validator.validate(value);
  if (valid) return;
  const problems = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  throw new Error(`${where} is not what the document says:\n${problems.join("\n")}`);
}
