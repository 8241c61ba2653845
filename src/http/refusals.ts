/** The only place where refusals become responses: the status of each code, and its error message. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import { REFUSAL_STATUS, type RefusalCode } from "../domain/refusal_codes.ts";
import type { Refusal, ScopeReason } from "../domain/refusals.ts";
import type { AppContext } from "./context.ts";
import { APPS } from "./refusals/apps.ts";
import { CALLERS, MISSING_SCOPES } from "./refusals/callers.ts";
import { JOBS } from "./refusals/jobs.ts";
import { LIMIT_REACHED } from "./refusals/limit_reached.ts";
import { nextSteps } from "./refusals/next_steps.ts";
import { REQUESTS } from "./refusals/requests.ts";
import type { ErrorParts, ErrorTable } from "./refusals/table.ts";
import { THIRD_PARTIES } from "./refusals/third_parties.ts";
import { TOKENS } from "./refusals/tokens.ts";

/** The compiler requires every code. */
const ERRORS: ErrorTable = {
  ...REQUESTS,
  ...CALLERS,
  ...TOKENS,
  ...JOBS,
  ...APPS,
  ...LIMIT_REACHED,
  ...THIRD_PARTIES,
};

export interface DescribedRefusal extends Omit<ErrorParts, "status"> {
  readonly code: RefusalCode;
  readonly status: (typeof REFUSAL_STATUS)[RefusalCode];
}

/**
 * The status, headers and body members of a refusal. For some minutes after a deployment, an object may run a newer
 * build than this Worker, and refuse with a code or a reason that this build does not have. The caller gets 503 and
 * tries again, because any other status would be a guess.
 */
export function describeRefusal(refusal: Refusal): DescribedRefusal {
  const { code } = refusal;
  const parts = partsOf(refusal);
  if (parts?.error !== undefined) {
    return { status: REFUSAL_STATUS[code], ...parts, error: parts.error, code };
  }
  console.error({
    event: "refusal_unknown",
    code,
    reason: "reason" in refusal ? refusal.reason : null,
  });
  return describeRefusal({
    code: "unavailable",
    retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
  });
}

/** Undefined, or without a message, for what a newer build refuses. */
function partsOf(refusal: Refusal): Partial<ErrorParts> | undefined {
  const { code } = refusal;
  // Every object has some names, such as `constructor`.
  if (!Object.hasOwn(ERRORS, code)) return undefined;
  // The entry of a code takes the refusals of this code, which the compiler cannot follow.
  const entry = ERRORS[code] as string | ((it: Refusal) => Partial<ErrorParts>);
  return typeof entry === "string" ? { error: entry } : entry(refusal);
}

/** Responds with a refusal as JSON: `{ error, code }` and the further members of its code. */
export function refuse(context: AppContext, refusal: Refusal): Response {
  context.set("refusal_code", refusal.code);
  const described = describeRefusal(refusal);
  const { status, headers } = described;
  const response = context.json(bodyOf(described, nextSteps(context, refusal)), status, headers);
  const challenge = challengeOf(context, refusal);
  if (challenge === null) return response;
  const metadata = `${context.get("base_url")}/.well-known/oauth-protected-resource`;
  const all = [...challenge, `resource_metadata="${metadata}"`].join(", ");
  response.headers.set("WWW-Authenticate", `Bearer ${all}`);
  return response;
}

/**
 * The parameters of the challenge of our API (RFC 6750, section 3.1), without the address where clients learn how to get a
 * token (RFC 9728). `invalid_token` only if the request has a token. Null: the response has no challenge.
 */
export function challengeOf(context: AppContext, refusal: Refusal): readonly string[] | null {
  if (REFUSAL_STATUS[refusal.code] === 401) {
    return presentsToken(context) ? ['error="invalid_token"'] : [];
  }
  const needed = refusal.code === "scope" ? neededScope(context, refusal.reason) : null;
  return needed === null ? null : ['error="insufficient_scope"', `scope="${needed}"`];
}

/** In the header, or in the subprotocol of a browser's WebSocket. */
function presentsToken(context: AppContext): boolean {
  return (
    /^bearer +\S/i.test(context.req.header("Authorization") ?? "") ||
    /(^|,) *bearer\./.test(context.req.header("Sec-WebSocket-Protocol") ?? "")
  );
}

/** The scope that the token must have; null: another scope would not help. */
function neededScope(context: AppContext, reason: ScopeReason): string | null {
  const missing = MISSING_SCOPES[reason] ?? null;
  if (missing !== "access") return missing;
  return ["GET", "HEAD"].includes(context.req.method) ? "read" : "write";
}

/** The JSON of a refusal of one item of a batch. */
export function refusalView(context: AppContext, refusal: Refusal): object {
  return bodyOf(describeRefusal(refusal), nextSteps(context, refusal));
}

function bodyOf({ error, code, more }: DescribedRefusal, next_steps: object): object {
  return { error, code, ...more, ...next_steps };
}
