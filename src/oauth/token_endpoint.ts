/**
 * Calls to a provider's token endpoint (RFC 6749, sections 4.1.3 and 6): a sign-in redeems its code, and the
 * vault uses a refresh token.
 */
import * as oauth from "oauth4webapi";
import { UpstreamFailure } from "./ask.ts";
import {
  requestProvider,
  openConversation,
  OPTIONS,
  reasonOf,
  type Conversation,
  type ProviderRequest,
} from "./conversation.ts";
import type { OAuthProvider } from "./providers.ts";
import type { GrantedTokens } from "./upstream_tokens.ts";

/** A provider's checked response to a sign-in, and the values that redeem its code. */
interface CodeToRedeem {
  /** The parameters that `oauth4webapi` validated. */
  readonly answer: URLSearchParams;
  readonly redirect_uri: string;
  readonly code_verifier: string;
  readonly nonce: string;
}

interface RedeemedCode {
  readonly tokens: GrantedTokens;
  /** The claims of the ID token, with a valid signature; null if the provider does not use OpenID. */
  readonly id_token: oauth.IDToken | null;
}

/**
 * Redeems a code, once.
 * @throws UpstreamFailure without a usable response; an error of `oauth4webapi` on any other failure.
 */
export async function redeemCode(
  { provider, server, client, client_authentication }: Conversation,
  { answer, redirect_uri, code_verifier, nonce }: CodeToRedeem,
): Promise<RedeemedCode> {
  const requested_at_ms = Date.now();
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    client_authentication,
    answer,
    redirect_uri,
    code_verifier,
    { ...OPTIONS, [oauth.customFetch]: requestTokenEndpoint },
  );
  const openid = provider.protocol === "openid";
  const granted = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    response,
    openid ? { expectedNonce: nonce, requireIdToken: true } : {},
  );
  if (openid) await oauth.validateApplicationLevelSignature(server, response, OPTIONS);
  const id_token = openid ? oauth.getValidatedIdTokenClaims(granted) : undefined;
  return { tokens: grantedTokens(granted, requested_at_ms), id_token: id_token ?? null };
}

type RefreshOutcome =
  /** `refresh_token` is null if the one just used stays valid. */
  | { readonly kind: "renewed"; readonly tokens: GrantedTokens }
  /** The provider refused the refresh token for good: revoked, expired, or used before. */
  | { readonly kind: "refused" }
  /** Any other failure, after which the token may still be valid. `reason` is for the log. */
  | {
      readonly kind: "failed";
      readonly upstream_status: number | null;
      readonly reason: string;
    };

/** Requests new tokens once. Never throws. */
export async function refreshTokens(
  provider: OAuthProvider,
  refresh_token: string,
): Promise<RefreshOutcome> {
  const { server, client, client_authentication } = openConversation(provider);
  let upstream_status: number | null = null;
  try {
    const requested_at_ms = Date.now();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      client_authentication,
      refresh_token,
      {
        ...OPTIONS,
        [oauth.customFetch]: async (url, request) => {
          const answer = await requestTokenEndpoint(url, request);
          upstream_status = answer.status;
          return withoutIdToken(answer);
        },
      },
    );
    const granted = await oauth.processRefreshTokenResponse(server, client, response);
    return { kind: "renewed", tokens: grantedTokens(granted, requested_at_ms) };
  } catch (error) {
    if (isRefreshRefused(error)) return { kind: "refused" };
    if (error instanceof UpstreamFailure) upstream_status = error.status;
    return { kind: "failed", upstream_status, reason: reasonOf(error) };
  }
}

function grantedTokens(
  granted: oauth.TokenEndpointResponse,
  requested_at_ms: number,
): GrantedTokens {
  const { access_token, refresh_token = null, expires_in, scope = null } = granted;
  const expires_at_ms = expires_in === undefined ? null : requested_at_ms + expires_in * 1000;
  return { access_token, refresh_token, expires_at_ms, scope };
}

/** Turns a response into the form of RFC 6749, section 5.2: GitHub sends errors with status 200. */
async function requestTokenEndpoint(url: string, request: ProviderRequest): Promise<Response> {
  const answer = await requestProvider(url, request);
  if (answer.status !== 200) return answer;
  const body = await readObject(answer.clone());
  return typeof body?.["error"] === "string" ? Response.json(body, { status: 400 }) : answer;
}

/** The ID token of a renewal is not used. An error in it must not lose the rotated refresh token. */
async function withoutIdToken(answer: Response): Promise<Response> {
  const body = await readObject(answer.clone());
  if (body === null) return answer;
  const { id_token: _, ...rest } = body;
  return Response.json(rest, { status: answer.status });
}

async function readObject(answer: Response): Promise<Record<string, unknown> | null> {
  const value: unknown = await answer.json().catch(() => null);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return value as Record<string, unknown>;
}

/** Recognises `invalid_grant` (RFC 6749, section 5.2), and the variants of GitHub and X. */
function isRefreshRefused(error: unknown): boolean {
  if (!(error instanceof oauth.ResponseBodyError)) return false;
  if (error.error === "invalid_grant" || error.error === "bad_refresh_token") return true;
  return (
    error.error === "invalid_request" &&
    /^value passed for the (refresh )?token was invalid/i.test(error.error_description ?? "")
  );
}
