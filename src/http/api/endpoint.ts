/**
 * An endpoint of the API is declared once, next to its handler. Its route, its guards and their order, the validation of its
 * input, the role that it requires of operators, and its skeleton in the API document follow from the declaration.
 */
import type { Hono, MiddlewareHandler } from "hono";
import type * as z from "zod/mini";
import type { OperatorRole } from "../../domain/operators.ts";
import type { EndpointRefusal } from "../../domain/limit_reached.ts";
import { requireHolder } from "../caller/holder.ts";
import { requirePayments } from "../middleware/require_payments.ts";
import { acceptAppWithoutIdentity, requireApp, unlessOwnApp } from "../caller/app_owner.ts";
import { authenticate, authenticateUserOrApp } from "../caller/authenticate.ts";
import { requireBrowserSession, requireLiveSession } from "../caller/browser_session.ts";
import type { AppContext, AppEnvironment } from "../context.ts";
import { guardCookieReads, guardCookieWrites, guardForm } from "../middleware/origins.ts";
import {
  limitAttempts,
  limitCheckouts,
  limitNetwork,
  limitSessionLookups,
  limitWrites,
} from "../middleware/rate_limits.ts";
import { refuse } from "../refusals.ts";
import { fieldNames } from "../unknown_fields.ts";
import {
  limitBodySize,
  requireJsonBody,
  validBody,
  validForm,
  validOptionalBody,
  validQuery,
} from "../validation.ts";

type Guard = MiddlewareHandler<AppEnvironment>;

/** The callers that an endpoint may have, with the guards that identify them. */
const CALLERS = {
  anyone: [],
  /** With the social network's own token. */
  social_network: [],
  /** The account's holder, an app's session of them, or a token of theirs. */
  user: [authenticate],
  /** A session must be live: the response is a credential for another service. */
  live_user: [authenticate, guardCookieReads, requireLiveSession],
  /** Also the key of an app. */
  user_or_app: [authenticateUserOrApp],
  /** An app's key that names no account lists what the app has in all accounts. */
  user_or_whole_app: [acceptAppWithoutIdentity, unlessOwnApp(authenticateUserOrApp)],
  session: [requireBrowserSession],
  app: [requireApp],
  /** `routes.ts` checks operators before routing, so that others cannot find out which routes exist. */
  operator: [],
  /** An operator, or the key of the app that the path names. */
  owner: [],
} as const satisfies Readonly<Record<string, readonly Guard[]>>;

export type CallerKind = keyof typeof CALLERS;

/** The rate limits of endpoints, in addition to that of all authenticated requests. */
const RATES = {
  writes: [limitWrites],
  attempts: [limitAttempts],
  checkouts: [limitWrites, limitCheckouts],
  device_start: [limitNetwork("device_start")],
  social_me: [limitNetwork("social_me")],
  session_lookups: [limitSessionLookups],
} as const satisfies Readonly<Record<string, readonly Guard[]>>;

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The declared facts of an endpoint. The name of the exported constant is that of its operation in the API document and in
 * generated clients.
 */
export interface Facts {
  readonly at: `${Method} /${string}`;
  /** Without it, operators. */
  readonly caller?: CallerKind;
  /** The handler identifies the caller, instead of a guard. */
  readonly identifies?: true;
  /** The lowest role of operators that suffices. */
  readonly role?: OperatorRole;
  /** Without it, a caller's changes count as `writes`. */
  readonly rate?: keyof typeof RATES;
  /** It exists only if payments are configured. */
  readonly payments?: true;
  /** The handler finds the account's holder, instead of a guard. */
  readonly finds_holder?: true;
  /** `step`: a field of the body is the idempotency key. Operators' changes accept a key without it. */
  readonly key?: "accepted" | "required" | "step";
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniType;
  readonly body_is_optional?: true;
  readonly form?: z.ZodMiniType;
  /** The refusals of its handler. Those of guards and of validation follow from the other facts. */
  readonly refusals?: readonly EndpointRefusal[];
}

