/** Error responses of the document, generated from `describeRefusal`: status, message, headers and members. */
import type { ZodOpenApiResponseObject } from "zod-openapi";
import * as z from "zod";
import {
  BODY_MAX_BYTES,
  METADATA_MAX_BYTES,
  TOKEN_STORAGE_MAX_BYTES,
} from "../../domain/limits.ts";
import { limitReached, type EndpointRefusal, type Limited } from "../../domain/limit_reached.ts";
import { RATE_LIMITS } from "../../domain/rate_limits.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
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
  token_template_not_found: { code: "token_template_not_found" },
  rate_limited: { code: "rate_limited", rule: RATE_LIMITS.writes },
  limit_reached: limitReached("started_jobs"),
  insufficient_credits: {
    code: "insufficient_credits",
    credits: 3,
    spendable: 3,
    held: 20,
    required: 10,
  },
  job_not_found: { code: "job_not_found" },
  job_unknown: { code: "job_unknown" },
  job_ended: { code: "job_ended" },
  account_full: { code: "account_full" },
  token_storage_full: { code: "token_storage_full", limit_bytes: TOKEN_STORAGE_MAX_BYTES },
  balance_limit: { code: "balance_limit" },
  too_many_lots: { code: "too_many_lots" },
  balance_below_zero: { code: "balance_below_zero", credits: 20, required: 50 },
  overage_limit: { code: "overage_limit", limit: 15 },
  refund_limit: { code: "refund_limit", limit: 6 },
  spent_limit: { code: "spent_limit", limit: 60 },
  step_too_old: { code: "step_too_old", step: 7 },
  metadata_too_large: { code: "metadata_too_large", limit_bytes: METADATA_MAX_BYTES },
  package_unknown: { code: "package_unknown" },
  return_to_not_allowed: {
    code: "return_to_not_allowed",
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
  metrics_unavailable: { code: "metrics_unavailable" },
  user_code_invalid: { code: "user_code_invalid" },
  device_code_not_found: { code: "device_code_not_found" },
  expired_token: { code: "expired_token" },
  already_used: { code: "already_used" },
  access_denied: { code: "access_denied" },
  scope: { code: "scope", reason: "read_only" },
  identity_required: { code: "identity_required" },
  app_settles: { code: "app_settles" },
  app_stopped: { code: "app_stopped", app_slug: "demo" },
  app_not_registered: { code: "app_not_registered", app_slug: "sketchh" },
  app_paused: {
    code: "app_paused",
    message: "Sketch starts no jobs today. We expect it back tomorrow morning.",
  },
  app_not_found: { code: "app_not_found" },
  app_changed: { code: "app_changed" },
  app_key_not_found: { code: "app_key_not_found" },
  app_key_revoked: { code: "app_key_revoked" },
  app_key_label_taken: { code: "app_key_label_taken" },
  webhook_changed: { code: "webhook_changed" },
  webhook_not_found: { code: "webhook_not_found" },
  client_changed: { code: "client_changed" },
  client_not_found: { code: "client_not_found" },
  client_deleted: { code: "client_deleted" },
  resource_changed: { code: "resource_changed" },
  resource_not_found: { code: "resource_not_found" },
  resource_taken: { code: "resource_taken" },
  plan_changed: { code: "plan_changed" },
  plan_not_found: { code: "plan_not_found" },
  plan_in_use: { code: "plan_in_use", accounts: 40 },
  token_budget_exceeded: {
    code: "token_budget_exceeded",
    cap: { credits: 50, period: "month" },
    spent: 46,
    room: 4,
    required: 10,
    resets_at_ms: Date.parse("2026-12-01T00:00:00.000Z"),
  },
  approval_invalid: { code: "approval_invalid" },
  approval_denied: { code: "approval_denied" },
  approval_ended: { code: "approval_ended" },
  personal_token_not_found: { code: "personal_token_not_found" },
  unavailable: { code: "unavailable", retry_after_seconds: 5 },
  newer_data: { code: "newer_data", retry_after_seconds: 5 },
  account_restoring: { code: "account_restoring", retry_after_seconds: 5 },
  unknown_host: { code: "unknown_host", base_url: "https://passbook.example.com" },
  https_required: { code: "https_required", base_url: "https://passbook.example.com" },
  method_not_allowed: { code: "method_not_allowed", allowed: ["GET"] },
  token_expired: { code: "token_expired" },
  loopback_required: { code: "loopback_required" },
  not_operator: { code: "not_operator" },
  role_required: { code: "role_required", role: "admin" },
  suspended: { code: "suspended", public_reason: null },
  account_unknown: { code: "account_unknown" },
  recovery_refused: { code: "recovery_refused", detail: "The account was opened after this time." },
  identity_ambiguous: { code: "identity_ambiguous", matches: 2 },
  misconfigured: { code: "misconfigured", variables: ["SIGNING_KEYS"] },
  internal: { code: "internal", request_id: "8f1c2b7a5d3e4f60" },
};

const LIMIT_PREFIX = "limit_reached:";

function isLimit(documented: EndpointRefusal): documented is `limit_reached:${Limited}` {
  return documented.startsWith(LIMIT_PREFIX);
}

const sampleOf = (documented: EndpointRefusal): Refusal =>
  isLimit(documented)
    ? limitReached(documented.slice(LIMIT_PREFIX.length) as Limited)
    : SAMPLES[documented];

type Responses = Record<`${4 | 5}${string}`, ZodOpenApiResponseObject>;

/** Refusals that every endpoint may return. */
const ALWAYS = [
  "internal",
  "misconfigured",
  "unavailable",
  "newer_data",
  "account_restoring",
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
  codes: readonly EndpointRefusal[],
  { pages = false, signin_url = false } = {},
): Responses {
  const by_status = new Map<number, EndpointRefusal[]>();
  const expired = codes.includes("unauthorized") ? (["token_expired"] as const) : [];
  for (const code of new Set([...codes, ...expired, ...ALWAYS])) {
    const { status } = describeRefusal(sampleOf(code));
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
function shared(codes: readonly EndpointRefusal[], pages: boolean): ZodOpenApiResponseObject {
  const sorted = codes.toSorted();
  const id = `${sorted.join(".").replaceAll(":", "-")}${pages ? ".page" : ""}`;
  const response = components.get(id) ?? { id, ...errorResponse(sorted, pages, false) };
  components.set(id, response);
  return response;
}

const topup_url = "https://passbook.example.com/account#buy";

/** As `nextSteps` makes them. */
const NEXT_STEPS: Readonly<Partial<Record<RefusalCode, object>>> = {
  insufficient_credits: { topup_url },
  token_budget_exceeded: { approval_url: null, topup_url },
};

function errorResponse(
  documented: readonly EndpointRefusal[],
  pages: boolean,
  signin_url: boolean,
): ZodOpenApiResponseObject {
  const described = documented.map((one) => [one, describeRefusal(sampleOf(one))] as const);
  const codes = [...new Set(described.map(([, { code }]) => code))];
  const signin = signin_url
    ? {
        signin_url: z
          .url()
          .describe("The sign-in page, which redirects back to the page that sent the request."),
      }
    : {};
  const bodies = errorBodies(codes, signin);
  const schema = bodies.length === 1 ? bodies[0]! : z.union(bodies);
  const examples = described.map(([, { error, code, more = {} }]) => {
    const back = signin_url
      ? {
          signin_url:
            "https://passbook.example.com/signin?redirect_to=https%3A%2F%2Fapp.example.com",
        }
      : {};
    const next_steps = NEXT_STEPS[code] ?? {};
    return [code, { value: { error, code, ...more, ...next_steps, ...back } }] as const;
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
