/** Requests generated from the OpenAPI document: valid ones, and slightly invalid ones. */
import * as fc from "fast-check";
import { paths, type OperationObject, type ParameterObject } from "../support/conformance.ts";

type Schema = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** Values that exist while the requests run, so that some requests succeed. */
export interface Known {
  readonly job_ids: readonly string[];
  readonly identity_ids: readonly string[];
  readonly user_codes: readonly string[];
  readonly device_codes: readonly string[];
}

export interface Generated {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** The caller; the runner has the headers of each. */
export const CALLERS = [
  "bearer",
  "cookie",
  "token",
  "limited",
  "operator",
  "app",
  "nobody",
  "forged",
] as const;
export type Caller = (typeof CALLERS)[number];

const slugs = fc.constantFrom("demo", "sketch", "a");

function valueOf(schema: Schema, name: string, known: Known): fc.Arbitrary<unknown> {
  if (name === "job_id" || name === "cursor" || name === "id") {
    const chance = fc.oneof(fc.uuid(), fc.nat().map(String));
    return known.job_ids.length === 0
      ? chance
      : fc.oneof(fc.constantFrom(...known.job_ids), chance);
  }
  if (name === "identity_id") return fc.constantFrom(...known.identity_ids, "user_nobody");
  if (name === "slug") return slugs;
  if (name === "user_code") return fc.oneof(fc.constantFrom(...known.user_codes), fc.string());
  if (name === "device_code") return fc.oneof(fc.constantFrom(...known.device_codes), fc.string());
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "integer":
    case "number": {
      const { minimum = 0, maximum = 1_000 } = schema;
      const small = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 60) });
      return fc.oneof({ weight: 6, arbitrary: small }, fc.integer({ min: minimum, max: maximum }));
    }
    case "boolean":
      return fc.boolean();
    case "array": {
      const { items = {}, minItems = 0, maxItems = 3 } = schema;
      const length = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 2) };
      return fc.array(valueOf(items, "", known), length);
    }
    case "object":
      return objectOf(schema, known);
    case "string":
    case undefined:
    default:
      return textOf(schema);
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<unknown> {
  if (pattern?.includes("a-z0-9._-") === true) return slugs;
  if (format === "date-time") {
    const range = { min: new Date("2020-01-01"), max: new Date("2030-01-01"), noInvalidDate: true };
    return fc.date(range).map((date) => date.toISOString());
  }
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, 60) });
}

function objectOf({ properties, required = [] }: Schema, known: Known): fc.Arbitrary<object> {
  if (properties === undefined) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, valueOf(schema, name, known)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
}

/** Sometimes replaces the value by another type, or makes one field invalid. */
function spoilt(value: fc.Arbitrary<object>): fc.Arbitrary<unknown> {
  const one = fc
    .tuple(value, fc.nat(), fc.oneof(fc.jsonValue(), fc.constantFrom("__proto__", -1, 1e21, null)))
    .map(([object, which, wrong]) => {
      const names = Object.keys(object);
      const name = names[which % Math.max(1, names.length)] ?? "extra";
      return { ...object, [name]: wrong };
    });
  return fc.oneof(
    { weight: 8, arbitrary: value },
    { weight: 2, arbitrary: one },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

function queryOf(parameters: readonly ParameterObject[], known: Known): fc.Arbitrary<string> {
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const fields = inQuery.map(({ name, schema }) => [
    name,
    fc.oneof({ weight: 5, arbitrary: valueOf(schema as Schema, name, known) }, fc.string()),
  ]);
  return fc
    .record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: [],
    })
    .map((values) => {
      const query = new URLSearchParams(
        Object.entries(values).map(([name, value]) => [name, String(value)]),
      );
      return query.size === 0 ? "" : `?${query.toString()}`;
    });
}

function requestsOf(
  method: string,
  path: string,
  operation: OperationObject,
  known: Known,
): fc.Arbitrary<Generated & { readonly caller: Caller }> {
  const { parameters = [], requestBody } = operation;
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const schema = (media?.schema ?? {}) as Schema;
  const body =
    type === "application/json"
      ? spoilt(objectOf(schema, known)).map((value) => JSON.stringify(value))
      : fc.constant(null);
  const segmentOf = (name: string): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: 2, arbitrary: valueOf({}, name, known) },
      fc.constantFrom("demo", "github", "%00", "..;"),
    );
  const segments = Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, segmentOf(name)]),
  );
  // Only operators reach these routes.
  const often: Caller = path.startsWith("/api/admin/") ? "operator" : "bearer";
  return fc.record({
    method: fc.constant(method.toUpperCase()),
    path: fc
      .tuple(fc.record(segments), queryOf(parameters, known))
      .map(
        ([values, query]) =>
          path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name])) + query,
      ),
    caller: fc.constantFrom<Caller>(often, often, often, ...CALLERS),
    headers: fc
      .record(
        {
          "Idempotency-Key": fc.constantFrom("one", "two", "three", "a b", "x".repeat(300)),
          Origin: fc.constantFrom("http://localhost:3000", "https://evil.example", "null"),
          Accept: fc.constantFrom("text/html", "application/json"),
          "Content-Type": fc.constantFrom("text/plain", "application/json; charset=utf-8"),
        },
        { requiredKeys: [] },
      )
      .map((more) => ({ ...(type === undefined ? {} : { "Content-Type": type }), ...more })),
    body,
  });
}

/** A stream does not end by itself. Its tests are in test/worker/http/api/events. */
const isStream = ({ responses }: OperationObject): boolean => "101" in responses;

/** Requests to every operation of the document except streams, with equal probability. */
export function generatedRequests(
  known: Known,
): fc.Arbitrary<Generated & { readonly caller: Caller }> {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !isStream(operation))
      .map(([method, operation]) => requestsOf(method, path, operation, known)),
  );
  return fc.oneof(...all);
}
