/** The conversation with a provider's token endpoint that renews an access token (RFC 6749, section 6). */
import * as oauth from "oauth4webapi";
import type { Config } from "../config.ts";
import { askUpstream, UpstreamFailure } from "../upstream/ask.ts";
import { clientAuthentication } from "../upstream/client_authentication.ts";

export type Provider = Config["signin_providers"][number];

/** Renewed tokens. `refresh_token` is null where the one just used goes on. Times in ms. */
export interface RenewedTokens {
  readonly access_token: string;
  readonly refresh_token: string | null;
  readonly expires_at_ms: number | null;
  readonly scope: string | null;
}

export type RefreshOutcome =
  | { readonly kind: "renewed"; readonly tokens: RenewedTokens }
  /** The provider says that the grant is over: revoked, expired, or its token used before. */
  | { readonly kind: "refused" }
  /** Anything else, which says nothing about the grant. `reason` is for the log. */
  | {
      readonly kind: "failed";
      readonly upstream_status: number | null;
      readonly reason: string;
    };

/** Asks the provider once. Never throws. */
export async function refreshTokens(
  provider: Provider,
  refresh_token: string,
): Promise<RefreshOutcome> {
  const server: oauth.AuthorizationServer = {
    issuer: provider.issuer,
    token_endpoint: provider.token_endpoint,
  };
  const client: oauth.Client = { client_id: provider.client_id };
  let upstream_status: number | null = null;
  try {
    const asked_at_ms = Date.now();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      clientAuthentication(provider),
      refresh_token,
      {
        // The settings allow plain http towards loopback only.
        [oauth.allowInsecureRequests]: provider.token_endpoint.startsWith("http:"),
        [oauth.customFetch]: async (url, init) => {
          const answer = await askUpstream(url, init);
          upstream_status = answer.status;
          return conformingResponse(answer.status, answer.text);
        },
      },
    );
    const answer = await oauth.processRefreshTokenResponse(server, client, response);
    const { access_token, refresh_token: rotated = null, expires_in, scope = null } = answer;
    const expires_at_ms = expires_in === undefined ? null : asked_at_ms + expires_in * 1000;
    return {
      kind: "renewed",
      tokens: { access_token, refresh_token: rotated, expires_at_ms, scope },
    };
  } catch (error) {
    if (isGrantOver(error)) return { kind: "refused" };
    if (error instanceof UpstreamFailure) upstream_status = error.status;
    return { kind: "failed", upstream_status, reason: reasonOf(error) };
  }
}

/**
 * The answer as RFC 6749 has it. GitHub says errors with status 200. A new ID token is left out: it is
 * used for nothing here, and a fault in it must not cost the rotated refresh token beside it.
 */
function conformingResponse(status: number, text: string): Response {
  const headers = { "Content-Type": "application/json" };
  const body = parseObject(text);
  if (body === null) return new Response(text, { status, headers });
  const { id_token: _, ...rest } = body;
  const conforming_status = status === 200 && typeof rest["error"] === "string" ? 400 : status;
  return new Response(JSON.stringify(rest), { status: conforming_status, headers });
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** `invalid_grant` (RFC 6749, section 5.2), and how GitHub and X say it. */
function isGrantOver(error: unknown): boolean {
  if (!(error instanceof oauth.ResponseBodyError)) return false;
  if (error.error === "invalid_grant" || error.error === "bad_refresh_token") return true;
  return (
    error.error === "invalid_request" &&
    /^value passed for the (refresh )?token was invalid/i.test(error.error_description ?? "")
  );
}

/** A word for the log: of the provider's own words only an error code, since others may quote. */
function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return error.problem;
  if (error instanceof oauth.ResponseBodyError) {
    return /^[a-z_]{1,64}$/.test(error.error) ? error.error : "unknown_error";
  }
  return error instanceof Error && "code" in error ? String(error.code) : "malformed";
}
