import type { LimitReached } from "./limit_reached.ts";
import type { OperatorRole } from "./operators.ts";
import type { SpendingCap } from "./spending_cap.ts";
import type { RateLimitRule } from "./rate_limits.ts";

/**
 * Every refusal, with the data that its response needs. `refusal_codes.ts` has the HTTP status of each code and
 * `http/refusals/` its message. The compiler requires both.
 */
export type Refusal =
  // The request itself
  | { readonly code: "invalid_request"; readonly detail: string }
  | { readonly code: "unsupported_media_type" }
  | { readonly code: "body_too_large"; readonly limit_bytes: number }
  | { readonly code: "not_found" }
  | { readonly code: "not_found"; readonly missing: "payments" | "archive" | "metrics" }
  | { readonly code: "unknown_host"; readonly base_url: string }
  | { readonly code: "https_required"; readonly base_url: string }
  | { readonly code: "method_not_allowed"; readonly allowed: readonly string[] }
  /** `step`: the step of a job that was repeated with another body; absent: a key was. */
  | { readonly code: "idempotency_key_reused"; readonly step?: number }
  // The caller
  | { readonly code: "unauthorized"; readonly detail: string }
  | { readonly code: "token_expired" }
  | { readonly code: "unauthorized"; readonly reason: EndedReason }
  | { readonly code: "origin_not_allowed" }
  | { readonly code: "redirect_not_allowed"; readonly address: string }
  | { readonly code: "loopback_required" }
  | { readonly code: "not_operator"; readonly reason?: "foreign_session" }
  | {
      readonly code: "role_required";
      /** The lowest role that suffices. */
      readonly role: OperatorRole;
      /** The credits that this operator may still adjust today, if the request needs more. */
      readonly credits_left?: number;
      /** The request changes the credits of the operator's own account. */
      readonly reason?: "own_account";
    }
  /** `public_reason`: the operator's text for the holder; null: none was given, or the caller is no session. */
  | { readonly code: "suspended"; readonly public_reason: string | null }
  | { readonly code: "token_template_not_found" }
  | { readonly code: "rate_limited"; readonly rule: RateLimitRule }
  | LimitReached
  // Money and jobs
  | {
      readonly code: "insufficient_credits";
      /** Null: the caller may not read the balance. */
      readonly credits: number | null;
      /** The credits that the job's app can reserve; the account may have others for other apps. */
      readonly spendable: number | null;
      readonly held: number | null;
      readonly required: number;
      /** An automatic top-up is on its way. */
      readonly topup?: "pending";
    }
  | { readonly code: "job_not_found" }
  | { readonly code: "job_unknown" }
  | { readonly code: "job_ended" }
  | { readonly code: "account_full" }
  | { readonly code: "token_storage_full"; readonly limit_bytes: number }
  | { readonly code: "balance_limit" }
  | { readonly code: "too_many_lots" }
  | { readonly code: "balance_below_zero"; readonly credits: number; readonly required: number }
  | { readonly code: "overage_limit"; readonly limit: number }
  /** `limit`: the credits that may still be refunded. */
  | { readonly code: "refund_limit"; readonly limit: number }
  /** `limit`: the credits that the job holds. */
  | { readonly code: "spent_limit"; readonly limit: number }
  /** `step`: the job's last one. */
  | { readonly code: "step_too_old"; readonly step: number }
  | { readonly code: "metadata_too_large"; readonly limit_bytes: number }
  // Payments
  | { readonly code: "package_unknown" }
  | { readonly code: "return_to_not_allowed"; readonly address: string }
  | { readonly code: "payments_unavailable"; readonly retry_after_seconds: number }
  | { readonly code: "payments_refused" }
  | { readonly code: "signature_invalid" }
  | { readonly code: "purchase_unmatched" }
  // Third parties
  | { readonly code: "token_not_found" }
  | { readonly code: "reconnect_required" }
  | { readonly code: "upstream_unavailable"; readonly upstream_status: number | null }
  | { readonly code: "upstream_error"; readonly upstream_status: number | null }
  | { readonly code: "upstream_not_configured" }
  | { readonly code: "metrics_unavailable" }
  // Device logins; the codes of RFC 8628, section 3.5, where it has one
  | { readonly code: "user_code_invalid" }
  | { readonly code: "device_code_not_found" }
  | { readonly code: "expired_token" }
  | { readonly code: "already_used" }
  | { readonly code: "access_denied" }
  // Apps
  | { readonly code: "identity_required" }
  /** `app_slug`: the app that the account must be open for. */
  | { readonly code: "account_unknown"; readonly app_slug?: string }
  /** An account cannot be restored like this. `detail`: a sentence that says why. */
  | { readonly code: "recovery_refused"; readonly detail: string }
  /** `matches`: how many people have the e-mail address. */
  | { readonly code: "identity_ambiguous"; readonly matches: number }
  | { readonly code: "app_settles" }
  /** The account's holder stopped the app. */
  | { readonly code: "app_stopped"; readonly app_slug: string }
  /** The setting STRICT_APPS refuses apps that nobody registered. */
  | { readonly code: "app_not_registered"; readonly app_slug: string }
  /** An operator paused the app. `message`: their text for people. */
  | { readonly code: "app_paused"; readonly message: string }
  | { readonly code: "app_not_found" }
  | { readonly code: "app_changed" }
  | { readonly code: "app_key_not_found" }
  | { readonly code: "app_key_revoked" }
  | { readonly code: "app_key_label_taken" }
  | { readonly code: "webhook_changed" }
  | { readonly code: "webhook_not_found" }
  | { readonly code: "client_changed" }
  | { readonly code: "client_not_found" }
  | { readonly code: "client_deleted" }
  | { readonly code: "resource_changed" }
  | { readonly code: "resource_not_found" }
  | { readonly code: "resource_taken" }
  // Plans
  | { readonly code: "plan_changed" }
  | { readonly code: "plan_not_found" }
  /** `accounts`: how many have the plan. */
  | { readonly code: "plan_in_use"; readonly accounts: number }
  // Personal access tokens
  | { readonly code: "scope"; readonly reason: ScopeReason }
  | {
      readonly code: "token_budget_exceeded";
      readonly cap: SpendingCap;
      readonly spent: number;
      readonly room: number;
      readonly required: number;
      /** When the whole cap is available again; null: never. */
      readonly resets_at_ms: number | null;
      /** The allowance that acts, if its holder may approve what it requested. */
      readonly allowance_id?: string;
      /** The id of the request for an approval; absent: what it requested cannot be approved. */
      readonly approval?: string;
    }
  | { readonly code: "approval_invalid" }
  | { readonly code: "approval_denied" }
  | { readonly code: "approval_ended" }
  | { readonly code: "personal_token_not_found" }
  // Our own failures
  | { readonly code: "unavailable"; readonly retry_after_seconds: number }
  | { readonly code: "newer_data"; readonly retry_after_seconds: number }
  | { readonly code: "account_restoring"; readonly retry_after_seconds: number }
  | { readonly code: "misconfigured"; readonly variables: readonly string[] }
  | { readonly code: "internal"; readonly request_id: string };

