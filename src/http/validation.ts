/** Validation of bodies and queries by zod, with our own error messages. */
import { bodyLimit } from "hono/body-limit";
import { matchedRoutes } from "hono/route";
import { validator } from "hono/validator";
import * as z from "zod/mini";
import {
  BODY_MAX_BYTES,
  COST_MAX_CREDITS,
  PAGE_DEFAULT_ROWS,
  PAGE_MAX_ROWS,
} from "../domain/limits.ts";
import { guardOf } from "../domain/idempotency_guard.ts";
import { isMetadata, serialiseMetadata, type Metadata } from "../domain/metadata.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { findInvisible } from "../domain/text.ts";
import { APP_SLUG_PATTERN } from "../domain/app_policy.ts";
import type { IdempotencyGuard } from "../account/contract.ts";
import { factory, type AppContext } from "./context.ts";
import { refuseByAccept } from "./refusal_page.ts";
import { refuse } from "./refusals.ts";
import { fieldNames, findUnknownField, misspelt } from "./unknown_fields.ts";

export const appSlug = z
  .string("must be a string")
  .check(
    z.regex(APP_SLUG_PATTERN, "must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit"),
  );

/** A lone surrogate has no UTF-8 form, and other software ends text at a null character. */
export const wellFormed = z.refine<string>(
  (text) => text.isWellFormed() && !text.includes("\0"),
  "must be well-formed text",
);

/** Text that pages display: see `domain/text`. */
export const shownText = z.refine<string>((text) => findInvisible(text) === null, {
  error: ({ input }) => `must not contain the invisible character ${findInvisible(String(input))}`,
});

export const jobId = z.pipe(
  z.uuid("must be a job's id"),
  z.transform((id) => id.toLowerCase()),
);

export const cost = z
  .int("must be a whole number")
  .check(
    z.gte(0, "must not be negative"),
    z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
  );

/** The number of a step of a job, from `min`. */
export const jobStep = (min: 0 | 1) =>
  z
    .int("must be a whole number")
    .check(
      z.gte(min, `must be at least ${min}`),
      z.lte(Number.MAX_SAFE_INTEGER, `must be at most ${Number.MAX_SAFE_INTEGER}`),
    );

/** Custom, since `z.record` would drop a `__proto__` key. */
export const metadata = z.custom<Metadata>(
  isMetadata,
  "must be a JSON object that is not nested too deeply",
);

/** A query parameter. A repeated one arrives as an array and is refused. */
export const queryText = z.string("must be given once");

/** An RFC 3339 time with any offset. */
export const dateTime = z
  .pipe(
    z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T00:00:00Z" }),
    z.transform((text) => Date.parse(text)),
  )
  .check(z.refine(Number.isFinite, "must be a date and time that exist"));

/** The size of a page of a list, as a query parameter. */
export const pageLimit = z.pipe(
  z.pipe(
    z._default(
      queryText.check(z.regex(/^\d{1,3}$/, `must be a whole number from 1 to ${PAGE_MAX_ROWS}`)),
      String(PAGE_DEFAULT_ROWS),
    ),
    z.transform(Number),
  ),
  z
    .number()
    .check(
      z.gte(1, `must be from 1 to ${PAGE_MAX_ROWS}`),
      z.lte(PAGE_MAX_ROWS, `must be from 1 to ${PAGE_MAX_ROWS}`),
    ),
);

/** The parsed value, or `fallback` if it is missing or invalid. Not `z.catch`, which makes the bundle much larger. */
export const validOr = <const Fallback, Schema extends z.ZodMiniType>(
  fallback: Fallback,
  schema: Schema,
) =>
  z.transform((value: unknown): z.output<Schema> | Fallback => {
    const read = schema.safeParse(value);
    return read.success ? read.data : fallback;
  });

/** The message of the first problem, with its field. */
function firstProblem(error: z.core.$ZodError, value: unknown): string {
  const issue = error.issues[0];
  const where = issue?.path.map(String).join(".") ?? "";
  if (issue === undefined || where === "") return "The request must be a JSON object.";
  return isPresent(value, issue.path) ? `${where} ${issue.message}.` : `${where} is missing.`;
}

function isPresent(value: unknown, path: readonly PropertyKey[]): boolean {
  let found: unknown = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return false;
    found = Reflect.get(found, name);
  }
  return true;
}

const responding =
  <Schema extends z.ZodMiniType>(schema: Schema) =>
  (value: unknown, context: AppContext) => {
    const read = check(schema, value);
    // People send forms, so they get a page.
    return read.success ? read.data : refuseByAccept(context, read.error);
  };

/** Middleware that declares the query parameters of its route, for {@link refuseUnknownQuery}. */
interface QueryNames {
  readonly query_names: readonly string[];
}

export const validQuery = <Schema extends z.ZodMiniType>(schema: Schema) =>
  Object.assign(validator("query", responding(schema)), {
    query_names: fieldNames(schema),
  } satisfies QueryNames);

/** Goes after {@link requireJsonBody} and {@link limitBodySize}. */
export const validBody = <Schema extends z.ZodMiniType>(schema: Schema) =>
  validator("json", responding(schema));

/** Goes after {@link limitBodySize}. */
export const validForm = <Schema extends z.ZodMiniType>(schema: Schema) =>
  validator("form", responding(schema));

/**
 * Reads an optional JSON body; an empty body means `{}`. Goes after {@link limitBodySize}. The content type of an empty
 * body is not checked, since some clients send one without a body.
 */
