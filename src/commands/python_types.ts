/** The types of the Python client, written from the schemas of the OpenAPI document. */
import type { Schema, Schemas } from "./client_types.ts";

const SCALARS: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/** Types in the order in which Python needs them: a class after the classes that it extends. */
const lastPart = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);

interface Field {
  readonly text: string;
  readonly is_required: boolean;
}

function classText(name: string, documentation: string, fields: readonly Field[]): string {
  const bodyOf = (is_required: boolean): string =>
    fields
      .filter((field) => field.is_required === is_required)
      .map(({ text }) => text)
      .join("");
  const [needed, optional] = [bodyOf(true), bodyOf(false)];
  // `NotRequired` is newer than Python 3.10.
  return optional === ""
    ? `class ${name}(TypedDict):\n${documentation + needed || "    pass\n"}`
    : needed === ""
      ? `class ${name}(TypedDict, total=False):\n${documentation}${optional}`
      : `class _${name}(TypedDict):\n${needed}\n\nclass ${name}(_${name}, total=False):\n${documentation}${optional}`;
}

/** Declares the schemas that are used, and the schemas that those use. */
export class PythonTypes {
  readonly #schemas: Schemas;
  readonly #declared = new Map<string, string>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** The type of a schema. A schema that needs a class of its own gets one with this name. */
  typeOf(schema: Schema, name: string): string {
    const { $ref, anyOf, items, properties, additionalProperties, type } = schema;
    if ($ref !== undefined) return this.#declare(lastPart($ref));
    if ("const" in schema) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return this.#enumeration(schema.enum, name);
    if (anyOf !== undefined) {
      const objects = anyOf.filter((option) => option.properties !== undefined).length;
      const nameOf = (index: number): string => (objects > 1 ? `${name}${index + 1}` : name);
      return union(anyOf.map((option, index) => this.typeOf(option, nameOf(index))));
    }
    if (items !== undefined) return `list[${this.typeOf(items, name)}]`;
    if (properties !== undefined) return this.#declareClass(name, schema);
    if (type === "object" || additionalProperties !== undefined) return "dict[str, Any]";
    if (Object.keys(schema).length === 0) return "Any";
    const scalars = [type].flat().map((scalar) => SCALARS[scalar ?? ""]);
    if (scalars.length > 0 && !scalars.includes(undefined)) return union(scalars);
    throw new Error(`no Python type is known for ${JSON.stringify(schema)}`);
  }

  /** An enumeration has the name of the schema with the same values, if there is one. */
  #enumeration(values: readonly unknown[], name: string): string {
    const text = JSON.stringify(values);
    const named = Object.entries(this.#schemas).find(
      ([other, schema]) => other !== name && JSON.stringify(schema.enum) === text,
    );
    if (named !== undefined) return this.#declare(named[0]);
    return `Literal[${values.map(literal).join(", ")}]`;
  }

  #declare(name: string): string {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`there is no schema ${name}`);
    if (this.#declared.has(name)) return name;
    if (schema.properties !== undefined) return this.#declareClass(name, schema);
    // Known before its parts, which may use it.
    this.#declared.set(name, "");
    const type = this.typeOf(schema, name);
    this.#declared.delete(name);
    this.#declared.set(name, `${comment(schema.description, "#: ")}${name} = ${type}\n`);
    return name;
  }

  #declareClass(name: string, schema: Schema): string {
    if (this.#declared.has(name)) return name;
    this.#declared.set(name, "");
    const { properties = {}, required = [] } = schema;
    if (Object.keys(properties).some((field) => KEYWORDS.has(field))) {
      const parts = Object.entries(properties).map(
        ([field, value]) => `"${field}": ${this.typeOf(value, name + pascal(field))}`,
      );
      // Again, so that it comes after its parts.
      this.#declared.delete(name);
      this.#declared.set(name, `${name} = TypedDict("${name}", {${parts.join(", ")}})\n`);
      return name;
    }
    const fields = Object.entries(properties).map(([field, value]) => {
      const type = this.typeOf(value, name + pascal(field));
      const text = `    ${field}: ${type}\n${docstring(descriptionOf(value), "    ")}`;
      return { text, is_required: required.includes(field) };
    });
    const code = classText(name, docstring(schema.description, "    "), fields);
    // Again, so that it comes after its parts.
    this.#declared.delete(name);
    this.#declared.set(name, code);
    return name;
  }

  /** The fields that every object of the schema has. */
  requiredFields({ $ref, required = [] }: Schema): readonly string[] {
    return $ref === undefined ? required : (this.#schemas[lastPart($ref)]?.required ?? []);
  }

  /** The declarations of all types so far. */
  declarations(): readonly string[] {
    return [...this.#declared.values()];
  }

  /** The declared names. */
  names(): readonly string[] {
    return [...this.#declared.keys()];
  }
}

function union(types: readonly (string | undefined)[]): string {
  return [...new Set(types)].join(" | ");
}

function literal(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

/** `app_grant` becomes `AppGrant`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The description of a property, or of the one schema that it has besides null. */
function descriptionOf({ description, anyOf = [] }: Schema): string | undefined {
  const [only, ...others] = anyOf.filter(({ type }) => type !== "null");
  return description ?? (others.length === 0 ? only?.description : undefined);
}

function comment(text: string | undefined, mark: string): string {
  return text === undefined ? "" : `${mark}${text}\n`;
}

/** A description as a docstring; nothing without one. */
export function docstring(text: string | undefined, indent: string): string {
  if (text === undefined) return "";
  if (/"""|\\/.test(text)) throw new Error(`"${text}" would end its docstring`);
  const lines = text.match(/.{1,100}(?: |$)/g) ?? [];
  const [only, ...more] = lines.map((line) => line.trim());
  if (more.length === 0) return `${indent}"""${only}"""\n`;
  return `${indent}"""\n${[only, ...more].map((line) => `${indent}${line}\n`).join("")}${indent}"""\n`;
}
