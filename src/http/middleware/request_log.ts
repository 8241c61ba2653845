/**
 * One structured log line per request. It replaces the platform's invocation logs, which contain whole URLs: our queries
 * carry device codes, authorization codes and states.
 */
import { matchedRoutes } from "hono/route";
import { splitClientId } from "../../domain/oauth_client.ts";
import type { RequestMetrics, RequestPoint } from "../../domain/request_metrics.ts";
import { errorName } from "../../domain/result.ts";
import type { Person } from "../../identity/port.ts";
import { factory, type AppCaller, type AppContext, type UserCaller } from "../context.ts";
import type { Services } from "../services.ts";

/**
 * The share of successful and rate-limited requests that is logged. A line costs twice as much as a request ($0.60 and
 * $0.30 a million), so logging all of them would be the larger part of the bill.
 */
const SAMPLED_LOG_SHARE = 0.01;

/** `refused` is 4xx, `failed` is 5xx. */
type RequestOutcome = "succeeded" | "refused" | "failed";

/** The sender of a request. `connection`: a token of an OAuth client; `client`: an OAuth client at its own endpoints. */
type RequestCaller = (UserCaller | AppCaller)["proof"]["kind"] | "client" | "operator";

/** A log line never contains a URL, a header, a body, an identity or a token. */
interface RequestLine {
  readonly event: "request";
  readonly request_id: string;
  readonly method: string;
  /** The pattern of the route, such as `/api/jobs/:id`; null if no route matched. */
  readonly route: string | null;
  readonly outcome: RequestOutcome;
  readonly status: number;
  /** The code of the refusal, or of OAuth's `error`; null: none, or a page without one. */
  readonly code: string | null;
  /** The registered app that the request names or comes from; null: unknown. */
  readonly app: string | null;
  /** Null: nobody was identified. */
  readonly caller: RequestCaller | null;
  /** Stands for the account; the same in each line, while the newest signing key is the same. Null: unknown. */
  readonly account: string | null;
  /** The version of the Worker; null: the platform gives none. */
  readonly release: string | null;
  readonly duration_ms: number;
}

/** Sets the request id, counts the request and logs it. The first middleware. */
export const logRequest = factory.createMiddleware(async (context, next) => {
  const started_at_ms = Date.now();
  context.set("request_id", context.req.header("CF-Ray") ?? crypto.randomUUID());
  await next();
  const { status, headers } = context.res;
  headers.set("Passbook-Request-Id", context.get("request_id"));
  // Undefined with wrong settings: `/readyz` says so.
  const metrics = (context.get("services") as Services | undefined)?.request_metrics ?? null;
  const is_logged = isAlwaysLogged(status) || Math.random() < SAMPLED_LOG_SHARE;
  if (!is_logged && metrics === null) return;
  const line: RequestLine = {
    event: "request",
    request_id: context.get("request_id"),
    method: context.req.method,
    route: routeOf(context),
    outcome: outcomeOf(status),
    status,
    code: context.get("refusal_code") ?? null,
    app: appOf(context),
    caller: callerKindOf(context),
    account: await accountOf(context),
    release: context.env.RELEASE?.id ?? null,
    duration_ms: Date.now() - started_at_ms,
  };
  const { event: _event, outcome, ...point } = line;
  const account_calls = context.get("account_calls") ?? 0;
  record(metrics, { ...point, at_ms: started_at_ms, colo: coloOf(context), account_calls });
  if (!is_logged) return;
  if (outcome === "failed") {
    console.error(line);
    countFailedRequest(context, status);
  } else {
    console.log(line);
  }
});

/** The response does not depend on the metrics. */
function record(metrics: RequestMetrics | null, point: RequestPoint): void {
  try {
    metrics?.record(point);
  } catch (error) {
    console.warn({ event: "metrics_unwritable", reason: errorName(error) });
  }
}

/** Null outside of Cloudflare's network. */
function coloOf(context: AppContext): string | null {
  const { colo } = (context.req.raw.cf ?? {}) as { readonly colo?: unknown };
  return typeof colo === "string" ? colo : null;
}

/** Undefined: nobody was identified, or the route identifies nobody. */
function findCaller(context: AppContext): UserCaller | AppCaller | undefined {
  return context.get("caller");
}

function callerKindOf(context: AppContext): RequestCaller | null {
  if (context.get("own_app") !== undefined) return "app";
  const caller = findCaller(context);
  if (caller === undefined)
    return typeof context.get("sender")?.client_id === "string" ? "client" : null;
  const is_operator = /^\/(api\/admin|console)(\/|$)/.test(context.req.path);
  if (is_operator && (context.get("operator") ?? null) !== null) return "operator";
  return caller.proof.kind;
}

/** Only a registered app: another name is what somebody typed. */
function appOf(context: AppContext): string | null {
  const services = context.get("services") as Services | undefined;
  const body = context.req.valid("json" as never) as { readonly app?: unknown } | undefined;
  const proof = findCaller(context)?.proof;
  const client_id =
    proof?.kind === "connection" ? proof.client_id : context.get("sender")?.client_id;
  const named = [
    body?.app,
    context.req.query("app"),
    context.req.path.startsWith("/api/admin/apps/") ? context.req.param("slug" as never) : null,
    context.get("own_app")?.app_slug,
    proof?.kind === "app" ? proof.app_slug : null,
    splitClientId(client_id ?? "").app_slug,
  ];
  const registered = services?.apps.known();
  const isRegistered = (slug: unknown): slug is string =>
    typeof slug === "string" && registered?.has(slug) === true;
  return named.find(isRegistered) ?? null;
}

/** The pseudonym of the account that the request concerns: for an operator, not their own. */
async function accountOf(context: AppContext): Promise<string | null> {
  const holder = context.get("holder") as Person | undefined;
  const { identity_id = null } = holder ?? findCaller(context) ?? context.get("sender") ?? {};
  if (identity_id === null) return null;
  try {
    return await context.get("services").pseudonymOf(identity_id);
  } catch {
    // The response does not depend on the log.
    return null;
  }
}

/** Not before the services exist: with wrong settings nothing is counted, and `/readyz` says so. */
function countFailedRequest(context: AppContext, status: number): void {
  const services = context.get("services") as Services | undefined;
  if (services === undefined) return;
  const counted = services.failures.count("failed_request", { reason: `status_${status}` });
  context.executionCtx.waitUntil(counted);
}

function isAlwaysLogged(status: number): boolean {
  return status >= 400 && status !== 429;
}

function outcomeOf(status: number): RequestOutcome {
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "succeeded";
}

/** Middleware has the method `ALL`; the last other match is the endpoint. */
function routeOf(context: AppContext): string | null {
  return matchedRoutes(context).findLast(({ method }) => method !== "ALL")?.path ?? null;
}
