/** Responses to thrown errors: the caller gets a request id, and the log gets the stack frames. */
import { HTTPException } from "hono/http-exception";
import { reportError } from "../domain/error_report.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { ARCHIVE_UNREADABLE, isPlatformFailure, MIGRATION_FAILED } from "../domain/result.ts";
import { ACCOUNT_RESTORING, NEWER_DATA } from "../account/contract.ts";
import type { AppContext } from "./context.ts";
import { refuseByAccept } from "./refusal_page.ts";
import { TooManyLookups } from "./middleware/rate_limits.ts";
import { refuse } from "./refusals.ts";

/** How the runtime begins its error for a call of a method that the object lacks. */
const UNKNOWN_METHOD = "The RPC receiver does not implement";

/** The error handler of the whole app. */
export function respondToError(error: Error, context: AppContext): Response | Promise<Response> {
  if (error instanceof HTTPException && error.status === 400) {
    return refuse(context, { code: "invalid_request", detail: "The body is not valid JSON." });
  }
  if (error instanceof TooManyLookups) return refuseByAccept(context, error.refusal);
  return refuseByAccept(context, refusalForError(error, context));
}

/** Logs a thrown error and returns the refusal to respond with. */
export function refusalForError(thrown: unknown, context: AppContext): Refusal {
  const error = thrown as Error;
  const request_id = context.get("request_id");
  console.error({ event: "request_failed", request_id, ...reportError(error) });
  const retry_after_seconds = UNAVAILABLE_RETRY_AFTER_SECONDS;
  if (error.message === NEWER_DATA) return { code: "newer_data", retry_after_seconds };
  if (error.message === ACCOUNT_RESTORING)
    return { code: "account_restoring", retry_after_seconds };
  return isUnavailable(error)
    ? { code: "unavailable", retry_after_seconds }
    : { code: "internal", request_id };
}

/**
 * Whether a retry may succeed: D1 failed, the platform reset an object or could not reach it, the object still runs an
 * older build, which does not have the method yet, this build cannot open an account, so the release is taken back, or old
 * rows cannot be read from the archive.
 */
function isUnavailable(error: Error): boolean {
  if (isPlatformFailure(error)) return true;
  if ([MIGRATION_FAILED, ARCHIVE_UNREADABLE].includes(error.message)) return true;
  if (error.message.startsWith(UNKNOWN_METHOD)) return true;
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return error.message.startsWith("D1_ERROR") || cause.startsWith("D1_ERROR");
}
