/** The one place where refusals become responses: the status of the code, and the words. */
import type { ScopeReason } from "../domain/personal_token.ts";
import { policyName, type RateLimitRule } from "../domain/rate_limits.ts";
import { REFUSAL_STATUS, type RefusalCode } from "../domain/refusal_codes.ts";
import type { EndedReason, Refusal } from "../domain/refusals.ts";
import { timestamp } from "../domain/wire.ts";
import type { AppContext } from "./context.ts";

interface Description {
  /** A sentence for people: what is wrong and what to do next. */
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the body in addition to `error` and `code`. */
  readonly more?: Readonly<Record<string, number | string | object | null>>;
}

const ENDED_WORDS = {
  personal_token_ended: "This token was revoked or has expired. Get a new one.",
  session_ended: "The session behind this request has ended. Sign in again.",
  account_deleted: "This account was deleted. Sign in again to begin a new one.",
} as const satisfies Readonly<Record<EndedReason, string>>;

const SCOPE_WORDS: Readonly<Record<ScopeReason, string>> = {
  read_only: "This token may only read.",
  admin_only: "This token operates the service and may do nothing in your account.",
  other_app: "This token may not act for this app.",
  apps_only: "A token limited to some apps is told nothing of the person behind it.",
  no_upstream: "This token gets no third parties' tokens: its owner did not allow that.",
  capped: "A token with a spending cap may end only its own jobs.",
  no_purchase: "Buying credits needs a session, or a token without limits.",
  itself_only: "A token may revoke only itself. Revoke others on the page /account/tokens.",
  upstream_origin:
    "This origin does not receive this provider's tokens. An operator can add the provider to the app's upstream_providers.",
  holder_only:
    "Only the account's holder may do this, in a browser where they are signed in: on the page /account or /account/jobs.",
  cap_ended:
    "The token that created this job had a spending cap and has ended. Settle the job at what was reserved for it, or less.",
  app_key: "An app's key is for the wallet and that app's own jobs.",
};

const WHOSE_JOBS = {
  account: "An account has",
  app: "One app has in one account",
  token: "One token has",
} as const;

const NOTHING_HERE = "There is nothing at this address.";

const NO_PAYMENTS =
  "This service sells no credits. Its operator can set CREDIT_PACKAGES and Stripe's keys.";

const NOT_ALLOWED =
  "which is not an allowed address. Its operator can add its origin to ALLOWED_ORIGINS, or to the app's origins.";

/** How a refusal looks on the wire. */
export function describeRefusal(
  refusal: Refusal,
): Description & { readonly status: (typeof REFUSAL_STATUS)[RefusalCode] } {
  return { status: REFUSAL_STATUS[refusal.code], ...wordsOf(refusal) };
}

