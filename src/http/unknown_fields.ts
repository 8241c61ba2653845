/** Unknown fields of a request. zod ignores them, but a misspelt field must be refused. */
import type * as z from "zod/mini";
import { isIdempotencyKey, nearestName } from "../domain/near_miss.ts";

/** Error messages cut unknown names to this length. */
const SHOWN_NAME_MAX_LENGTH = 40;

/** An object with more unknown fields, or a list with more items, is refused at once: each name and item is work. */
const UNKNOWN_FIELDS_MAX = 40;
const LIST_MAX_ITEMS = 1_000;

/**
 * The error message for the first unknown field that is refused: any in a strict object, and in other objects one that
 * nearly matches a known name. Otherwise null. Free-form values such as metadata are not searched.
 */
export function findUnknownField(schema: z.core.$ZodType, value: unknown): string | null {
  return search(schema, value, "", schema);
}

/** The field names of an object schema. */
export function fieldNames(schema: z.core.$ZodType): readonly string[] {
  const def = unwrap(schema);
  return def.type === "object" ? Object.keys(def.shape) : [];
}

/** The error message for a name that nearly matches a known one, or with `strict` for any unknown name; else null. */
export function misspelt(
  name: string,
  known: readonly string[],
  { where = "", strict = false, what = "field" } = {},
): string | null {
  if (known.includes(name)) return null;
  const meant = nearestName(name, known);
  const shown = `unknown ${what} ${where}${name.slice(0, SHOWN_NAME_MAX_LENGTH)}`;
  if (meant !== null) return `${shown}; did you mean ${where}${meant}?`;
  if (isIdempotencyKey(name)) return `${shown}; send it as the header Idempotency-Key.`;
  return strict ? `${shown}; leave it out.` : null;
}

function search(
  schema: z.core.$ZodType,
  value: unknown,
  where: string,
  whole: z.core.$ZodType,
): string | null {
  const def = unwrap(schema);
  if (def.type === "array") {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    if (items.length > LIST_MAX_ITEMS) return moreThan(LIST_MAX_ITEMS, "items", where);
    return firstOf(items, (item, index) => search(def.element, item, `${where}${index}.`, whole));
  }
  if (def.type !== "object" || typeof value !== "object" || value === null) return null;
  const fields = Object.entries(value);
  const unknown = fields.filter(([name]) => !Object.hasOwn(def.shape, name)).length;
  if (unknown > UNKNOWN_FIELDS_MAX) {
    return moreThan(UNKNOWN_FIELDS_MAX, "unknown fields", where);
  }
  const strict = def.catchall !== undefined;
  const names = Object.keys(def.shape);
  return firstOf(fields, ([name, field]) => {
    const known = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
    if (known !== undefined) return search(known, field, `${where}${name}.`, whole);
    // A name that another object of the request has is misplaced, not misspelt.
    if (!strict && namesOf(whole).includes(name)) return null;
    return misspelt(name, names, { where, strict });
  });
}

function moreThan(limit: number, what: string, where: string): string {
  return `${where === "" ? "The request" : where.slice(0, -1)} has more than ${limit} ${what}.`;
}

/** The definition inside optional, default and transform schemas. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodTypes["_zod"]["def"] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "optional" || def.type === "default") return unwrap(def.innerType);
  return def.type === "pipe" ? unwrap(def.in) : def;
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | null,
): string | null {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
}

/** All field names of a schema, at any depth. */
function namesOf(schema: z.core.$ZodType): readonly string[] {
  const def = unwrap(schema);
  if (def.type === "array") return namesOf(def.element);
  if (def.type !== "object") return [];
  return Object.entries(def.shape).flatMap(([name, field]) => [name, ...namesOf(field)]);
}
