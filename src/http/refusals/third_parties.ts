/** The error messages of refusals about payments and about tokens of other services. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../domain/limits.ts";
import { NOT_ALLOWED, type ErrorTable } from "./table.ts";

export const THIRD_PARTIES = {
  token_not_found: "There is no token of this provider for you. Sign in with the provider first.",
  reconnect_required:
    "The provider no longer accepts your consent. Sign in with the provider again.",
  upstream_unavailable: ({ upstream_status }) => ({
    error: "The provider is not responding. Your token is kept. Try again shortly.",
    more: { upstream_status },
  }),
  upstream_error: ({ upstream_status }) => ({
    error:
      upstream_status === null
        ? "The social network did not send a usable response. Try again shortly."
        : `The social network's response (status ${upstream_status}) is not usable. Check the token, or try again shortly.`,
    more: { upstream_status },
  }),
  upstream_not_configured: () => ({
    error: "No social network is configured. The operator of this service can set SOCIAL_API_URL.",
    more: { upstream_status: null },
  }),
  metrics_unavailable: () => ({
    error:
      "Cloudflare does not respond with the metrics, or does not accept METRICS_READER (docs/metrics.md). Try again shortly.",
    headers: { "Retry-After": String(UNAVAILABLE_RETRY_AFTER_SECONDS) },
  }),
  package_unknown: "There is no package with this id for sale. Check package.",
  return_to_not_allowed: ({ address }) => ({
    error: `return_to is ${address}, ${NOT_ALLOWED}`,
  }),
  payments_unavailable: ({ retry_after_seconds }) => ({
    error: "The payment service is not responding. Nothing was paid. Try again shortly.",
    headers: { "Retry-After": String(retry_after_seconds) },
  }),
  payments_refused:
    "The payment service refused this checkout. Nothing was paid. Contact the operator.",
  signature_invalid: "The Stripe-Signature header is missing, wrong or too old.",
  purchase_unmatched:
    "This payment matches no package in CREDIT_PACKAGES. Restore its price there, then send the event again.",
} satisfies Partial<ErrorTable>;