function wordsOf(refusal: Refusal): Description {
  switch (refusal.code) {
    case "invalid_request":
      return { error: refusal.detail };
    case "unsupported_media_type":
      return { error: "Send the body as JSON, with Content-Type: application/json." };
    case "body_too_large":
      return { error: `The body is larger than ${refusal.limit_bytes} bytes.` };
    case "not_found":
      return { error: "missing" in refusal ? NO_PAYMENTS : NOTHING_HERE };
    case "unknown_host":
      return { error: `This service answers at ${refusal.base_url} alone.` };
    case "https_required":
      return {
        error: `Use ${refusal.base_url}: this was sent in clear. Replace a token that was sent so.`,
      };
    case "method_not_allowed":
      return {
        error: `This address takes ${refusal.allowed.join(", ")} only.`,
        headers: { Allow: refusal.allowed.join(", ") },
      };
    case "idempotency_key_reused":
      return {
        error: "This Idempotency-Key was used for another request. Use a new key.",
      };
    case "unauthorized":
      return {
        error: "reason" in refusal ? ENDED_WORDS[refusal.reason] : refusal.detail,
        headers: { "WWW-Authenticate": "Bearer" },
      };
    case "token_expired":
      return {
        error: "The bearer token has expired. Get a new one.",
        headers: { "WWW-Authenticate": "Bearer" },
      };
    case "origin_not_allowed":
      return {
        error: "This origin may not act with cookies. Send a bearer token, or have it allowed.",
      };
    case "redirect_not_allowed":
      return {
        error: `redirect_to is ${refusal.address}, ${NOT_ALLOWED}`,
      };
    case "loopback_required":
      return {
        error: "Development sign-in is for this machine alone. Open http://localhost, same port.",
      };
    case "not_operator":
      return {
        error:
          refusal.reason === "foreign_session"
            ? "Operators act on the service's own pages, or with a personal access token of scope admin."
            : "Only the operators of the service may do this.",
      };
    case "suspended":
      return { error: "This account is suspended. Ask the service's operator why." };
    case "account_unknown":
      return { error: "No account of this identity is known to you." };
    case "token_template_unknown":
      return { error: "No token template of this name is available to you." };
    case "rate_limited":
      return {
        error: `Too many requests. Try again in ${refusal.rule.window_seconds} seconds.`,
        headers: rateLimitHeaders(refusal.rule),
      };
    case "too_many_watchers":
      return {
        error: `An account has at most ${refusal.limit} streams open at once. Close some first.`,
        headers: { "Retry-After": "60" },
      };
    case "insufficient_credits":
      return {
        error: `The balance of ${refusal.credits} credits does not cover ${refusal.required}.`,
        more: { credits: refusal.credits, held: refusal.held, required: refusal.required },
      };
    case "job_not_found":
      return { error: "You have no job with this id." };
    case "job_unknown":
      return { error: "You have no job with this job_id." };
    case "job_not_started":
      return { error: "This job has already ended." };
    case "too_many_open_jobs":
      return {
        error: `${WHOSE_JOBS[refusal.of]} at most ${refusal.limit} started jobs at once. Complete, fail or cancel some of them first.`,
      };
    case "account_full":
      return {
        error:
          "This account holds all it can. Its jobs can still end; new ones need a new account.",
      };
    case "token_storage_full":
      return {
        error: `This token's jobs have stored ${refusal.limit_bytes} bytes, which is a token's share of the account. Its jobs can still end; sign in again for a new token.`,
      };
    case "balance_limit":
      return { error: "This cost would take the balance out of its range." };
    case "balance_below_zero":
      return {
        error: `Taking ${refusal.required} of ${refusal.credits} credits leaves the balance below zero. Send allow_negative: true if that is meant.`,
        more: { credits: refusal.credits, required: refusal.required },
      };
    case "overage_limit":
      return {
        error: `This job may cost at most ${refusal.limit} credits: its app limits how far a cost exceeds the estimate. Nothing changed.`,
        more: { limit: refusal.limit },
      };
    case "metadata_too_large":
      return {
        error: `The job's metadata is larger than ${refusal.limit_bytes} bytes.`,
      };
    case "too_many_apps":
      return { error: `An account holds at most ${refusal.limit} apps.` };
    case "package_unknown":
      return { error: "No package of this id is for sale." };
    case "return_url_not_allowed":
      return {
        error: `return_url is ${refusal.address}, ${NOT_ALLOWED}`,
      };
    case "payments_unavailable":
      return {
        error: "The payment service does not answer. Nothing was paid; try again shortly.",
        headers: { "Retry-After": String(refusal.retry_after_seconds) },
      };
    case "payments_refused":
      return {
        error: "The payment service turned this down. Nothing was paid; tell the operator.",
      };
    case "signature_invalid":
      return { error: "The signature is missing, wrong, or too old." };
    case "purchase_unmatched":
      return {
        error: "Paid for, and none of CREDIT_PACKAGES. Restore its price there, and send it again.",
      };
    case "token_not_found":
      return {
        error: "No token of this provider is held for you. Sign in with the provider first.",
      };
    case "reconnect_required":
      return {
        error: "The provider no longer honours your consent. Sign in with it again.",
      };
    case "upstream_unavailable":
      return {
        error: "The provider does not answer right now. Nothing is lost; try again shortly.",
        more: { upstream_status: refusal.upstream_status },
      };
    case "upstream_error":
      return {
        error:
          refusal.upstream_status === null
            ? "The social network gave no answer that can be passed on."
            : `The social network's answer, of status ${refusal.upstream_status}, cannot be passed on.`,
        more: { upstream_status: refusal.upstream_status },
      };
    case "upstream_not_configured":
      return {
        error: "This service has no social network set up. Its operator can set SOCIAL_API_URL.",
        more: { upstream_status: null },
      };
    case "user_code_invalid":
      return { error: "This code is not known. Compare it with your device." };
    case "device_code_unknown":
      return { error: "This device_code is not known. Start again." };
    case "expired_token":
      return { error: "This code has expired. Start again on your device." };
    case "already_used":
      return { error: "This code has already been used. Start again on your device." };
    case "access_denied":
      return { error: "This login was denied. Start again if that was a mistake." };
    case "identity_required":
      return {
        error: "An app's key acts in an account: name it in the header Passbook-Identity.",
      };
    case "app_settles":
      return { error: "This app settles its jobs itself, by its own key." };
    case "app_unknown":
      return { error: "No app is registered under this slug." };
    case "app_changed":
      return {
        error:
          "This app is registered already, or somebody changed it since you read it. Read it again, then send the version that you read.",
      };
    case "app_key_not_found":
      return { error: "The app has no key with this id." };
    case "app_key_revoked":
      return {
        error:
          "This request made a key that was revoked since. To make another, use a new Idempotency-Key.",
      };
    case "too_many_app_keys":
      return {
        error: `An app has at most ${refusal.limit} keys. Revoke one you no longer need.`,
      };
    case "scope":
      return { error: SCOPE_WORDS[refusal.reason] };
    case "token_budget_exceeded":
      return {
        more: budgetView(refusal),
        error: `This token may spend ${refusal.room} more credits, which does not cover ${refusal.required}.`,
      };
    case "personal_token_not_found":
      return { error: "You have no token with this id." };
    case "too_many_tokens":
      return {
        error: `An account holds at most ${refusal.limit} tokens. Revoke one you no longer need.`,
      };
    case "unavailable":
      return {
        error:
          "The service cannot answer right now, and what you asked may or may not have happened. " +
          "Try again shortly, with the same Idempotency-Key if you sent one.",
        headers: { "Retry-After": String(refusal.retry_after_seconds) },
      };
    case "misconfigured":
      return {
        error: `The service is not set up: see ${refusal.variables.join(", ")} among its settings.`,
      };
    case "internal":
      return {
        error: `Something went wrong on our side. Request id: ${refusal.request_id}.`,
      };
  }
}

/**
 * `RateLimit` and `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers-10. The platform's limiter
 * does not say when its window ends: at the latest after the whole window.
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

function budgetView({
  cap,
  spent,
  room,
  required,
  resets_at_ms,
}: Extract<Refusal, { code: "token_budget_exceeded" }>) {
  const resets_at = resets_at_ms === null ? null : timestamp(resets_at_ms);
  return { cap, spent, room, required, resets_at };
}

/** Answers a refusal as JSON: `{ error, code }`, and what its code adds. */
export function refuse(context: AppContext, refusal: Refusal): Response {
  const { status, headers } = describeRefusal(refusal);
  return context.json(refusalView(refusal), status, headers);
}

/** A refusal as a body, or as one item of a batch. */
export function refusalView(refusal: Refusal): object {
  const { error, more } = describeRefusal(refusal);
  return { error, code: refusal.code, ...more };
}
