/**
 * Every refusal code with its HTTP status: the one list from which the API's responses, the OpenAPI document
 * and the client's error codes are derived. `refusals.ts` gives the data of each code.
 */
export const REFUSAL_STATUS = {
  // The request itself
  invalid_request: 400,
  unsupported_media_type: 415,
  body_too_large: 413,
  not_found: 404,
  unknown_host: 421,
  https_required: 403,
  method_not_allowed: 405,
  idempotency_key_reused: 422,
  // The caller
  unauthorized: 401,
  token_expired: 401,
  origin_not_allowed: 403,
  redirect_not_allowed: 400,
  loopback_required: 403,
  not_operator: 403,
  role_required: 403,
  suspended: 403,
  token_template_not_found: 404,
  rate_limited: 429,
  /** 429 for streams, because one of them closes sooner or later. */
  limit_reached: 400,
  // Money and jobs
  insufficient_credits: 402,
  job_not_found: 404,
  job_unknown: 400,
  job_ended: 400,
  account_full: 507,
  token_storage_full: 507,
  balance_limit: 400,
  too_many_lots: 400,
  balance_below_zero: 400,
  recovery_refused: 409,
  overage_limit: 400,
  refund_limit: 400,
  spent_limit: 400,
  step_too_old: 409,
  metadata_too_large: 400,
  // Payments
  package_unknown: 400,
  return_to_not_allowed: 400,
  payments_unavailable: 503,
  payments_refused: 502,
  signature_invalid: 400,
  purchase_unmatched: 500,
  // Third parties
  token_not_found: 404,
  reconnect_required: 404,
  upstream_unavailable: 502,
  upstream_error: 502,
  upstream_not_configured: 502,
  metrics_unavailable: 503,
  // Device logins; the codes of RFC 8628, section 3.5, where it has one
  user_code_invalid: 400,
  device_code_not_found: 404,
  expired_token: 410,
  already_used: 410,
  access_denied: 410,
  // Apps
  identity_required: 400,
  account_unknown: 404,
  identity_ambiguous: 400,
  app_settles: 403,
  app_stopped: 403,
  app_not_registered: 403,
  app_paused: 403,
  app_not_found: 404,
  app_changed: 409,
  app_key_not_found: 404,
  app_key_revoked: 409,
  app_key_label_taken: 409,
  webhook_changed: 409,
  webhook_not_found: 404,
  client_changed: 409,
  client_not_found: 404,
  client_deleted: 409,
  resource_changed: 409,
  resource_not_found: 404,
  resource_taken: 409,
  // Plans
  plan_changed: 409,
  plan_not_found: 404,
  plan_in_use: 409,
  // Personal access tokens
  scope: 403,
  token_budget_exceeded: 402,
  approval_invalid: 400,
  approval_denied: 403,
  approval_ended: 410,
  personal_token_not_found: 404,
  // Our own failures
  unavailable: 503,
  newer_data: 503,
  account_restoring: 503,
  misconfigured: 500,
  internal: 500,
} as const;

export type RefusalCode = keyof typeof REFUSAL_STATUS;

/** The codes that creating or completing one job of a batch may get. */
const BATCH_ITEM_REFUSALS = [
  "invalid_request",
  "metadata_too_large",
  "balance_limit",
  "too_many_lots",
  "token_budget_exceeded",
  "scope",
  "app_settles",
  "app_stopped",
  "suspended",
  "unavailable",
] as const satisfies readonly RefusalCode[];

/** The codes of an item of `POST /api/jobs/batch`. */
export const CREATED_ITEM_REFUSALS = [
  ...BATCH_ITEM_REFUSALS,
  "app_paused",
  "insufficient_credits",
  "limit_reached",
  "account_full",
  "token_storage_full",
  "app_not_registered",
] as const satisfies readonly RefusalCode[];

/** The codes of an item of `POST /api/jobs/complete/batch`. */
export const SETTLED_ITEM_REFUSALS = [
  ...BATCH_ITEM_REFUSALS,
  "overage_limit",
  "account_unknown",
  "job_unknown",
  "job_ended",
  "step_too_old",
] as const satisfies readonly RefusalCode[];
