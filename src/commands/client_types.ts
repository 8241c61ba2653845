/** The client's types, written from the schemas of the OpenAPI document. */

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Schemas;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

const HEADER = `/**
 * The service's responses, field for field as in the API. Generated from docs/openapi.json by \`npm run openapi\`:
 * change the schemas there, not this file. Times are RFC 3339 in UTC; credits are whole numbers.
 */`;

const SCALARS: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/** The operations by path and method. */
type Paths = Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;

/**
 * One exported type for each schema, and the list of values of each named enumeration. A schema without a description is
 * described by its use: in the response of an operation of `paths`, or in another schema.
 */
export function clientTypes(schemas: Schemas, paths: Paths = {}): string {
  const declarations = Object.entries(schemas).map(([name, schema]) => {
    try {
      const { description = useOf(name, schemas, paths) } = schema;
      return declaration(name, schema, description);
    } catch (error) {
      throw new Error(`The schema ${name} cannot become a type`, { cause: error });
    }
  });
  return `${HEADER}\n\n${declarations.join("\n")}`;
}

/** More are not listed. */
const USES_MAX = 3;

/** What a schema is used for; undefined if nothing uses it. */
function useOf(name: string, schemas: Schemas, paths: Paths): string | undefined {
  const uses = (value: object): boolean =>
    JSON.stringify(value).includes(`"#/components/schemas/${name}"`);
  const operations = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, { responses }]) => uses(responses))
      .map(([verb]) => `\`${verb.toUpperCase()} ${path}\``),
  );
  if (operations.length > 0) {
    const more = operations.length > USES_MAX ? " and others" : "";
    return `In the response of ${operations.slice(0, USES_MAX).join(", ")}${more}.`;
  }
  const [parent] = Object.entries(schemas).find(([, schema]) => uses(schema)) ?? [];
  return parent === undefined ? undefined : `A part of \`${parent}\`.`;
}

function declaration(name: string, schema: Schema, description: string | undefined): string {
  if (schema.enum !== undefined) {
    const list = listName(name);
    return (
      `/** All values of \`${name}\`. */\n` +
      `export const ${list} = ${JSON.stringify(schema.enum)} as const;\n\n` +
      `${comment(description)}export type ${name} = (typeof ${list})[number];\n`
    );
  }
  const described = comment(description);
  if (schema.properties === undefined)
    return `${described}export type ${name} = ${typeOf(schema)};\n`;
  return `${described}export interface ${name} ${members(schema)}\n`;
}

/** `JobStatus` becomes `JOB_STATUSES`. */
function listName(name: string): string {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return words.endsWith("S") ? `${words}ES` : `${words}S`;
}

function members({ properties = {}, required = [] }: Schema): string {
  const lines = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? "" : "?";
    const type = typeOf(schema) + (mark === "" ? "" : " | undefined");
    return `${comment(descriptionOf(schema))}readonly ${name}${mark}: ${type};\n`;
  });
  return `{\n${lines.join("")}}`;
}

/** The TypeScript type of a schema. @throws Error for a form of schema that the document did not have so far */
export function typeOf(schema: Schema): string {
  const { $ref, anyOf, items, properties, additionalProperties, type } = schema;
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf("/") + 1);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
  if (items !== undefined) return `readonly (${typeOf(items)})[]`;
  if (properties !== undefined) return members(schema);
  if (type === "object" && additionalProperties !== undefined) {
    const value = typeof additionalProperties === "object" ? additionalProperties : {};
    return `Readonly<Record<string, ${typeOf(value)}>>`;
  }
  if (Object.keys(schema).length === 0) return "unknown";
  const scalars = [type].flat().map((name) => SCALARS[name ?? ""]);
  if (scalars.length > 0 && !scalars.includes(undefined)) return scalars.join(" | ");
  throw new Error(`no type is known for ${JSON.stringify(schema)}`);
}

/** The description of a property, or of the one schema that it has besides null. */
function descriptionOf({ description, anyOf = [] }: Schema): string | undefined {
  const [only, ...others] = anyOf.filter(({ type }) => type !== "null");
  return description ?? (others.length === 0 ? only?.description : undefined);
}

const COMMENT_WIDTH = 96;

/** A text as a comment, in lines. */
export function comment(text: string | undefined): string {
  if (text === undefined) return "";
  if (text.includes("*/")) throw new Error(`"${text}" would end its comment`);
  if (text.length <= COMMENT_WIDTH) return `/** ${text} */\n`;
  const lines = text.match(new RegExp(`.{1,${COMMENT_WIDTH}}(?: |$)`, "g")) ?? [];
  return `/**\n${lines.map((line) => ` * ${line.trim()}\n`).join("")} */\n`;
}

/** Whether it is a boolean. A query has none, so the document lists their texts. */
export function isFlag({ type, enum: values }: Schema): boolean {
  return type === "boolean" || JSON.stringify(values) === '["true","false"]';
}
