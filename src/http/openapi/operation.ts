/** Builds one operation of the document from its options. */
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from "zod-openapi";
import * as z from "zod";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../../domain/limits.ts";
import type { EndpointRefusal } from "../../domain/limit_reached.ts";
import type { CallerKind, Endpoint } from "../api/endpoint.ts";
import { errorResponses, REQUEST_ID_HEADER } from "./errors.ts";
import * as schemas from "./schemas.ts";

type ResponseHeaders = Readonly<
  Record<
    string,
    {
      readonly description?: string;
      readonly required: boolean;
      readonly schema: { readonly type: "string"; readonly const?: string };
    }
  >
>;

/** A response without an error. */
interface Success {
  readonly status?: 101 | 200 | 202 | 303 | 405 | 503;
  readonly description: string;
  readonly type?: string;
  /** Also as CSV, for `Accept: text/csv`. */
  readonly csv?: true;
  readonly schema?: z.core.$ZodType;
  readonly example?: unknown;
  /** Headers of this response; `required` if it always has them. */
  readonly headers?: ResponseHeaders;
}

/** The groups of operations, in the order of the document. */
export const TAGS = {
  Wallet: "The account: its balance, apps and ledger, and a live stream of its changes.",
  Jobs: "Work that reserves credits before it starts and settles its real cost when it ends.",
  "Sign-in": "The caller's identity, session tokens, and sign-in and sign-out in a browser.",
  "Device login": "Personal access tokens for programs without a browser (RFC 8628).",
  Access: "Access to the account: apps, connections, tokens and browsers.",
  "Personal access tokens":
    "Lists, changes and revokes the caller's personal access tokens and OAuth connections.",
  "Third parties": "The caller's access tokens of other services.",
  Operators: "Accounts, jobs, totals and the audit log, for operators of the service.",
  Apps: "Registered apps, the keys of their servers, their OAuth clients and protected resources, for operators; and the app itself, for its server.",
  Webhooks:
    "Where the events of an app are sent, for operators and, with its key, for the app's own server.",
  Service: "The state of the service, and its public keys.",
} as const;

interface OperationOptions {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /**
   * `user_or_app`: also an app's key. `caller`: a session token, a personal access token or cookies. `session`: no personal
   * access token. `app`: only an app's key. `operator`: a caller with operator rights. `owner`: also the key of the app
   * that the path names.
   */
  readonly security:
    | "user_or_app"
    | "caller"
    | "session"
    | "operator"
    | "owner"
    | "app"
    | "social"
    | "none";
  readonly query?: z.core.$ZodObject;
  readonly path?: z.core.$ZodObject;
  /** Further request headers. */
  readonly headers?: z.ZodObject;
  readonly body?: {
    readonly schema: z.core.$ZodType;
    readonly example: object;
    readonly optional?: true;
  };
  readonly form?: z.core.$ZodType;
  /** `step`: a field of the body is the key. */
  readonly idempotent?: true | "step";
  readonly success: Success | readonly Success[];
  readonly refusals: readonly EndpointRefusal[];
  readonly pages?: true;
  readonly signin_url?: true;
}

const CALLER = [{ sessionToken: [] }, { personalAccessToken: [] }, { cookies: [] }];

const SECURITY = {
  user_or_app: [...CALLER, { appKey: [] }],
  caller: CALLER,
  session: [{ sessionToken: [] }, { cookies: [] }],
  operator: CALLER,
  owner: [...CALLER, { appKey: [] }],
  app: [{ appKey: [] }],
  social: [{ socialNetworkToken: [] }],
  none: [],
};

