/** The error messages of refusals of a caller: who may not, and why. */
import type { EndedReason, Refusal, ScopeReason } from "../../domain/refusals.ts";
import { NOT_ALLOWED, type ErrorTable } from "./table.ts";

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
  charge_only:
    "This token only starts and ends jobs of its own app for one connection. Use another token for anything else.",
  other_app: "This token is limited to other apps. Use a token for this app.",
  apps_only:
    "A token that is limited to some apps cannot read personal data. Use a session, or a token for all apps.",
  no_upstream:
    "This token has no access to upstream tokens. Approve a token with the scope upstream.",
  capped:
    "A token with a spending cap can complete or fail only jobs that it, or a token exchanged from it, created.",
  own_page:
    "Only the service's own pages can give a token more credits or apps. Change it on /account/access.",
  app_approves:
    "Only the service's own pages approve a device login. Send the person to its verification_uri.",
  template_origin:
    "This app may not receive tokens of this template. An operator can add the app to the template's apps in TOKEN_TEMPLATES.",
  no_purchase: "Buying credits requires a session, or a token without limits.",
  not_whole:
    "Access to an account is shown only on the service's own page /account/access, and to a personal access token without limits.",
  itself_only: "A token can revoke only itself. Revoke other tokens on the page /account/access.",
  upstream_origin:
    "This origin or client may not receive this provider's tokens. An operator can add the provider to the app's upstream_providers.",
  upstream_issuer:
    'Apps with tokens of this issuer may not receive upstream tokens. An operator can set "upstream": true in its entry of TRUSTED_ISSUERS.',
  holder_only:
    "Only the account's holder can do this, in a signed-in browser, on the page /account/access or /account/jobs.",
  cap_ended:
    "The token that created this job had a spending cap and has ended. Settle the job for at most the credits reserved for it.",
  app_key: "An app's key gives access only to the wallet, and to that app's own jobs and webhooks.",
};

/** The scope that a token lacks. `access`: `read`, or `write` for a write. For other reasons, another scope would not help. */
export const MISSING_SCOPES: Readonly<Partial<Record<ScopeReason, string>>> = {
  read_only: "write",
  admin_only: "access",
  signin_only: "access",
  no_upstream: "upstream",
};

export const CALLERS = {
  unauthorized: (refusal) => ({
    error: "reason" in refusal ? ENDED_MESSAGES[refusal.reason] : refusal.detail,
    headers: { "WWW-Authenticate": "Bearer" },
  }),
  token_expired: () => ({
    error: "The bearer token has expired. Get a new one.",
    headers: { "WWW-Authenticate": "Bearer" },
  }),
  origin_not_allowed:
    "This origin may not send cookies. Send a bearer token, or ask the operator to allow the origin.",
  redirect_not_allowed: ({ address }) => ({ error: `redirect_to is ${address}, ${NOT_ALLOWED}` }),
  loopback_required:
    "Development sign-in works only on this machine. Open http://localhost with the same port.",
  not_operator: ({ reason }) => ({
    error:
      reason === "foreign_session"
        ? "Operators must use the service's own pages, or a personal access token with the scope admin."
        : "Only an operator of this service can do this.",
  }),
  role_required: (refusal) => ({ error: roleMessage(refusal), more: { role: refusal.role } }),
  suspended: ({ public_reason }) => ({
    error: "This account is suspended. Contact the operator of this service.",
    ...(public_reason !== null && { more: { public_reason } }),
  }),
  token_template_not_found:
    "There is no token template with this name for this caller. Check the name, and use a session.",
  // `refuse` adds what it knows of the request to the challenge.
  scope: (refusal) => ({
    error: SCOPE_MESSAGES[refusal.reason],
    ...(refusal.reason in MISSING_SCOPES && {
      headers: { "WWW-Authenticate": 'Bearer error="insufficient_scope"' },
    }),
  }),
  identity_required:
    "With an app's key, send the identity_id of the account in the header Passbook-Identity.",
  account_unknown: ({ app_slug }) => ({
    error:
      app_slug === undefined
        ? "You have access to no account with this identity. Check the identity."
        : `No account with this identity is open for the app ${app_slug}. Check the identity. A holder opens an account by using the app: its page calls GET /api/wallet?app=${app_slug} once with the person's own token. If they stopped the app, they can allow it again on /account/access.`,
  }),
  recovery_refused: ({ detail }) => ({ error: detail }),
  identity_ambiguous: ({ matches }) => ({
    error: `${matches} people have this e-mail address. Find them with GET /api/admin/accounts?q= or in the console, and use the identity_id of one of them.`,
    more: { matches },
  }),
} satisfies Partial<ErrorTable>;

function roleMessage(refusal: Extract<Refusal, { code: "role_required" }>): string {
  const { role, credits_left, reason } = refusal;
  if (reason === "own_account") {
    return "The role support cannot change the credits of its own account. Ask another operator.";
  }
  if (credits_left === undefined) {
    return `This requires the role ${role}. Ask an operator with this role, or an admin to change OPERATORS.`;
  }
  return `With your role you can change at most ${credits_left} more credits today (UTC). An operator with the role ${role} can change more.`;
}
