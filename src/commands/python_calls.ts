/** The calls of the Python client, written from the operations of the OpenAPI document. */
import { isFlag, type Schema, type Schemas } from "./client_types.ts";
import { docstring, pascal, PythonTypes } from "./python_types.ts";

/** The part of an OpenAPI document that the calls need. */
export interface Operations {
  readonly components: { readonly schemas: Schemas };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Operation {
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

export interface Parameter {
  readonly in: "query" | "path" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** The calls in one account, and one of another tag: who the caller is. */
const ACCOUNT_CALLS: readonly string[] = ["Wallet", "Jobs", "Access", "readMe"];

/** Calls that the other clients call by a short name, which Python has too. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  readWallet: "wallet",
  readMe: "me",
  startCheckout: "checkout",
};

/** The calls that operators and an app's key have. An app's key names its app by itself. */
const WEBHOOK_CALLS: readonly string[] = ["Webhooks"];

/** The other calls that an app's key may make without an account. */
const APP_CALLS: readonly string[] = ["readApp", "listJobs"];

const OPERATORS_PREFIX = "/api/admin/";

const JSON_TYPE = "application/json";

const HEADER = (what: string): string =>
  `"""${what} Generated from docs/openapi.json by \`npm run openapi\`: do not change this file."""\n` +
  "from __future__ import annotations\n\n";

interface PythonFiles {
  readonly types: string;
  readonly calls: string;
  readonly async_calls: string;
}

/** The two generated modules. */
export function pythonClient(document: Operations): PythonFiles {
  const types = new PythonTypes(document.components.schemas);
  const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, { responses }]) => responses["200"]?.content?.[JSON_TYPE] !== undefined)
      .map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  );
  const methodsOf = (
    isWanted: (call: (typeof operations)[number]) => boolean,
    form: Form,
  ): string =>
    operations
      .filter(isWanted)
      .flatMap(({ verb, path, operation }) =>
        methodsOfOperation(verb, path, operation, form, types),
      )
      .join("\n");
  const isIn = (names: readonly string[]) => (call: (typeof operations)[number]) =>
    names.some(
      (name) => name === call.operation.operationId || call.operation.tags?.includes(name),
    );
  const calls = methodsOf(isIn(ACCOUNT_CALLS), "account");
  const app_calls = methodsOf(isIn([...APP_CALLS, ...WEBHOOK_CALLS]), "app");
  const admin_calls = methodsOf((call) => call.path.startsWith(OPERATORS_PREFIX), "operator");
  // No generated call returns them: an app's server receives the first, and the client has calls of its own for the others.
  for (const name of ["WebhookEvent", "AccountEvent", "DeviceAuthorization", "PersonalToken"]) {
    types.typeOf({ $ref: `#/components/schemas/${name}` }, name);
  }
  const imports =
    "from abc import ABC, abstractmethod\nfrom datetime import datetime\nfrom types import EllipsisType\n" +
    "from typing import Any, Literal, Mapping, Sequence\nfrom urllib.parse import quote\n\n" +
    "from . import types\nfrom .call import Call\n\n\n";
  const account = classOf("AsyncCalls", "ABC", "The calls in one account.", SEND + calls);
  return {
    async_calls:
      HEADER("The calls of the API, as coroutines.") +
      imports +
      account
        .replaceAll("    def ", "    async def ")
        .replaceAll("return self._send(", "return await self._send("),
    types:
      HEADER("The JSON of requests and responses, field for field as in the API.") +
      "from typing import Any, Literal, TypedDict\n\n\n" +
      types.declarations().join("\n\n"),
    calls:
      HEADER("The calls of the API.") +
      imports +
      [
        classOf("Calls", "ABC", "The calls in one account.", SEND + calls),
        classOf(
          "AppCalls",
          "ABC",
          "The calls that concern an app's server itself.",
          SEND + SLUG + app_calls,
        ),
        classOf("AdminCalls", "ABC", "The calls of operators.", SEND + admin_calls),
      ].join("\n\n"),
  };
}

const SEND =
  "    @abstractmethod\n" +
  '    def _send(self, call: Call) -> Any:\n        """Sends the call, with retries if they are safe."""\n\n';

const SLUG =
  "    @abstractmethod\n" +
  '    def _slug(self) -> str:\n        """The slug of the app whose key it is."""\n\n';

function classOf(name: string, parent: string, about: string, methods: string): string {
  return (
    `class ${name}(${parent}):\n` +
    docstring(`${about} Each sends one request, and returns the body of its response.`, "    ") +
    `\n${methods}`
  );
}

/** Some responses have one form in an account and another one for an app. Operators' calls return either form. */
type Form = "account" | "app" | "operator";

const KEY = { field: "", type: "str", is_required: false, is_nullable: false };