/** `{ identity_id: string }` of `GET /api/admin/accounts/{identity_id}`. */
type ParamsOf<At extends string> = At extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : object;

/** The validated input of a handler. */
interface Input<At extends string, Query, Body, Key> {
  readonly params: ParamsOf<At>;
  readonly query: z.output<Query>;
  /** Of a body or a form. */
  readonly body: z.output<Body>;
  /** The header `Idempotency-Key`. */
  readonly key: Key extends "required" ? string : string | undefined;
}

export interface Endpoint extends Facts {
  readonly caller: CallerKind;
  readonly respond: (context: AppContext) => Response | Promise<Response>;
}

const KEY_REQUIRED =
  "The header Idempotency-Key is required, so that a retry does not change the credits twice.";

/** Declares an endpoint. One for operators must declare their lowest role. */
export function endpoint<
  const At extends Facts["at"],
  Query extends z.ZodMiniObject = z.ZodMiniObject,
  Body extends z.ZodMiniType = z.ZodMiniType,
  const Key extends Facts["key"] = undefined,
>(
  facts: Facts & { readonly at: At; readonly query?: Query; readonly key?: Key } & (
      | { readonly body?: Body }
      | { readonly form: Body }
    ) &
    (
      | { readonly caller?: "owner"; readonly role: OperatorRole }
      | { readonly caller: Exclude<CallerKind, "operator" | "owner">; readonly role?: never }
    ),
  handle: (context: AppContext, input: Input<At, Query, Body, Key>) => Response | Promise<Response>,
): Endpoint {
  const respond: Endpoint["respond"] = (context) => {
    const key = context.req.header("Idempotency-Key");
    if (facts.key === "required" && key === undefined) {
      return refuse(context, { code: "invalid_request", detail: KEY_REQUIRED });
    }
    const params: object = context.req.param();
    const query: unknown = context.req.valid("query" as never);
    const body: unknown = context.req.valid((facts.form === undefined ? "json" : "form") as never);
    return handle(context, { params, query, body, key } as Input<At, Query, Body, Key>);
  };
  return { caller: "operator", ...facts, respond };
}

/** The guards of an endpoint, in the order in which they run. A guard never depends on a later one. */
function guardsOf(endpoint: Endpoint): readonly Guard[] {
  const { at, caller, payments, rate, finds_holder, query, body, form } = endpoint;
  const changes = !at.startsWith("GET ");
  const is_known = caller !== "anyone";
  const guards: (readonly Guard[] | false | undefined)[] = [
    payments && [requirePayments],
    endpoint.identifies ? [] : CALLERS[caller],
    changes && is_known && [unlessOwnApp(guardCookieWrites)],
    form && [guardForm],
    rate === undefined ? changes && is_known && RATES.writes : RATES[rate],
    body && !endpoint.body_is_optional && [requireJsonBody],
    (body ?? form) && [limitBodySize],
    at.includes("/accounts/{identity_id}") && !finds_holder && [requireHolder],
  ];
  const validators = [
    query && validQuery(query),
    body && (endpoint.body_is_optional ? validOptionalBody(body) : validBody(body)),
    form && validForm(form),
  ];
  // The types of Hono tie a validator to the handler after it.
  const valid = validators.filter((one) => one !== undefined) as unknown as readonly Guard[];
  return [...guards.flatMap((some) => some || []), ...valid];
}

/** Adds the routes of endpoints. A middleware for all of them can read what the last handler of each declares. */
export function addEndpoints(app: Hono<AppEnvironment>, endpoints: readonly Endpoint[]): void {
  for (const endpoint of endpoints) {
    const { at, role, query, respond } = endpoint;
    const [method = "", path = ""] = at.replace(/\{(\w+)\}/g, ":$1").split(" ");
    const declared = { role, query_names: query === undefined ? [] : fieldNames(query) };
    app.on(method, [path], ...guardsOf(endpoint), Object.assign(respond, declared));
  }
}