/** Why a caller's proof is no longer valid. */
export type EndedReason = "personal_token_ended" | "session_ended" | "account_deleted";

/** Why a token may not do what it requested. */
export type ScopeReason =
  | "read_only"
  /** It only operates the service and has no access to accounts. */
  | "admin_only"
  /** It only says who signed in and has no access to accounts. */
  | "signin_only"
  /** It lets the app of a resource start and end its own jobs for a connection, and nothing else. */
  | "charge_only"
  | "other_app"
  /** It is limited to some apps, and the request concerns the whole account. */
  | "apps_only"
  | "no_upstream"
  /** It has a spending cap, and neither it nor one exchanged from it created the job. */
  | "capped"
  /** It has limits, and a limited token may not buy. */
  | "no_purchase"
  /** It is of an app or a client, or has limits, and the request concerns everything with access to the account. */
  | "not_whole"
  /** It may only revoke itself, and allowances that were exchanged from it. */
  | "itself_only"
  /** It is a token, and only the holder's session may do this. */
  | "holder_only"
  /** It would give an allowance more rights, and the session is used outside our own pages. */
  | "own_page"
  /** It would approve a token from outside our own pages. */
  | "app_approves"
  /** The origin that uses the session may not receive tokens of this template. */
  | "template_origin"
  /** The origin that uses the session may not receive upstream tokens of this provider. */
  | "upstream_origin"
  /** The token is of a trusted issuer whose apps may not receive upstream tokens. */
  | "upstream_issuer"
  /** The job's token had a spending cap and has ended. The job may cost at most its reserve. */
  | "cap_ended"
  /** It is an app key, which acts only for that app's jobs. */
  | "app_key";
