/**
 * One structured line for each request, in place of the platform's invocation logs: those hold whole
 * addresses, and ours carry device codes, authorization codes and states in their queries.
 */
import { matchedRoutes } from "hono/route";
import { factory, type AppContext } from "../context.ts";

/**
 * The share of lines kept of what went well, and of what a rate limit turned away, which is what a
 * flood consists of. A line costs twice a request ($0.60 to $0.30 a million), so the rest would be
 * the larger part of the bill.
 */
export const SAMPLED_LOG_SHARE = 0.01;

/** How a request ended: as asked, turned down (4xx), or by a failure of ours (5xx). */
export type RequestOutcome = "succeeded" | "refused" | "failed";

/** What is known of a request in the log: never an address, a header, a body or who asked. */
export interface RequestLine {
  readonly event: "request";
  readonly request_id: string;
  readonly method: string;
  /** The pattern of the address, such as `/api/jobs/:id`; null where nothing has this address. */
  readonly route: string | null;
  readonly outcome: RequestOutcome;
  readonly status: number;
  readonly duration_ms: number;
}

/** Names the request in its response, and logs how it ended. Goes before everything else. */
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
  if (line.outcome === "failed") console.error(line);
  else console.log(line);
});

function isAlwaysLogged(status: number): boolean {
  return status >= 400 && status !== 429;
}

function outcomeOf(status: number): RequestOutcome {
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "succeeded";
}

/** Middleware answers to every method; what is left is an endpoint. */
function routeOf(context: AppContext): string | null {
  return matchedRoutes(context).findLast(({ method }) => method !== "ALL")?.path ?? null;
}
