/** `grant_type=urn:ietf:params:oauth:grant-type:device_code`: the token of a device login (RFC 8628, sections 3.4 and 3.5). */
import { scopesOf, type AllowanceLimits } from "../../../domain/allowance.ts";
import type { OAuthError } from "../../../domain/oauth_errors.ts";
import type { RefusalCode } from "../../../domain/refusal_codes.ts";
import { accepted, refused } from "../../../domain/result.ts";
import { collectLogin } from "../../allowances/collect_login.ts";
import type { AppContext } from "../../context.ts";
import { authenticateClient } from "../clients.ts";
import { errorFrom, invalidRequest } from "../errors.ts";
import { credentialsOf } from "../form.ts";
import { detailsOf } from "../spending_details.ts";
import type { GrantHandler, TokenResponse } from "../tokens.ts";

export const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** The token is a personal access token: it lasts, and cannot be renewed. */
export const collectDeviceToken: GrantHandler = async (context, form) => {
  const client = await authenticateClient(context, credentialsOf(context, form), null);
  if (!client.ok) return client;
  const device_code = form.get("device_code");
  if (device_code === null) return refused(invalidRequest("device_code is missing."));
  const collected = await collectLogin(context, device_code, client.value.client_id);
  if (!collected.ok) {
    return refused(ERRORS[collected.refusal.code] ?? errorFrom(collected.refusal));
  }
  const { value } = collected;
  if (value.kind === "token") return accepted(await tokenResponse(context, value));
  const { too_early, retry_after_seconds } = value;
  return refused({ ...(too_early ? TOO_FAST : PENDING), retry_after_seconds });
};

const PENDING: OAuthError = {
  error: "authorization_pending",
  error_description: "The person has not decided yet. Poll again after the interval.",
};

const TOO_FAST: OAuthError = {
  error: "slow_down",
  error_description: "This poll came too early. Add five seconds to the interval.",
  status: 400,
};

const UNKNOWN: OAuthError = {
  error: "invalid_grant",
  error_description:
    "This device_code was not issued to this client, or was used. Start the login again.",
};

/** The refusals of a login, as the standard names them. */
const ERRORS: Partial<Record<RefusalCode, OAuthError>> = {
  device_code_not_found: UNKNOWN,
  already_used: UNKNOWN,
  expired_token: {
    error: "expired_token",
    error_description: "The login was not approved in time. Start it again.",
  },
  access_denied: { error: "access_denied", error_description: "The person refused." },
  limit_reached: {
    error: "access_denied",
    error_description:
      "The account has as many devices and tokens as it can have. The person must end one.",
  },
};

async function tokenResponse(
  context: AppContext,
  { token, limits }: { readonly token: string; readonly limits: AllowanceLimits },
): Promise<TokenResponse> {
  const issuer = context.get("base_url");
  const claims = await context.get("services").personal_tokens.verify(issuer, token);
  if (claims === null) throw new Error("a token that was just issued is valid");
  const now_seconds = Math.floor(Date.now() / 1000);
  const terms = { ...limits, ends_at_ms: claims.expires_at_ms };
  return {
    access_token: token,
    token_type: "Bearer",
    expires_in: Math.max(0, Math.floor(claims.expires_at_ms / 1000) - now_seconds),
    scope: scopesOf(limits).join(" "),
    authorization_details: detailsOf(terms, now_seconds),
  };
}
