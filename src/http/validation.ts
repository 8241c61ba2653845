/** Validation of bodies and queries by zod, with our own error messages. */
import { zValidator } from "@hono/zod-validator";
import { bodyLimit } from "hono/body-limit";
import { matchedRoutes } from "hono/route";
import type * as z from "zod/mini";
import { BODY_MAX_BYTES } from "../domain/limits.ts";
import { serialiseMetadata, type Metadata } from "../domain/metadata.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { factory, type AppContext } from "./context.ts";
import { refuseByAccept } from "./refusal_page.ts";
import { refuse } from "./refusals.ts";
import { findUnknownField, misspelt } from "./unknown_fields.ts";

export {
  appSlug,
  wellFormed,
  shownText,
  jobId,
  cost,
  jobStep,
  metadata,
  queryText,
  dateTime,
  pageLimit,
  starterId,
  validOr,
} from "../fields.ts";

type Problems = Pick<z.core.$ZodError, "issues">;

/** The message of the first problem, with its field. */
function firstProblem({ issues: [issue] }: Problems, value: unknown): string {
  const where = issue?.path.map(String).join(".") ?? "";
  if (issue === undefined || where === "") {
    if (issue?.code === "unrecognized_keys") return issue.message;
    return `The request ${issue?.code === "custom" ? issue.message : "must be a JSON object"}.`;
  }
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

const valid = <Target extends "json" | "form" | "query", Schema extends z.ZodMiniType>(
  target: Target,
  schema: Schema,
) =>
  zValidator(
    target,
    schema,
    (result, context) => {
      if (result.success) return;
      const detail = firstProblem(result.error, result.data);
      // People send forms, so they get a page.
      return refuseByAccept(context as AppContext, { code: "invalid_request", detail });
    },
    // The option's type is classic zod's result, whose errors have methods that nobody calls here.
    { validationFunction: (_, value) => check(schema, value) as never },
  );

export const validQuery = <Schema extends z.ZodMiniType>(schema: Schema) => valid("query", schema);

/** Goes after {@link requireJsonBody} and {@link limitBodySize}. */
export const validBody = <Schema extends z.ZodMiniType>(schema: Schema) => valid("json", schema);

/** Goes after {@link limitBodySize}. */
export const validForm = <Schema extends z.ZodMiniType>(schema: Schema) => valid("form", schema);

/**
 * {@link validBody} for an optional body; an empty body means `{}`. Goes after {@link limitBodySize}. The content type of
 * an empty body is not checked, since some clients send one without a body.
 */
export const validOptionalBody = (schema: z.ZodMiniType) =>
  factory.createMiddleware(async (context, next) => {
    const text = await context.req.text();
    if (text !== "" && !isDeclaredJson(context)) {
      return refuse(context, { code: "unsupported_media_type" });
    }
    let value: unknown = {};
    try {
      if (text !== "") value = JSON.parse(text);
    } catch {
      return refuse(context, { code: "invalid_request", detail: "The body is not valid JSON." });
    }
    const body = readValue(schema, value);
    if (!body.ok) return refuse(context, body.refusal);
    context.req.addValidatedData("json", Object(body.value));
    return next();
  });

/** Validates a part of a body with the same error messages as a whole body. */
export function readValue<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
): Result<z.output<Schema>, Refusal> {
  const checked = check(schema, value);
  if (checked.success) return accepted(checked.data);
  return refused({ code: "invalid_request", detail: firstProblem(checked.error, value) });
}

/**
 * Reports unknown fields first; otherwise a misspelt required field would be reported as missing. Parses synchronously,
 * since zod's asynchronous parser reports problems behind a transform after all others.
 */
function check<Schema extends z.ZodMiniType>(schema: Schema, input: unknown) {
  const message = findUnknownField(schema, input);
  if (message === null) return schema.safeParse(input);
  const issues: Problems["issues"] = [{ code: "unrecognized_keys", keys: [], path: [], message }];
  return { success: false, error: { issues } } as const;
}

/** Refuses misspelt query parameters of a page. */
export const checkQueryNames = (...known: readonly string[]) =>
  factory.createMiddleware(async (context, next) => {
    const detail = wrongName(context, known, { strict: false });
    return detail === null ? next() : refuseByAccept(context, { code: "invalid_request", detail });
  });

/** The handler of an endpoint, of which `addEndpoints` says what its query may have. */
type Declared = object & { readonly query_names?: readonly string[] };

/**
 * Refuses query parameters that the endpoint does not declare: a filter that is ignored returns everybody's rows. An
 * unknown route has no parameters, and is not found.
 */
export const refuseUnknownQuery = factory.createMiddleware(async (context, next) => {
  if (!context.req.url.includes("?")) return next();
  const routes = matchedRoutes(context).filter(({ method }) => method !== "ALL");
  if (routes.length === 0) return next();
  const known = routes.flatMap(({ handler }) => (handler as Declared).query_names ?? []);
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
      context.res = await refuseByAccept(context as AppContext, {
        code: "invalid_request",
        detail,
      });
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
