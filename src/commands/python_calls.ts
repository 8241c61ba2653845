/** The calls of the Python client, written from the operations of the OpenAPI document. */
import type { Schema, Schemas } from "./client_types.ts";
import { createPythonTypes, docstring, pascal, type PythonTypes } from "./python_types.ts";

/** The part of an OpenAPI document that the calls need. */
export interface Operations {
  readonly components: { readonly schemas: Schemas };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly content?: Content; readonly headers?: object }>
  >;
}

interface Parameter {
  readonly in: "query" | "path" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** Operators use the TypeScript client or the command line. */
const TAGS: readonly string[] = ["Wallet", "Jobs"];

/** Calls of other tags: who the caller is, and the renewal of their token. */
const OTHERS: readonly string[] = ["readMe", "issueSessionToken"];

/** What an app's key may call without an account. */
const APP_TAGS: readonly string[] = ["Webhooks"];
const APP_OTHERS: readonly string[] = ["readApp", "listJobs"];

const JSON_TYPE = "application/json";

const HEADER = (what: string): string =>
  `"""${what} Generated from docs/openapi.json by \`npm run openapi\`: do not change this file."""\n` +
  "from __future__ import annotations\n\n";

export interface PythonFiles {
  readonly types: string;
  readonly calls: string;
}

/** The two generated modules. */
export function pythonClient(document: Operations): PythonFiles {
  const types = createPythonTypes(document.components.schemas);
  const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, { responses }]) => responses["200"]?.content?.[JSON_TYPE] !== undefined)
      .map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  );
  const methodsOf = (
    tags: readonly string[],
    others: readonly string[],
    in_account: boolean,
  ): string =>
    operations
      .filter(({ operation }) => isOneOf(operation, tags, others))
      .map(({ verb, path, operation }) => methodOf(verb, path, operation, in_account, types))
      .join("\n");
  const calls = methodsOf(TAGS, OTHERS, true);
  const app_calls = methodsOf(APP_TAGS, APP_OTHERS, false);
  // No call returns it: an app's server receives it.
  types.typeOf({ $ref: "#/components/schemas/WebhookEvent" }, "WebhookEvent");
  return {
    types:
      HEADER("The JSON of requests and responses, field for field as in the API.") +
      "from typing import Any, Literal, TypedDict\n\n\n" +
      types.declarations().join("\n\n"),
    calls:
      HEADER("The calls of the API.") +
      "from abc import ABC, abstractmethod\nfrom datetime import datetime\n" +
      "from typing import Any, Literal, Mapping, Sequence\nfrom urllib.parse import quote\n\n" +
      "from . import types\nfrom .call import Call\n\n\n" +
      classOf("Calls", "The calls in one account.", calls) +
      "\n\n" +
      classOf("AppCalls", "The calls of an app's server that concern the app itself.", app_calls),
  };
}

function classOf(name: string, about: string, methods: string): string {
  return (
    `class ${name}(ABC):\n` +
    docstring(`${about} Each sends one request, and returns the body of its response.`, "    ") +
    "\n    @abstractmethod\n" +
    '    def _send(self, call: Call) -> Any:\n        """Sends the call, with retries if they are safe."""\n\n' +
    methods
  );
}

function isOneOf(
  { operationId, tags = [] }: Operation,
  called_tags: readonly string[],
  others: readonly string[],
): boolean {
  return others.includes(operationId) || tags.some((tag) => called_tags.includes(tag));
}

interface Argument {
  readonly name: string;
  readonly field: string;
  readonly type: string;
  readonly is_required: boolean;
}