interface Argument {
  readonly name: string;
  readonly field: string;
  readonly type: string;
  readonly is_required: boolean;
  readonly is_nullable: boolean;
}

/** The method of an operation, and a second one if it also responds with CSV. */
function methodsOfOperation(
  verb: string,
  path: string,
  operation: Operation,
  form: Form,
  types: PythonTypes,
): readonly string[] {
  const { operationId, parameters = [], summary, description } = operation;
  const id = pascal(operationId.charAt(0).toUpperCase() + operationId.slice(1));
  const argumentsIn = (place: Parameter["in"]): readonly Argument[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, schema }) =>
        argumentOf(name, schema, required, (it) => requestType(it, id, types)),
      );
  const in_query = argumentsIn("query");
  const in_path = argumentsIn("path").filter(({ name }) => form !== "app" || name !== "slug");
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const in_body = Object.entries(body?.properties ?? {}).map(([name, schema]) =>
    argumentOf(name, schema, body?.required?.includes(name) === true, (it) =>
      requestType(it, id + pascal(name), types),
    ),
  );
  const is_keyed = parameters.some(({ name }) => name === "Idempotency-Key");
  // A step is a key too, so such a call may also be repeated.
  const is_repeatable = "Idempotency-Replayed" in (operation.responses["200"]?.headers ?? {});
  const key: Argument[] = is_keyed ? [{ ...KEY, name: "idempotency_key" }] : [];
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
  const response = content.anyOf?.[["account", "app"].indexOf(form)] ?? content;
  const result = types.typeOf(response, `${id}Response`);
  const nullable = in_body
    .filter(({ is_nullable }) => is_nullable)
    .map(({ field }) => `"${field}"`);
  const request = [
    `"${verb}"`,
    pathOf(form === "app" ? path.replace("{slug}", "{self._slug()}") : path),
    ...(in_query.length > 0 ? [`query=${dict(in_query)}`] : []),
    ...(body === undefined ? [] : [`body=${dict(in_body)}`]),
    ...(nullable.length > 0 ? [`nullable=(${nullable.join(", ")},)`] : []),
    ...(is_repeatable ? ["keyed=True"] : []),
    ...(is_keyed ? ["idempotency_key=idempotency_key"] : []),
  ];
  const signature = given.length === 1 ? "self" : `\n${lines(given, "        ")}    `;
  const method = (name: string, type: string, text: string, options: readonly string[]): string =>
    `    def ${name}(${signature}) -> ${type}:\n` +
    docstring(text, "        ") +
    `        return self._send(\n            Call(\n${lines(options, "                ")}` +
    "            )\n        )\n";
  const text = [summary, description].filter((part) => part !== undefined).join(". ");
  const field = `field="${types.requiredFields(response)[0] ?? ""}"`;
  const name = SHORT_NAMES[operationId] ?? snake(operationId);
  const read = method(name, qualified(result, types), text, [...request, field]);
  const has_csv = operation.responses["200"]?.content?.["text/csv"] !== undefined;
  const csv = () =>
    method(`${name}_csv`, "str", `${summary ?? ""}, as CSV`, [...request, "csv=True"]);
  return has_csv ? [read, csv()] : [read];
}

function lines(parts: readonly string[], indent: string): string {
  return parts.map((part) => `${indent}${part},\n`).join("");
}

/** Null has a meaning of its own in some fields, so `...` stands for an omitted one. */
function declared({ name, type, is_required, is_nullable }: Argument): string {
  if (is_required) return `${name}: ${type}`;
  return is_nullable ? `${name}: ${type} | EllipsisType = ...` : `${name}: ${type} | None = None`;
}

function argumentOf(
  field: string,
  schema: Schema,
  is_required: boolean,
  typeOf: (schema: Schema) => string,
): Argument {
  const name = field === "from" ? "from_" : field;
  const is_nullable = [schema, ...(schema.anyOf ?? [])].some(({ type }) =>
    [type].flat().includes("null"),
  );
  return { name, field, type: typeOf(schema), is_required, is_nullable };
}

/** Requests take more than responses give: any mapping and sequence, and times as `datetime`. */
function requestType(schema: Schema, name: string, types: PythonTypes): string {
  if (isFlag(schema)) return "bool";
  if (schema.type === "object" && schema.properties === undefined) return "Mapping[str, Any]";
  if (schema.items !== undefined)
    return `Sequence[${qualified(types.typeOf(schema.items, name), types)}]`;
  const type = qualified(types.typeOf(schema, name), types);
  return schema.format === "date-time" ? `${type} | datetime` : type;
}

/** The names of declared types with their module. */
function qualified(type: string, types: PythonTypes): string {
  return type.replaceAll(/\w+/g, (name) => (types.names().includes(name) ? `types.${name}` : name));
}

function pathOf(path: string): string {
  if (!path.includes("{")) return JSON.stringify(path);
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
