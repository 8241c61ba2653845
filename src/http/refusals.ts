/** The only place where refusals become responses: the status of each code, and its error message. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import { policyName, type RateLimitRule } from "../domain/rate_limits.ts";
import { REFUSAL_STATUS, type RefusalCode } from "../domain/refusal_codes.ts";
import type { EndedReason, Refusal, ScopeReason } from "../domain/refusals.ts";
import { timestamp } from "../domain/wire.ts";
import type { AppContext } from "./context.ts";
import { jobParts, type ErrorParts } from "./refusals/jobs.ts";

const ENDED_MESSAGES = {
  personal_token_ended: "This token was revoked or has expired. Get a new one.",
  session_ended: "The session behind this request has ended. Sign in again.",
  account_deleted: "This account was deleted. Sign in again to open a new one.",
} as const satisfies Readonly<Record<EndedReason, string>>;

const SCOPE_MESSAGES: Readonly<Record<ScopeReason, string>> = {
  read_only: "This token is read-only. Use a token with the scope write.",
  admin_only:
    "This token has only the scope admin, which gives no access to your account. Use a token with the scope read or write.",
  signin_only:
    "This token is only for sign-in and has no access to the account. Request the scope read or write.",
  other_app: "This token is limited to other apps. Use a token for this app.",
  apps_only:
    "A token that is limited to some apps cannot read personal data. Use a session, or a token for all apps.",
  no_upstream:
    "This token has no access to upstream tokens. Approve a token with the scope upstream.",
  capped:
    "A token with a spending cap can complete or fail only jobs that it, or a token exchanged from it, created.",
  own_page:
    "Only the service's own pages can give a token more credits or apps. Change it on /account/connections.",
  no_purchase: "Buying credits requires a session, or a token without limits.",
  itself_only:
    "A token can revoke only itself. Revoke other tokens on the page /account/connections.",
  upstream_origin:
    "This origin or client may not receive this provider's tokens. An operator can add the provider to the app's upstream_providers.",
  upstream_issuer:
    'Apps with tokens of this issuer may not receive upstream tokens. An operator can set "upstream": true in its entry of TRUSTED_ISSUERS.',
  holder_only:
    "Only the account's holder can do this, in a signed-in browser, on the page /account or /account/jobs.",
  cap_ended:
    "The token that created this job had a spending cap and has ended. Settle the job for at most the credits reserved for it.",
  app_key: "An app's key gives access only to the wallet, and to that app's own jobs and webhooks.",
};

const NOTHING_HERE = "There is nothing at this address.";

const NO_PAYMENTS =
  "This service does not sell credits. Its operator can set CREDIT_PACKAGES and Stripe's keys.";

const NOT_ALLOWED =
  "which is not an allowed address. Its operator can add its origin to ALLOWED_ORIGINS, or to the app's origins.";

export interface DescribedRefusal extends ErrorParts {
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
  const parts: Partial<ErrorParts> | undefined = partsOf(refusal);
  if (parts?.error !== undefined) {
    return { ...parts, error: parts.error, code, status: REFUSAL_STATUS[code] };
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

function partsOf(refusal: Refusal): ErrorParts {
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
      return { error: `Use ${refusal.base_url}: this service accepts no other host.` };
    case "https_required":
      return {
        error: `Use ${refusal.base_url}: this request was not encrypted. If it carried a token, revoke that token.`,
      };
    case "method_not_allowed":
      return {
        error: `Use ${refusal.allowed.join(" or ")}: this address allows no other method.`,
        headers: { Allow: refusal.allowed.join(", ") },
      };
    case "idempotency_key_reused":
      return {
        error:
          refusal.step === undefined
            ? "This Idempotency-Key was used for a different request. Use a new key."
            : `Step ${refusal.step} of this job was reported with another body. Report a change as a new step.`,
      };
    case "unauthorized":
      return {
        error: "reason" in refusal ? ENDED_MESSAGES[refusal.reason] : refusal.detail,
        headers: { "WWW-Authenticate": "Bearer" },
      };
    case "token_expired":
      return {
        error: "The bearer token has expired. Get a new one.",
        headers: { "WWW-Authenticate": "Bearer" },
      };
    case "origin_not_allowed":
      return {
        error:
          "This origin may not send cookies. Send a bearer token, or ask the operator to allow the origin.",
      };
    case "redirect_not_allowed":
      return { error: `redirect_to is ${refusal.address}, ${NOT_ALLOWED}` };
    case "loopback_required":
      return {
        error:
          "Development sign-in works only on this machine. Open http://localhost with the same port.",
      };
    case "not_operator":
      return {
        error:
          refusal.reason === "foreign_session"
            ? "Operators must use the service's own pages, or a personal access token with the scope admin."
            : "Only an operator of this service can do this.",
      };
    case "role_required":
      return { error: roleMessage(refusal), more: { role: refusal.role } };
    case "suspended":
      return { error: "This account is suspended. Contact the operator of this service." };
    case "account_unknown":
      return {
        error:
          refusal.app_slug === undefined
            ? "You have access to no account with this identity. Check the identity."
            : `No account with this identity is open for the app ${refusal.app_slug}. Check the identity. A holder opens an account by using the app, or by connecting the app again on /account.`,
      };
    case "identity_ambiguous":
      return {
        error: `${refusal.matches} people have this e-mail address. Find them with GET /api/admin/accounts?q= or in the console, and use the identity_id of one of them.`,
        more: { matches: refusal.matches },
      };
    case "token_template_unknown":
      return {
        error:
          "There is no token template with this name for this caller. Check the name, and use a session.",
      };
    case "rate_limited":
      return {
        error: `Too many requests. Try again in ${refusal.rule.window_seconds} seconds.`,
        headers: rateLimitHeaders(refusal.rule),
      };
    case "too_many_watchers":
      return {
        error: `An account can have at most ${refusal.limit} open streams. Close one first.`,
        headers: { "Retry-After": "60" },
      };
    case "insufficient_credits":
    case "job_not_found":
    case "job_unknown":
    case "job_not_started":
    case "too_many_open_jobs":
    case "account_full":
    case "token_storage_full":
    case "balance_limit":
    case "balance_below_zero":
    case "overage_limit":
    case "refund_limit":
    case "metadata_too_large":
    case "spent_limit":
    case "step_too_old":
    case "too_many_steps":
      return jobParts(refusal);
    case "too_many_apps":
      return { error: `An account can have at most ${refusal.limit} apps.` };
    case "package_unknown":
      return { error: "There is no package with this id for sale. Check package." };
    case "return_url_not_allowed":
      return {
        error: `return_url is ${refusal.address}, ${NOT_ALLOWED}`,
      };
    case "payments_unavailable":
      return {
        error: "The payment service is not responding. Nothing was paid. Try again shortly.",
        headers: { "Retry-After": String(refusal.retry_after_seconds) },
      };
    case "payments_refused":
      return {
        error: "The payment service refused this checkout. Nothing was paid. Contact the operator.",
      };
    case "signature_invalid":
      return { error: "The Stripe-Signature header is missing, wrong or too old." };
    case "purchase_unmatched":
      return {
        error:
          "This payment matches no package in CREDIT_PACKAGES. Restore its price there, then send the event again.",
      };
    case "token_not_found":
      return {
        error: "There is no token of this provider for you. Sign in with the provider first.",
      };
    case "reconnect_required":
      return {
        error: "The provider no longer accepts your consent. Sign in with the provider again.",
      };
    case "upstream_unavailable":
      return {
        error: "The provider is not responding. Your token is kept. Try again shortly.",
        more: { upstream_status: refusal.upstream_status },
      };
    case "upstream_error":
      return {
        error:
          refusal.upstream_status === null
            ? "The social network did not send a usable response. Try again shortly."
            : `The social network's response (status ${refusal.upstream_status}) is not usable. Check the token, or try again shortly.`,
        more: { upstream_status: refusal.upstream_status },
      };
    case "upstream_not_configured":
      return {
        error:
          "No social network is configured. The operator of this service can set SOCIAL_API_URL.",
        more: { upstream_status: null },
      };
    case "user_code_invalid":
      return { error: "This code is unknown. Compare it with the code on your device." };
    case "device_code_unknown":
      return { error: "This device_code is unknown. Start again." };
    case "expired_token":
      return { error: "This code has expired. Start again on your device." };
    case "already_used":
      return { error: "This code has already been used. Start again on your device." };
    case "access_denied":
      return { error: "This login was denied. If that was a mistake, start again on your device." };
    case "identity_required":
      return {
        error:
          "With an app's key, send the identity_id of the account in the header Passbook-Identity.",
      };
    case "app_settles":
      return {
        error: "Only this app's own server can complete or fail its jobs, with the app's key.",
      };
    case "app_unknown":
      return { error: "No app is registered with this slug. Check the slug." };
    case "app_changed":
      return {
        error:
          "This app already exists, or it was changed after you read it. Read it again, then send its current version.",
      };
    case "app_key_not_found":
      return { error: "The app has no key with this id." };
    case "app_key_revoked":
      return {
        error:
          "The key that this request created was revoked. To create another, use a new Idempotency-Key.",
      };
    case "too_many_app_keys":
      return {
        error: `An app can have at most ${refusal.limit} keys. Revoke one that you no longer need.`,
      };
    case "webhook_not_found":
      return { error: "The app has no webhook with this id." };
    case "too_many_webhooks":
      return { error: `An app can have at most ${refusal.limit} webhooks. Delete one first.` };
    case "client_not_found":
      return { error: "The app has no OAuth client with this id." };
    case "client_deleted":
      return {
        error:
          "A client with this id was deleted, and its id is not used again. Choose another id.",
      };
    case "too_many_clients":
      return { error: `An app can have at most ${refusal.limit} OAuth clients. Delete one first.` };
    case "resource_not_found":
      return { error: "The app has no resource with this id." };
    case "resource_taken":
      return {
        error:
          "Another resource is registered with this address. Delete that one first, or use another address.",
      };
    case "too_many_resources":
      return { error: `An app can have at most ${refusal.limit} resources. Delete one first.` };
    case "scope":
      return { error: SCOPE_MESSAGES[refusal.reason] };
    case "token_budget_exceeded":
      return {
        more: budgetView(refusal),
        error: `This token can spend ${refusal.room} more credits, which does not cover ${refusal.required}.`,
      };
    case "approval_invalid":
      return {
        error:
          "This approval is not for this job: its token, app and action must be the same, and its estimate at most the approved amount. To request one for this job, leave approval out.",
      };
    case "approval_denied":
      return { error: "The account's holder denied this job." };
    case "approval_ended":
      return {
        error:
          "This approval was used, or its 15 minutes are over. To request another, leave approval out.",
      };
    case "personal_token_not_found":
      return { error: "You have no token with this id." };
    case "too_many_tokens":
      return {
        error: `An account can have at most ${refusal.limit} tokens. Revoke one that you no longer need.`,
      };
    case "unavailable":
      return {
        error:
          "The service is unavailable, and this request may or may not have taken effect. " +
          "Try again shortly, with the same Idempotency-Key if you sent one.",
        headers: { "Retry-After": String(refusal.retry_after_seconds) },
      };
    case "newer_data":
      return {
        error:
          "This account was changed by a newer release of the service than the one that runs now. Nothing changed. " +
          "Try again in a few minutes.",
        headers: { "Retry-After": String(refusal.retry_after_seconds) },
      };
    case "misconfigured":
      return {
        error: `The service is misconfigured. Its operator can correct ${refusal.variables.join(", ")}.`,
      };
    case "internal":
      return {
        error: `Something went wrong on our side. To report it, send the request id ${refusal.request_id}.`,
      };
  }
}

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

function roleMessage({ role, credits_left }: Extract<Refusal, { code: "role_required" }>): string {
  if (credits_left === undefined) {
    return `This requires the role ${role}. Ask an operator with this role, or an admin to change OPERATORS.`;
  }
  return `With your role you can change at most ${credits_left} more credits today (UTC). An operator with the role ${role} can change more.`;
}

function budgetView({
  cap,
  spent,
  room,
  required,
  resets_at_ms,
  approval: offered,
}: Extract<Refusal, { code: "token_budget_exceeded" }>) {
  const resets_at = resets_at_ms === null ? null : timestamp(resets_at_ms);
  const { approval = null, approval_url = null } = offered ?? {};
  return { cap, spent, room, required, resets_at, approval, approval_url };
}

/** Responds with a refusal as JSON: `{ error, code }` and the further members of its code. */
export function refuse(context: AppContext, refusal: Refusal): Response {
  const described = describeRefusal(refusal);
  const { status, headers } = described;
  const response = context.json(bodyOf(described), status, headers);
  if (status === 401) response.headers.set("WWW-Authenticate", challengeOf(context));
  return response;
}

/** The challenge of our API (RFC 6750, section 3), with the address where clients learn how to get a token (RFC 9728). */
function challengeOf(context: AppContext): string {
  return `Bearer resource_metadata="${context.get("base_url")}/.well-known/oauth-protected-resource"`;
}

/** The JSON of a refusal of one item of a batch. */
export function refusalView(refusal: Refusal): object {
  return bodyOf(describeRefusal(refusal));
}

function bodyOf({ error, code, more }: DescribedRefusal): object {
  return { error, code, ...more };
}
