/** Error responses of the document, generated from `describeRefusal`: status, message, headers and members. */
import type { ZodOpenApiResponseObject } from "zod-openapi";
import * as z from "zod";
import {
  BODY_MAX_BYTES,
  JOB_STEPS_MAX,
  METADATA_MAX_BYTES,
  OPEN_JOBS_MAX,
  TOKEN_STORAGE_MAX_BYTES,
  APPS_PER_ACCOUNT_MAX,
  EVENTS_WATCHERS_MAX,
  KEYS_PER_APP_MAX,
  ALLOWANCES_PER_ACCOUNT_MAX,
} from "../../domain/limits.ts";
import { RATE_LIMITS } from "../../domain/rate_limits.ts";
import { REFUSAL_STATUS, type RefusalCode } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { CLIENTS_PER_APP_MAX, RESOURCES_PER_APP_MAX } from "../../domain/oauth_client.ts";
import { WEBHOOKS_PER_APP_MAX } from "../../domain/webhook.ts";
import { describeRefusal } from "../refusals.ts";
import { errorBodies } from "./error_bodies.ts";

/** An example of each refusal. A new refusal without one does not compile. */
const SAMPLES: { readonly [Code in RefusalCode]: Extract<Refusal, { readonly code: Code }> } = {
  invalid_request: { code: "invalid_request", detail: "cost_estimate must not be negative." },
  unsupported_media_type: { code: "unsupported_media_type" },
  body_too_large: { code: "body_too_large", limit_bytes: BODY_MAX_BYTES },
  not_found: { code: "not_found" },
  idempotency_key_reused: { code: "idempotency_key_reused" },
  unauthorized: { code: "unauthorized", detail: "Sign in, or send a bearer token." },
  origin_not_allowed: { code: "origin_not_allowed" },
  redirect_not_allowed: { code: "redirect_not_allowed", address: "https://app.example.com/back" },
  token_template_unknown: { code: "token_template_unknown" },
  rate_limited: { code: "rate_limited", rule: RATE_LIMITS.writes },
  insufficient_credits: { code: "insufficient_credits", credits: 3, held: 20, required: 10 },
  job_not_found: { code: "job_not_found" },
  job_unknown: { code: "job_unknown" },
  job_ended: { code: "job_ended" },
  too_many_open_jobs: { code: "too_many_open_jobs", of: "account", limit: OPEN_JOBS_MAX },
  account_full: { code: "account_full" },
  token_storage_full: { code: "token_storage_full", limit_bytes: TOKEN_STORAGE_MAX_BYTES },
  balance_limit: { code: "balance_limit" },
  balance_below_zero: { code: "balance_below_zero", credits: 20, required: 50 },
  overage_limit: { code: "overage_limit", limit: 15 },
  refund_limit: { code: "refund_limit", limit: 6 },
  spent_limit: { code: "spent_limit", limit: 60 },
  step_too_old: { code: "step_too_old", step: 7 },
  too_many_steps: { code: "too_many_steps", limit: JOB_STEPS_MAX },
  metadata_too_large: { code: "metadata_too_large", limit_bytes: METADATA_MAX_BYTES },
  too_many_watchers: { code: "too_many_watchers", of: "account", limit: EVENTS_WATCHERS_MAX },
  too_many_apps: { code: "too_many_apps", of: "all", limit: APPS_PER_ACCOUNT_MAX },
  package_unknown: { code: "package_unknown" },
  return_url_not_allowed: {
    code: "return_url_not_allowed",
    address: "https://app.example.com/back",
  },
  payments_unavailable: { code: "payments_unavailable", retry_after_seconds: 5 },
  payments_refused: { code: "payments_refused" },
  signature_invalid: { code: "signature_invalid" },
  purchase_unmatched: { code: "purchase_unmatched" },
  token_not_found: { code: "token_not_found" },
  reconnect_required: { code: "reconnect_required" },
  upstream_unavailable: { code: "upstream_unavailable", upstream_status: 503 },
  upstream_error: { code: "upstream_error", upstream_status: 500 },
  upstream_not_configured: { code: "upstream_not_configured" },
  user_code_invalid: { code: "user_code_invalid" },
  device_code_unknown: { code: "device_code_unknown" },
  expired_token: { code: "expired_token" },
  already_used: { code: "already_used" },
  access_denied: { code: "access_denied" },
  scope: { code: "scope", reason: "read_only" },
  identity_required: { code: "identity_required" },
  app_settles: { code: "app_settles" },
  app_unknown: { code: "app_unknown" },
  app_changed: { code: "app_changed" },
  app_key_not_found: { code: "app_key_not_found" },
  app_key_revoked: { code: "app_key_revoked" },
  app_key_label_taken: { code: "app_key_label_taken" },
  too_many_app_keys: { code: "too_many_app_keys", limit: KEYS_PER_APP_MAX },
  webhook_changed: { code: "webhook_changed" },
  webhook_not_found: { code: "webhook_not_found" },
  too_many_webhooks: { code: "too_many_webhooks", limit: WEBHOOKS_PER_APP_MAX },
  client_changed: { code: "client_changed" },
  client_not_found: { code: "client_not_found" },
  client_deleted: { code: "client_deleted" },
  too_many_clients: { code: "too_many_clients", limit: CLIENTS_PER_APP_MAX },
  resource_changed: { code: "resource_changed" },
  resource_not_found: { code: "resource_not_found" },
  resource_taken: { code: "resource_taken" },
  too_many_resources: { code: "too_many_resources", limit: RESOURCES_PER_APP_MAX },
  token_budget_exceeded: {
    code: "token_budget_exceeded",
    cap: { credits: 50, period: "30_days" },
    spent: 46,
    room: 4,
    required: 10,
    resets_at_ms: Date.parse("2026-12-21T09:30:00.000Z"),
  },
  approval_invalid: { code: "approval_invalid" },
  approval_denied: { code: "approval_denied" },
  approval_ended: { code: "approval_ended" },
  personal_token_not_found: { code: "personal_token_not_found" },
  too_many_tokens: { code: "too_many_tokens", limit: ALLOWANCES_PER_ACCOUNT_MAX },
  unavailable: { code: "unavailable", retry_after_seconds: 5 },
  newer_data: { code: "newer_data", retry_after_seconds: 5 },
  unknown_host: { code: "unknown_host", base_url: "https://passbook.example.com" },
  https_required: { code: "https_required", base_url: "https://passbook.example.com" },
  method_not_allowed: { code: "method_not_allowed", allowed: ["GET"] },
  token_expired: { code: "token_expired" },
  loopback_required: { code: "loopback_required" },
  not_operator: { code: "not_operator" },
  role_required: { code: "role_required", role: "admin" },
  suspended: { code: "suspended" },
  account_unknown: { code: "account_unknown" },
  identity_ambiguous: { code: "identity_ambiguous", matches: 2 },
  misconfigured: { code: "misconfigured", variables: ["SIGNING_KEYS"] },
  internal: { code: "internal", request_id: "8f1c2b7a5d3e4f60" },
};