export async function readOptionalBody<Schema extends z.ZodMiniType>(
  context: AppContext,
  schema: Schema,
): Promise<Result<z.output<Schema>, Refusal>> {
  const text = await context.req.text();
  if (text !== "" && !isDeclaredJson(context)) return refused({ code: "unsupported_media_type" });
  let value: unknown = {};
  try {
    if (text !== "") value = JSON.parse(text);
  } catch {
    return refused({ code: "invalid_request", detail: "The body is not valid JSON." });
  }
  return readValue(schema, value);
}

/** Validates a part of a body with the same error messages as a whole body. */
export function readValue<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
): Result<z.output<Schema>, Refusal> {
  const checked = check(schema, value);
  return checked.success ? accepted(checked.data) : refused(checked.error);
}

type Checked<Value> =
  | { readonly success: true; readonly data: Value }
  | { readonly success: false; readonly error: Refusal };

/**
 * Reports unknown fields first; otherwise a misspelt required field would be reported as missing. Parses synchronously,
 * since zod's asynchronous parser reports problems behind a transform after all others.
 */
function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
): Checked<z.output<Schema>> {
  const unknown_field = findUnknownField(schema, value);
  if (unknown_field !== null) {
    return { success: false, error: { code: "invalid_request", detail: unknown_field } };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { success: true, data: parsed.data };
  const detail = firstProblem(parsed.error, value);
  return { success: false, error: { code: "invalid_request", detail } };
}

/** Declares the query parameters of a route without a query schema, and refuses misspelt ones. */
export const checkQueryNames = (...known: readonly string[]) =>
  Object.assign(
    factory.createMiddleware(async (context, next) => {
      const detail = wrongName(context, known, { strict: false });
      return detail === null
        ? next()
        : refuseByAccept(context, { code: "invalid_request", detail });
    }),
    { query_names: known } satisfies QueryNames,
  );

/**
 * Refuses query parameters that no middleware of the route declares: a filter that is ignored returns everybody's rows. An
 * unknown route has no parameters, and is not found.
 */
export const refuseUnknownQuery = factory.createMiddleware(async (context, next) => {
  if (!context.req.url.includes("?")) return next();
  const routes = matchedRoutes(context).filter(({ method }) => method !== "ALL");
  if (routes.length === 0) return next();
  const known = routes.flatMap(({ handler }) => (handler as Partial<QueryNames>).query_names ?? []);
  const detail = wrongName(context, known, { strict: true });
  return detail === null ? next() : refuse(context, { code: "invalid_request", detail });
});

/** No route has half as many. */
const QUERY_PARAMETERS_MAX = 40;

/** The error message for too many query parameters, or the first one that is misspelt, or with `strict` unknown; else null. */
function wrongName(
  context: AppContext,
  known: readonly string[],
  { strict }: { readonly strict: boolean },
): string | null {
  if (hasMoreParameters(context.req.url, QUERY_PARAMETERS_MAX)) {
    return `The query has more than ${QUERY_PARAMETERS_MAX} parameters.`;
  }
  for (const name of Object.keys(context.req.query())) {
    const detail = misspelt(name, known, { strict, what: "query parameter" });
    if (detail !== null) return detail;
  }
  return null;
}

function isDeclaredJson(context: AppContext): boolean {
  return /^application\/json\s*(;|$)/i.test(context.req.header("Content-Type") ?? "");
}

/** Refuses a body whose Content-Type is not JSON. */
export const requireJsonBody = factory.createMiddleware((context, next) =>
  isDeclaredJson(context)
    ? next()
    : Promise.resolve(refuse(context, { code: "unsupported_media_type" })),
);

const limitBytes = bodyLimit({
  maxSize: BODY_MAX_BYTES,
  onError: (context) =>
    refuse(context as AppContext, { code: "body_too_large", limit_bytes: BODY_MAX_BYTES }),
});

/** Each field of a form costs about a microsecond before anything looks at its name, so 30,000 of one letter would cost much. */
const FORM_FIELDS_MAX = 1_000;

/** Limits the bytes of a body, and the fields of a form. */
export const limitBodySize = factory.createMiddleware((context, next) =>
  limitBytes(context, async () => {
    const is_form = /^application\/x-www-form-urlencoded/i.test(
      context.req.header("Content-Type") ?? "",
    );
    // Not `text()`: the runtime warns that the type of a form is no text.
    const bytes = is_form ? await context.req.raw.clone().arrayBuffer() : new ArrayBuffer(0);
    if (hasMoreParameters(new TextDecoder().decode(bytes), FORM_FIELDS_MAX)) {
      const detail = `The form has more than ${FORM_FIELDS_MAX} fields.`;
      context.res = await refuseByAccept(context, { code: "invalid_request", detail });
    } else {
      await next();
    }
  }),
);

/** Whether a query or an encoded form has more parameters than `max`, without parsing it. */
export function hasMoreParameters(text: string, max: number): boolean {
  return text.split("&", max + 1).length > max;
}

/** Serialised metadata; null if the request has none. */
export function metadataJson(value: Metadata | undefined): Result<string | null, Refusal> {
  return value === undefined ? accepted(null) : serialiseMetadata(value);
}

export function idempotencyKey(context: AppContext): string | undefined {
  return context.req.header("Idempotency-Key");
}

/** The idempotency guard of a write; null without an `Idempotency-Key`. */
export function idempotencyGuard(
  context: AppContext,
  body: object,
): Promise<Result<IdempotencyGuard | null, Refusal>> {
  return guardOf(idempotencyKey(context), body);
}