function methodOf(
  verb: string,
  path: string,
  operation: Operation,
  in_account: boolean,
  types: PythonTypes,
): string {
  const { operationId, parameters = [], summary, description } = operation;
  const id = pascal(operationId.charAt(0).toUpperCase() + operationId.slice(1));
  const argumentsIn = (place: Parameter["in"]): readonly Argument[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, schema }) =>
        argumentOf(name, schema, required, (it) => requestType(it, id, types)),
      );
  const [in_path, in_query] = [argumentsIn("path"), argumentsIn("query")];
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const in_body = Object.entries(body?.properties ?? {}).map(([name, schema]) =>
    argumentOf(name, schema, body?.required?.includes(name) === true, (it) =>
      requestType(it, id + pascal(name), types),
    ),
  );
  const is_keyed = parameters.some(({ name }) => name === "Idempotency-Key");
  // A step is a key too, so such a call may also be repeated.
  const is_repeatable = "Idempotency-Replayed" in (operation.responses["200"]?.headers ?? {});
  const key: Argument[] = is_keyed
    ? [{ name: "idempotency_key", field: "", type: "str", is_required: false }]
    : [];
  const all = [...in_path, ...in_query, ...in_body, ...key];
  const named = all.filter((it) => !in_path.includes(it));
  const given = [
    "self",
    ...in_path.map(declared),
    ...(named.length > 0 ? ["*"] : []),
    ...named.filter((it) => it.is_required).map(declared),
    ...named.filter((it) => !it.is_required).map(declared),
  ];
  const content = operation.responses["200"]?.content?.[JSON_TYPE]?.schema ?? {};
  // The first shape is that of a request in an account.
  const response = content.anyOf?.[in_account ? 0 : 1] ?? content;
  const result = types.typeOf(response, `${id}Response`);
  const options = [
    `"${verb}"`,
    pathOf(path, in_path),
    ...(in_query.length > 0 ? [`query=${dict(in_query)}`] : []),
    ...(body === undefined ? [] : [`body=${dict(in_body)}`]),
    ...(is_repeatable ? ["keyed=True"] : []),
    ...(is_keyed ? ["idempotency_key=idempotency_key"] : []),
    `field="${types.requiredFields(response)[0] ?? ""}"`,
  ];
  const text = [summary, description].filter((part) => part !== undefined).join(". ");
  const signature = given.length === 1 ? "self" : `\n${lines(given, "        ")}    `;
  return (
    `    def ${snake(operationId)}(${signature}) -> ${qualified(result, types)}:\n` +
    docstring(text, "        ") +
    `        return self._send(\n            Call(\n${lines(options, "                ")}` +
    "            )\n        )\n"
  );
}

function lines(parts: readonly string[], indent: string): string {
  return parts.map((part) => `${indent}${part},\n`).join("");
}

function declared({ name, type, is_required }: Argument): string {
  return is_required ? `${name}: ${type}` : `${name}: ${type} | None = None`;
}

function argumentOf(
  field: string,
  schema: Schema,
  is_required: boolean,
  typeOf: (schema: Schema) => string,
): Argument {
  return { name: field === "from" ? "from_" : field, field, type: typeOf(schema), is_required };
}

/** Requests take more than responses give: any mapping and sequence, and times as `datetime`. */
function requestType(schema: Schema, name: string, types: PythonTypes): string {
  if (schema.type === "object" && schema.properties === undefined) return "Mapping[str, Any]";
  if (schema.items !== undefined)
    return `Sequence[${qualified(types.typeOf(schema.items, name), types)}]`;
  const type = qualified(types.typeOf(schema, name), types);
  return schema.format === "date-time" ? `${type} | datetime` : type;
}

/** The name of a declared type with its module. */
function qualified(type: string, types: PythonTypes): string {
  return types.names().includes(type) ? `types.${type}` : type;
}

function pathOf(path: string, args: readonly Argument[]): string {
  if (args.length === 0) return JSON.stringify(path);
  return `f"${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{quote(${name}, safe='')}`)}"`;
}

function dict(args: readonly Argument[]): string {
  return `{${args.map(({ name, field }) => `"${field}": ${name}`).join(", ")}}`;
}

/** `readOAuthToken` becomes `read_oauth_token`. */
function snake(name: string): string {
  return name
    .replaceAll("OAuth", "Oauth")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
