/**
 * One structured log line per request. It replaces the platform's invocation logs, which contain whole URLs: our queries
 * carry device codes, authorization codes and states.
 */
import { matchedRoutes } from "hono/route";
import { factory, type AppContext } from "../context.ts";
import type { Services } from "../services.ts";

/**
 * The share of successful and rate-limited requests that is logged. A line costs twice as much as a request ($0.60 and
 * $0.30 a million), so logging all of them would be the larger part of the bill.
 */
export const SAMPLED_LOG_SHARE = 0.01;

/** `refused` is 4xx, `failed` is 5xx. */
export type RequestOutcome = "succeeded" | "refused" | "failed";

/** A log line never contains a URL, a header, a body or the caller. */
export interface RequestLine {
  readonly event: "request";
  readonly request_id: string;
  readonly method: string;
  /** The pattern of the route, such as `/api/jobs/:id`; null if no route matched. */
  readonly route: string | null;
  readonly outcome: RequestOutcome;
  readonly status: number;
  readonly duration_ms: number;
}

/** Sets the request id, and logs the request. The first middleware. */
export const logRequest = factory.createMiddleware(async (context, next) => {
  const started_at_ms = Date.now();
  context.set("request_id", context.req.header("CF-Ray") ?? crypto.randomUUID());
  await next();
  const { status, headers } = context.res;
  headers.set("Passbook-Request-Id", context.get("request_id"));
  if (!isAlwaysLogged(status) && Math.random() >= SAMPLED_LOG_SHARE) return;
  const line: RequestLine = {
    event: "request",
    request_id: context.get("request_id"),
    method: context.req.method,
    route: routeOf(context),
    outcome: outcomeOf(status),
    status,
    duration_ms: Date.now() - started_at_ms,
  };
  if (line.outcome === "failed") {
    console.error(line);
    countFailedRequest(context, status);
  } else {
    console.log(line);
  }
});

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