const idempotency_header = z.object({
  "Idempotency-Key": z
    .string()
    .regex(new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`))
    .optional()
    .describe(
      "A request that is repeated with its key takes effect once. Keys are kept for 24 hours. Each personal access token and each app has its own keys. " +
        `1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} printable ASCII characters without spaces.`,
    )
    .meta({ examples: ["0d4c8f9e-6f0b-4d5f-8f0a-2f3c7f1e9b11"] }),
});

const identity_header = z.object({
  "Passbook-Identity": z
    .string()
    .optional()
    .describe("Required with an app's key: the `identity_id` of the account's holder.")
    .meta({ examples: ["user_5b0f6c1e-8a37-4f8e-9d52-6c1d8f0a7b34"] }),
});

const REPLAYED = {
  "Idempotency-Replayed": {
    description:
      "`true` if this is the stored response of an earlier request with this key or step.",
    required: false,
    schema: { type: "string", const: "true" },
  },
} as const;

/** A header that only responses to browsers may have. */
export const COOKIES: ResponseHeaders = {
  "Set-Cookie": {
    description: "Sets, renews or clears the cookies of the browser.",
    required: false,
    schema: { type: "string" },
  },
} as const;

/** The response of a write without a value. */
export const done = {
  description: "The change was made.",
  schema: schemas.done,
  example: { ok: true },
};

export const page: Success = {
  description: "An HTML page.",
  type: "text/html",
  headers: COOKIES,
};

export const redirect: Success = {
  status: 303,
  description: "A redirect of the browser.",
  headers: { Location: { required: true, schema: { type: "string" } }, ...COOKIES },
};

/** Refusals that authentication may return. */
const BY_SECURITY: Readonly<Record<OperationOptions["security"], readonly EndpointRefusal[]>> = {
  user_or_app: [
    "unauthorized",
    "rate_limited",
    "scope",
    "suspended",
    "app_stopped",
    "identity_required",
    "account_unknown",
    "unavailable",
  ],
  caller: ["unauthorized", "rate_limited", "scope", "suspended", "app_stopped", "unavailable"],
  session: ["unauthorized", "rate_limited", "scope", "suspended", "app_stopped", "unavailable"],
  operator: [
    "unauthorized",
    "rate_limited",
    "scope",
    "not_operator",
    "role_required",
    "suspended",
    "origin_not_allowed",
  ],
  owner: [
    "unauthorized",
    "rate_limited",
    "scope",
    "not_operator",
    "role_required",
    "suspended",
    "origin_not_allowed",
    "unavailable",
  ],
  app: ["unauthorized", "rate_limited", "unavailable"],
  social: [],
  none: [],
};

const WITH_BODY = ["invalid_request", "unsupported_media_type", "body_too_large"] as const;

export function operation(options: OperationOptions): ZodOpenApiOperationObject {
  const successes = [options.success].flat();
  const refusals: EndpointRefusal[] = [...BY_SECURITY[options.security], ...options.refusals];
  // Operators may name a person by e-mail address.
  if (["operator", "owner"].includes(options.security) && refusals.includes("account_unknown")) {
    refusals.push("identity_ambiguous");
  }
  if (options.body !== undefined) refusals.push(...WITH_BODY);
  // Every route below /api refuses unknown query parameters.
  if (options.query !== undefined || (options.tag !== "Service" && !options.pages)) {
    refusals.push("invalid_request");
  }
  if (options.idempotent) refusals.push("idempotency_key_reused");
  const { pages = false, signin_url = false } = options;
  return {
    operationId: options.id,
    tags: [options.tag],
    summary: options.summary,
    description: options.description,
    security: SECURITY[options.security],
    requestParams: {
      ...(options.query === undefined ? {} : { query: options.query }),
      ...(options.path === undefined ? {} : { path: options.path }),
      ...headersOf(options),
    },
    ...requestBody(options),
    responses: {
      ...errorResponses(refusals, { pages, signin_url }),
      ...Object.fromEntries(
        successes.map((success) => [
          String(success.status ?? 200),
          successResponse(success, {
            ...(["user_or_app", "caller", "session", "operator", "owner"].includes(options.security)
              ? COOKIES
              : {}),
            ...(options.idempotent ? REPLAYED : {}),
          }),
        ]),
      ),
    },
  };
}

function headersOf({ security, idempotent, headers }: OperationOptions) {
  const identity = security === "user_or_app" ? identity_header.shape : {};
  const idempotency = idempotent === true ? idempotency_header.shape : {};
  const header = z.object({ ...headers?.shape, ...identity, ...idempotency });
  return Object.keys(header.shape).length === 0 ? {} : { header };
}

function requestBody({
  body,
  form,
}: OperationOptions): Pick<ZodOpenApiOperationObject, "requestBody"> | object {
  if (body !== undefined) {
    const { schema, example, optional } = body;
    const content = { "application/json": { schema, example } };
    return { requestBody: { required: optional !== true, content } };
  }
  if (form === undefined) return {};
  return { requestBody: { content: { "application/x-www-form-urlencoded": { schema: form } } } };
}

/** The header of a response that browsers save as a file. */
export const DOWNLOAD: ResponseHeaders = {
  "Content-Disposition": {
    description: "The name of the file.",
    required: false,
    schema: { type: "string" },
  },
};

const CSV = { "text/csv": { schema: { type: "string" } } } as const;

function successResponse(success: Success, more: ResponseHeaders): ZodOpenApiResponseObject {
  const { description, type = "application/json", schema, example, csv } = success;
  const media = {
    ...(schema === undefined ? { schema: { type: "string" as const } } : { schema }),
    ...(example === undefined ? {} : { example }),
  };
  const has_body = schema !== undefined || type !== "application/json";
  return {
    description,
    headers: { ...REQUEST_ID_HEADER, ...success.headers, ...(csv ? DOWNLOAD : {}), ...more },
    ...(has_body ? { content: { [type]: media, ...(csv ? CSV : {}) } } : {}),
  };
}

/** The part of an operation that the Worker does not need: prose, examples, and the schemas of responses. */
interface Description extends Pick<
  OperationOptions,
  "summary" | "description" | "success" | "headers" | "pages" | "signin_url"
> {
  /** Descriptions and examples of parameters of the path that {@link PARAMETERS} does not have. */
  readonly path?: Readonly<Record<string, z.ZodType>>;
  /** A schema that says more about the query than the one that validates it. */
  readonly query?: z.ZodObject;
  /** The schema of a body that the endpoint validates in parts. */
  readonly body?: z.core.$ZodType;
  /** The example of the body. */
  readonly example?: object;
}

/** The endpoints among the exports of modules. */
type EndpointsOf<Exports> = {
  readonly [Name in keyof Exports as Exports[Name] extends Endpoint ? Name : never]: Exports[Name];
};

const SECURITY_OF: Readonly<Record<CallerKind, OperationOptions["security"]>> = {
  anyone: "none",
  social_network: "social",
  user: "caller",
  live_user: "caller",
  user_or_app: "user_or_app",
  user_or_whole_app: "user_or_app",
  session: "session",
  app: "app",
  operator: "operator",
  owner: "owner",
};

const described = new Set<Endpoint>();

export const isDescribed = (endpoint: Endpoint): boolean => described.has(endpoint);

/**
 * The paths of the endpoints that modules export, in the order of their descriptions. The name of an export is the id of its
 * operation. An endpoint without a description does not compile.
 */
export function describe<Exports extends object>(
  tag: OperationOptions["tag"],
  exported: Exports,
  descriptions: { readonly [Name in keyof EndpointsOf<Exports>]: Description },
): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const [id, description] of Object.entries<Description>(descriptions)) {
    const endpoint = Reflect.get(exported, id) as Endpoint;
    const [method = "", path = ""] = endpoint.at.split(" ");
    described.add(endpoint);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: describeOne(id, tag, endpoint, description),
    };
  }
  return paths;
}

/** The parameters of paths whose name says enough. */
const PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  identity_id: z.string().describe("The person's identity."),
  job_id: z.string().describe("The job's id."),
  slug: z.string().meta({ examples: ["sketch"] }),
};

function describeOne(
  id: string,
  tag: OperationOptions["tag"],
  endpoint: Endpoint,
  { path: parameters, body: schema, example = {}, ...description }: Description,
): ZodOpenApiOperationObject {
  const { at, caller, role, query, body_is_optional, form } = endpoint;
  const is_operators_change = role !== undefined && !at.startsWith("GET ");
  const key = endpoint.key ?? (is_operators_change ? "accepted" : undefined);
  const body = schema ?? endpoint.body;
  const names = [...at.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const known = { ...PARAMETERS, ...parameters };
  const path = z.object(Object.fromEntries(names.map((name) => [name, known[name] ?? z.string()])));
  const described = operation({
    ...description,
    id,
    tag,
    security: SECURITY_OF[caller],
    refusals: refusalsOf(endpoint),
    ...(names.length === 0 ? {} : { path }),
    ...(query === undefined ? {} : { query: description.query ?? query }),
    ...(body === undefined
      ? {}
      : { body: { schema: body, example, ...(body_is_optional ? { optional: true } : {}) } }),
    ...(form === undefined ? {} : { form }),
    ...(key === undefined ? {} : { idempotent: key === "step" ? key : true }),
  });
  return { ...described, ...(role === undefined ? {} : { "x-role": role }) };
}

/** The declared refusals, and those of the guards. */
function refusalsOf({
  at,
  caller,
  rate,
  payments,
  form,
  refusals = [],
}: Endpoint): EndpointRefusal[] {
  const sends_cookies = form !== undefined || (!at.startsWith("GET ") && caller !== "anyone");
  return [
    ...refusals,
    ...(sends_cookies || caller === "live_user" ? (["origin_not_allowed"] as const) : []),
    ...(rate === undefined ? [] : (["rate_limited"] as const)),
    ...(payments ? (["not_found"] as const) : []),
    ...(form === undefined ? [] : (["invalid_request", "body_too_large"] as const)),
    ...(at.includes("/accounts/{identity_id}") ? (["account_unknown"] as const) : []),
  ];
}
