/** The operators' calls of the client, written from the operations of the OpenAPI document. */
import { comment, isFlag, typeOf, type Schema, type Schemas } from "./client_types.ts";
import type { AdminField, AdminOperation } from "../client/admin/operation.ts";
import type { Operation, Operations, Parameter } from "./python_calls.ts";

const HEADER = `/**
 * The operators' calls. Generated from docs/openapi.json by \`npm run openapi\`: change the operations there, not this file.
 */`;

/** The operators' operations have these paths. */
const PREFIX = "/api/admin/";

/** An interface with one method for each operation, and a table of the same operations for programs. */
export function operatorCalls(document: Operations): { types: string; table: string } {
  const { schemas } = document.components;
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(PREFIX))
    .flatMap(([path, verbs]) =>
      Object.entries(verbs).map(([verb, operation]) => ({ verb, path, operation })),
    );
  const enumerations = enumerationsOf(schemas);
  const methods = operations.map(({ operation }) => methodsOf(operation, enumerations)).join("");
  const rows = operations.map(({ verb, path, operation }) => {
    const { operationId: id, summary = "", description } = operation;
    const row: AdminOperation = {
      id,
      method: verb.toUpperCase() as AdminOperation["method"],
      path,
      summary,
      ...(description === undefined ? {} : { description }),
      ...(isKeyed(operation) ? { keyed: true } : {}),
      ...(hasCsv(operation) ? { csv: true } : {}),
      fields: fieldsOf(operation),
      shapes: shapesOf(responseOf(operation), schemas),
    };
    return `${JSON.stringify(row)},\n`;
  });
  const used = operations.flatMap(({ operation }) => {
    const inputs = inputsOf(operation);
    const described = JSON.stringify([responseOf(operation), inputs]);
    const parts = [...described.matchAll(/#\/components\/schemas\/(\w+)/g)];
    const values = inputs.flatMap(({ schema }) => enumerations.get(valuesOf(schema)) ?? []);
    return [...parts.map(([, name]) => name), ...values];
  });
  return {
    types:
      `${HEADER}\nimport type { CallOptions, WriteOptions } from "../calls.ts";\n` +
      'import type { AdminOperation } from "./operation.ts";\n' +
      `import type { ${[...new Set(used)].toSorted().join(", ")} } from "../responses.ts";\n\n` +
      "/** The page of a list. */\n" +
      "export interface PageFields {\n" +
      "readonly limit?: number | undefined;\nreadonly cursor?: string | undefined;\n}\n\n" +
      "/** The response of a call that returns nothing else. */\n" +
      "export interface Done {\nreadonly ok: true;\n}\n\n" +
      "/** The operators' calls, by their names in the API document. They throw `PassbookError`. */\n" +
      `export interface AdminCalls {\n${methods}}\n`,
    table:
      "\n/** The same operations as data. */\n" +
      `export const ADMIN_OPERATIONS: readonly AdminOperation[] = [\n${rows.join("")}];\n`,
  };
}

/** The names of the document's enumerations, by their values. Parameters repeat the values without the name. */
type Enumerations = ReadonlyMap<string, string>;

const valuesOf = ({ enum: values = [] }: Schema): string => JSON.stringify(values);

function enumerationsOf(schemas: Schemas): Enumerations {
  const named = Object.entries(schemas).filter(([, schema]) => schema.enum !== undefined);
  return new Map(named.map(([name, schema]) => [valuesOf(schema), name]));
}

const JSON_TYPE = "application/json";
const CSV_TYPE = "text/csv";

const responseOf = ({ responses }: Operation): Schema =>
  responses["200"]?.content?.[JSON_TYPE]?.schema ?? {};
const hasCsv = ({ responses }: Operation): boolean =>
  responses["200"]?.content?.[CSV_TYPE] !== undefined;
const isKeyed = ({ parameters = [] }: Operation): boolean =>
  parameters.some(({ name }) => name === "Idempotency-Key");

/** A field with its place, and its schema for the type. */
interface Input extends Omit<Parameter, "in"> {
  readonly in: AdminField["in"];
}

/** Path parameters first, in the order of the path. */
function inputsOf({ parameters = [], requestBody }: Operation): readonly Input[] {
  const placed = (place: AdminField["in"]): readonly Input[] =>
    parameters.filter((it): it is Parameter & Input => it.in === place);
  const body = requestBody?.content[JSON_TYPE]?.schema;
  const in_body = Object.entries(body?.properties ?? {}).map(([name, schema]): Input => {
    const required = body?.required?.includes(name) === true;
    return { in: "body", name, required, schema };
  });
  return [...placed("path"), ...placed("query"), ...in_body];
}

/** Kinds of objects, by the names of their properties. */
const OBJECT_KINDS: Readonly<Record<string, AdminField["kind"]>> = {
  "credits,period": "cap",
  "credits,every,rollover_max,app_slugs": "rule",
};

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function fieldsOf(operation: Operation): readonly AdminField[] {
  return inputsOf(operation).map(({ name, in: place, required = false, schema }) => {
    const options = schema.anyOf ?? [schema];
    const types = options.flatMap(({ type }) => type ?? []);
    const [main = {}] = options.filter(({ type }) => type !== "null");
    const item = main.items ?? main;
    const { minimum: min, maximum: max } = item;
    const kind = kindOf(item);
    if (kind === null) {
      throw new Error(`${operation.operationId}.${name}: the command line has no form for it`);
    }
    return {
      name: camel(name),
      in: place,
      kind,
      ...(required ? { required: true } : {}),
      ...(types.includes("null") ? { nullable: true } : {}),
      ...(main.items === undefined ? {} : { list: true }),
      ...(item.enum === undefined || kind === "flag" ? {} : { values: item.enum }),
      ...(min === undefined || min === Number.MIN_SAFE_INTEGER ? {} : { min }),
      ...(max === undefined || max === Number.MAX_SAFE_INTEGER ? {} : { max }),
    };
  });
}

/** The kind of a field; null: the command line has no form for it. */
function kindOf(schema: Schema): AdminField["kind"] | null {
  const { type, format, properties } = schema;
  if (isFlag(schema)) return "flag";
  if (properties !== undefined) {
    return OBJECT_KINDS[Object.keys(properties).join()] ?? null;
  }
  if (type === "integer") return "number";
  return format === "date-time" ? "time" : format === "date" ? "day" : "text";
}

/** The fields that every response has, for each of its forms. Another response does not come from the service. */
function shapesOf(schema: Schema, schemas: Schemas): AdminOperation["shapes"] {
  const resolve = (it: Schema): Schema =>
    it.$ref === undefined ? it : (schemas[it.$ref.slice(it.$ref.lastIndexOf("/") + 1)] ?? {});
  const forms = resolve(schema).anyOf ?? [schema];
  return forms.map((form) => resolve(form).required ?? []);
}

/** The fields of `PageFields`. */
const PAGE: readonly string[] = ["limit", "cursor"];

/** The method of an operation, and a second one if it also responds with CSV. */
function methodsOf(operation: Operation, enumerations: Enumerations): string {
  const { operationId, summary = "", description } = operation;
  const inputs = inputsOf(operation);
  const in_path = inputs.filter((it) => it.in === "path");
  const named = inputs.filter((it) => it.in !== "path");
  const isPage = PAGE.every((field) => named.some(({ name }) => name === field));
  const own = isPage ? named.filter(({ name }) => !PAGE.includes(name)) : named;
  const members = own.map(({ name, required, schema }) => {
    const type = enumerations.get(valuesOf(schema)) ?? inputType(schema);
    return `readonly ${camel(name)}${required === true ? `: ${type}` : `?: ${type} | undefined`};`;
  });
  const parts = [
    ...(isPage ? ["PageFields"] : []),
    ...(members.length === 0 ? [] : [`{ ${members.join(" ")} }`]),
  ];
  const mark = named.some(({ required }) => required === true) ? "" : "?";
  const given = [
    ...in_path.map(({ name }) => `${camel(name)}: string`),
    ...(named.length === 0 ? [] : [`fields${mark}: ${parts.join(" & ")}`]),
    `options?: ${isKeyed(operation) ? "WriteOptions" : "CallOptions"}`,
  ].join(", ");
  const about = [summary, description].filter((part) => part !== undefined).join(". ");
  const csv = `${comment(`${summary}, as CSV. In pieces, as they arrive.`)}${operationId}Csv(...given: Parameters<AdminCalls["${operationId}"]>): AsyncGenerator<string, void, undefined>;\n`;
  const method = `${comment(about)}${operationId}(${given}): Promise<${responseType(responseOf(operation))}>;\n`;
  return hasCsv(operation) ? method + csv : method;
}

function responseType(schema: Schema): string {
  const { ok, ...others } = schema.properties ?? {};
  return ok?.const === true && Object.keys(others).length === 0 ? "Done" : typeOf(schema);
}

function inputType(schema: Schema): string {
  if (isFlag(schema)) return "boolean";
  return schema.format === "date-time" ? "Date | string" : typeOf(schema);
}
