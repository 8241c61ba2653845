/** What is left when something throws: a request id for the caller, the place for the log. */
import { HTTPException } from "hono/http-exception";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { AppContext } from "./context.ts";
import { refuseByAccept } from "./refusal_page.ts";
import { TooManyLookups } from "./middleware/rate_limits.ts";
import { refuse } from "./refusals.ts";

/** The error handler of the whole app. */
export function respondToFailure(error: Error, context: AppContext): Response | Promise<Response> {
  if (error instanceof HTTPException && error.status === 400) {
    return refuse(context, { code: "invalid_request", detail: "The body is not valid JSON." });
  }
  if (error instanceof TooManyLookups) return refuseByAccept(context, error.refusal);
  return refuseByAccept(context, refusalOfFailure(error, context));
}

/** What is said of something that threw, once the log has its place. */
export function refusalOfFailure(error: Error, context: AppContext): Refusal {
  const request_id = context.get("request_id");
  console.error({ event: "request_failed", request_id, name: error.name, at: placeOf(error) });
  return isUnavailable(error)
    ? { code: "unavailable", retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS }
    : { code: "internal", request_id };
}

/** Stack frames without the message: messages of stores can quote the values they were given. */
function placeOf(error: Error): string[] {
  return (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
}

/** Whether a store of ours is out of reach: an object's stub says so itself, D1 by its prefix. */
function isUnavailable(error: Error): boolean {
  const signs = error as { retryable?: unknown; overloaded?: unknown };
  if (signs.retryable === true || signs.overloaded === true) return true;
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return error.message.startsWith("D1_ERROR") || cause.startsWith("D1_ERROR");
}
