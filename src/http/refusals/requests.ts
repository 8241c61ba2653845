/** The error messages of refusals of a request itself, and of our own failures. */
import { policyName, type RateLimitRule } from "../../domain/rate_limits.ts";
import type { ErrorTable } from "./table.ts";

const NOTHING_HERE = "There is nothing at this address.";

const MISSING = {
  payments:
    "This service does not sell credits. Its operator can set CREDIT_PACKAGES and Stripe's keys.",
  archive:
    "This service has no archive. Add the bucket ARCHIVE to wrangler.toml, and deploy (docs/keep.md).",
  metrics:
    "This service has no metrics of its requests. Add the binding METRICS to wrangler.toml, set METRICS_READER, and deploy (docs/metrics.md).",
} as const;

export const REQUESTS = {
  invalid_request: ({ detail }) => ({ error: detail }),
  unsupported_media_type: "Send the body as JSON, with Content-Type: application/json.",
  body_too_large: ({ limit_bytes }) => ({ error: `The body is larger than ${limit_bytes} bytes.` }),
  not_found: (refusal) => ({
    error: "missing" in refusal ? MISSING[refusal.missing] : NOTHING_HERE,
  }),
  unknown_host: ({ base_url }) => ({
    error: `Use ${base_url}: this service accepts no other host.`,
  }),
  https_required: ({ base_url }) => ({
    error: `Use ${base_url}: this request was not encrypted. If it carried a token, revoke that token.`,
  }),
  method_not_allowed: ({ allowed }) => ({
    error: `Use ${allowed.join(" or ")}: this address allows no other method.`,
    headers: { Allow: allowed.join(", ") },
  }),
  idempotency_key_reused: ({ step }) => ({
    error:
      step === undefined
        ? "This Idempotency-Key was used for a different request. Use a new key."
        : `Step ${step} of this job was reported with another body. Report a change as a new step.`,
  }),
  rate_limited: ({ rule }) => ({
    error: `Too many requests. Try again in ${rule.window_seconds} seconds.`,
    headers: rateLimitHeaders(rule),
  }),
  unavailable: ({ retry_after_seconds }) => ({
    error:
      "The service is unavailable, and this request may or may not have taken effect. " +
      "Try again shortly, with the same Idempotency-Key if you sent one.",
    headers: { "Retry-After": String(retry_after_seconds) },
  }),
  newer_data: ({ retry_after_seconds }) => ({
    error:
      "This account was changed by a newer release of the service than the one that runs now. Nothing changed. " +
      "Try again in a few minutes.",
    headers: { "Retry-After": String(retry_after_seconds) },
  }),
  account_restoring: ({ retry_after_seconds }) => ({
    error:
      "An operator restores this account from the archive. Nothing changed. Try again in a few minutes.",
    headers: { "Retry-After": String(retry_after_seconds) },
  }),
  misconfigured: ({ variables }) => ({
    error: `The service is misconfigured. Its operator can correct ${variables.join(", ")}.`,
  }),
  internal: ({ request_id }) => ({
    error: `Something went wrong on our side. To report it, send the request id ${request_id}.`,
  }),
} satisfies Partial<ErrorTable>;

/**
 * `RateLimit` and `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers-10. The platform's limiter
 * does not say when its window ends, so the wait is the whole window.
 */
function rateLimitHeaders(rule: RateLimitRule): Readonly<Record<string, string>> {
  const { count, window_seconds } = rule;
  const name = policyName(rule);
  return {
    "Retry-After": String(window_seconds),
    "RateLimit-Policy": `"${name}";q=${count};w=${window_seconds}`,
    RateLimit: `"${name}";r=0;t=${window_seconds}`,
  };
}
