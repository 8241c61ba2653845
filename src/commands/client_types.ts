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

/** One exported type for each schema, and the list of values of each named enumeration. */
export function clientTypes(schemas: Schemas): string {
  const declarations = Object.entries(schemas).map(([name, schema]) => {
    try {
      return comment(schema.description) + declaration(name, schema);
    } catch (error) {
      throw new Error(`The schema ${name} cannot become a type`, { cause: error });
    }
  });
  return `${HEADER}\n\n${declarations.join("\n")}`;
}

function declaration(name: string, schema: Schema): string {
  if (schema.enum !== undefined) {
    const list = listName(name);
    return (
      `export const ${list} = ${JSON.stringify(schema.enum)} as const;\n\n` +
      `export type ${name} = (typeof ${list})[number];\n`
    );
  }
  if (schema.properties !== undefined) return `export interface ${name} ${members(schema)}\n`;
  return `export type ${name} = ${typeOf(schema)};\n`;
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