type Responses = Record<`${4 | 5}${string}`, ZodOpenApiResponseObject>;

/** Refusals that every endpoint may return. */
const ALWAYS = [
  "internal",
  "misconfigured",
  "unavailable",
  "newer_data",
  "unknown_host",
  "https_required",
] as const;

const HEADERS: Readonly<Record<string, string>> = {
  "Retry-After": "Seconds to wait before the next attempt.",
  RateLimit:
    "The remaining requests of the limit that was reached, and the seconds until it resets.",
  "RateLimit-Policy":
    "The limit that was reached: its name, its number of requests, and its window in seconds.",
  "WWW-Authenticate": "The challenge of RFC 6750, section 3.",
};

/** A header of every response, described once among the components. */
export const REQUEST_ID_HEADER = {
  "Passbook-Request-Id": { $ref: "#/components/headers/Passbook-Request-Id" },
} as const;

/** The error responses of an endpoint, by status. With `pages`, browsers get them as HTML. */
export function errorResponses(
  codes: readonly RefusalCode[],
  { pages = false, signin_url = false } = {},
): Responses {
  const by_status = new Map<number, RefusalCode[]>();
  const expired = codes.includes("unauthorized") ? (["token_expired"] as const) : [];
  for (const code of new Set([...codes, ...expired, ...ALWAYS])) {
    const status = REFUSAL_STATUS[code];
    by_status.set(status, [...(by_status.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...by_status].map(([status, of_status]) => [
      String(status),
      signin_url && status === 401
        ? errorResponse(of_status, pages, true)
        : shared(of_status, pages),
    ]),
  );
}

const components = new Map<string, ZodOpenApiResponseObject>();

/** Each set of refusals is one component, which endpoints share. */
function shared(codes: readonly RefusalCode[], pages: boolean): ZodOpenApiResponseObject {
  const sorted = codes.toSorted();
  const id = `${sorted.join(".")}${pages ? ".page" : ""}`;
  const response = components.get(id) ?? { id, ...errorResponse(sorted, pages, false) };
  components.set(id, response);
  return response;
}

function errorResponse(
  codes: readonly RefusalCode[],
  pages: boolean,
  signin_url: boolean,
): ZodOpenApiResponseObject {
  const described = codes.map((code) => [code, describeRefusal(SAMPLES[code])] as const);
  const signin = signin_url
    ? {
        signin_url: z
          .url()
          .describe("The sign-in page, which redirects back to the page that sent the request."),
      }
    : {};
  const bodies = errorBodies(codes, signin);
  const schema = bodies.length === 1 ? bodies[0]! : z.union(bodies);
  const examples = described.map(([code, { error, more = {} }]) => {
    const back = signin_url
      ? {
          signin_url:
            "https://passbook.example.com/signin?redirect_to=https%3A%2F%2Fapp.example.com",
        }
      : {};
    return [code, { value: { error, code, ...more, ...back } }] as const;
  });
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: headersOf(described.map(([, { headers = {} }]) => headers)),
    content: {
      "application/json": { schema, examples: Object.fromEntries(examples) },
      ...(pages ? { "text/html": { schema: { type: "string" } } } : {}),
    },
  };
}

/** The headers of refusals with the same status. A header is required if all of them have it. */
function headersOf(
  all: readonly Readonly<Record<string, string>>[],
): NonNullable<ZodOpenApiResponseObject["headers"]> {
  const names = new Set(all.flatMap((headers) => Object.keys(headers)));
  return {
    ...REQUEST_ID_HEADER,
    ...Object.fromEntries(
      [...names].map((name) => [
        name,
        {
          description: HEADERS[name] ?? "",
          required: all.every((headers) => name in headers),
          schema: { type: "string" },
        },
      ]),
    ),
  };
}
