/** One endpoint of the document, from what is particular to it. */
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi";
import * as z from "zod";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../../domain/limits.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import { errorResponses, REQUEST_ID_HEADER } from "./errors.ts";
import * as schemas from "./schemas.ts";

/** Headers of an answer, by name. */
export type ResponseHeaders = Readonly<
  Record<
    string,
    {
      readonly description?: string;
      readonly required: boolean;
      readonly schema: { readonly type: "string"; readonly const?: string };
    }
  >
>;

/** An answer that is no refusal. */
export interface Success {
  readonly status?: 101 | 200 | 202 | 303 | 405 | 503;
  readonly description: string;
  readonly type?: string;
  readonly schema?: z.core.$ZodType;
  readonly example?: unknown;
  /** Headers it always (`required`) or sometimes carries. */
  readonly headers?: ResponseHeaders;
}

/** The groups of operations, in the order of the document. */
export const TAGS = {
  Wallet: "The account: its balance, its apps, its ledger, and its changes as they happen.",
  Jobs: "Work that reserves credits before it starts and settles its real cost when it ends.",
  "Sign-in": "Who the caller is, session tokens, and signing in and out in a browser.",
  "Device login": "Personal access tokens for programs without a browser (RFC 8628).",
  "Personal access tokens": "The caller's tokens of programs: listed and revoked.",
  "Third parties": "Access tokens that other services gave for the caller.",
  Operators: "Accounts, jobs, totals and the audit log, for operators of the service.",
  Apps: "Registered apps and the keys of their servers, for operators of the service.",
  Service: "Whether the service runs, and its public keys.",
} as const;

export interface OperationOptions {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /**
   * `party`: an app's key too. `caller`: any bearer or the cookies. `session`: not a personal access
   * token. `operator`: a caller who operates the service.
   */
  readonly security: "party" | "caller" | "session" | "operator" | "social" | "none";
  readonly query?: z.core.$ZodObject;
  readonly path?: z.core.$ZodObject;
  /** Headers of its own. */
  readonly headers?: z.ZodObject;
  readonly body?: {
    readonly schema: z.core.$ZodType;
    readonly example: object;
    readonly optional?: true;
  };
  readonly form?: z.core.$ZodType;
  readonly idempotent?: true;
  readonly success: Success | readonly Success[];
  readonly refusals: readonly RefusalCode[];
  readonly pages?: true;
  readonly signin_url?: true;
}

const CALLER = [{ sessionToken: [] }, { personalAccessToken: [] }, { cookies: [] }];

const SECURITY = {
  party: [...CALLER, { appKey: [] }],
  caller: CALLER,
  session: [{ sessionToken: [] }, { cookies: [] }],
  operator: CALLER,
  social: [{ socialNetworkToken: [] }],
  none: [],
};

const idempotency_header = z.object({
  "Idempotency-Key": z
    .string()
    .regex(new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`))
    .optional()
    .describe(
      "The same request under the same key happens once; kept for 24 hours. Each personal token and app has keys of its own. " +
        `1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} printable ASCII characters without a space.`,
    )
    .meta({ examples: ["0d4c8f9e-6f0b-4d5f-8f0a-2f3c7f1e9b11"] }),
});

const identity_header = z.object({
  "Passbook-Identity": z
    .string()
    .optional()
    .describe("With an app's key: the `identity_id` whose account is meant.")
    .meta({ examples: ["user_5b0f6c1e-8a37-4f8e-9d52-6c1d8f0a7b34"] }),
});

const REPLAYED = {
  "Idempotency-Replayed": {
    description: "`true` where this is the kept answer of an earlier request with this key.",
    required: false,
    schema: { type: "string", const: "true" },
  },
} as const;

/** What any answer to a browser may carry; other answers never do. */
export const COOKIES: ResponseHeaders = {
  "Set-Cookie": {
    description: "A browser's cookies: set, renewed from its session, or ended.",
    required: false,
    schema: { type: "string" },
  },
} as const;

/** A write without a value of its own. */
export const done = { description: "Done.", schema: schemas.done, example: { ok: true } };

export const page: Success = {
  description: "A page for people.",
  type: "text/html",
  headers: COOKIES,
};

export const elsewhere: Success = {
  status: 303,
  description: "The browser goes on.",
  headers: { Location: { required: true, schema: { type: "string" } }, ...COOKIES },
};

/** What one of these may meet before its own work begins. */
const BY_SECURITY: Readonly<Record<OperationOptions["security"], readonly RefusalCode[]>> = {
  party: [
    "unauthorized",
    "rate_limited",
    "scope",
    "suspended",
    "identity_required",
    "account_unknown",
    "unavailable",
  ],
  caller: ["unauthorized", "rate_limited", "scope", "suspended"],
  session: ["unauthorized", "rate_limited", "scope", "suspended"],
  operator: [
    "unauthorized",
    "rate_limited",
    "scope",
    "not_operator",
    "suspended",
    "origin_not_allowed",
  ],
  social: [],
  none: [],
};

const WITH_BODY = ["invalid_request", "unsupported_media_type", "body_too_large"] as const;

export function operation(it: OperationOptions): ZodOpenApiOperationObject {
  const successes = [it.success].flat();
  const refusals: RefusalCode[] = [...BY_SECURITY[it.security], ...it.refusals];
  if (it.body !== undefined) refusals.push(...WITH_BODY);
  if (it.query !== undefined) refusals.push("invalid_request");
  if (it.idempotent) refusals.push("idempotency_key_reused");
  const { pages = false, signin_url = false } = it;
  return {
    operationId: it.id,
    tags: [it.tag],
    summary: it.summary,
    description: it.description,
    security: SECURITY[it.security],
    requestParams: {
      ...(it.query === undefined ? {} : { query: it.query }),
      ...(it.path === undefined ? {} : { path: it.path }),
      ...headersOf(it),
    },
    ...requestBody(it),
    responses: {
      ...errorResponses(refusals, { pages, signin_url }),
      ...Object.fromEntries(
        successes.map((success) => [
          String(success.status ?? 200),
          successResponse(success, {
            ...(["party", "caller", "session", "operator"].includes(it.security) ? COOKIES : {}),
            ...(it.idempotent ? REPLAYED : {}),
          }),
        ]),
      ),
    },
  };
}

function headersOf({ security, idempotent, headers }: OperationOptions) {
  const identity = security === "party" ? identity_header.shape : {};
  const idempotency = idempotent ? idempotency_header.shape : {};
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

function successResponse(success: Success, more: ResponseHeaders): ZodOpenApiResponseObject {
  const { description, type = "application/json", schema, example } = success;
  const media = {
    ...(schema === undefined ? { schema: { type: "string" as const } } : { schema }),
    ...(example === undefined ? {} : { example }),
  };
  const has_body = schema !== undefined || type !== "application/json";
  return {
    description,
    headers: { ...REQUEST_ID_HEADER, ...success.headers, ...more },
    ...(has_body ? { content: { [type]: media } } : {}),
  };
}
