/**
 * The conversation with a provider's token endpoint (RFC 6749, sections 4.1.3 and 6): a code redeemed
 * at the end of a sign-in, and a refresh token used by the vault.
 */
import * as oauth from "oauth4webapi";
import { UpstreamFailure } from "./ask.ts";
import {
  askProvider,
  openConversation,
  OPTIONS,
  reasonOf,
  type Conversation,
  type ProviderRequest,
} from "./conversation.ts";
import type { OAuthProvider } from "./providers.ts";
import type { GrantedTokens } from "./upstream_tokens.ts";

/** A provider's answer to a sign-in, checked, and what its code is redeemed with. */
export interface CodeToRedeem {
  /** What `oauth4webapi` made of the answer. */
  readonly answer: URLSearchParams;
  readonly redirect_uri: string;
  readonly code_verifier: string;
  readonly nonce: string;
}

export interface RedeemedCode {
  readonly tokens: GrantedTokens;
  /** The claims of the ID token, signature checked; null where the provider speaks no OpenID. */
  readonly id_token: oauth.IDToken | null;
}

/**
 * Redeems a code, once.
 * @throws UpstreamFailure without an answer to use; an error of `oauth4webapi` on any other failure.
 */
export async function redeemCode(
  { provider, server, client, client_authentication }: Conversation,
  { answer, redirect_uri, code_verifier, nonce }: CodeToRedeem,
): Promise<RedeemedCode> {
  const asked_at_ms = Date.now();
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    client_authentication,
    answer,
    redirect_uri,
    code_verifier,
    { ...OPTIONS, [oauth.customFetch]: askTokenEndpoint },
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
  return { tokens: grantedTokens(granted, asked_at_ms), id_token: id_token ?? null };
}

export type RefreshOutcome =
  /** `refresh_token` is null where the one just used goes on. */
  | { readonly kind: "renewed"; readonly tokens: GrantedTokens }
  /** The provider says that the grant is over: revoked, expired, or its token used before. */
  | { readonly kind: "refused" }
  /** Anything else, which says nothing about the grant. `reason` is for the log. */
  | {
      readonly kind: "failed";
      readonly upstream_status: number | null;
      readonly reason: string;
    };

/** Asks the provider once for new tokens. Never throws. */
export async function refreshTokens(
  provider: OAuthProvider,
  refresh_token: string,
): Promise<RefreshOutcome> {
  const { server, client, client_authentication } = openConversation(provider);
  let upstream_status: number | null = null;
  try {
    const asked_at_ms = Date.now();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      client_authentication,
      refresh_token,
      {
        ...OPTIONS,
        [oauth.customFetch]: async (url, request) => {
          const answer = await askTokenEndpoint(url, request);
          upstream_status = answer.status;
          return withoutIdToken(answer);
        },
      },
    );
    const granted = await oauth.processRefreshTokenResponse(server, client, response);
    return { kind: "renewed", tokens: grantedTokens(granted, asked_at_ms) };
  } catch (error) {
    if (isGrantOver(error)) return { kind: "refused" };
    if (error instanceof UpstreamFailure) upstream_status = error.status;
    return { kind: "failed", upstream_status, reason: reasonOf(error) };
  }
}

function grantedTokens(granted: oauth.TokenEndpointResponse, asked_at_ms: number): GrantedTokens {
  const { access_token, refresh_token = null, expires_in, scope = null } = granted;
  const expires_at_ms = expires_in === undefined ? null : asked_at_ms + expires_in * 1000;
  return { access_token, refresh_token, expires_at_ms, scope };
}

/** The answer as RFC 6749, section 5.2 has it: GitHub says errors with status 200. */
async function askTokenEndpoint(url: string, request: ProviderRequest): Promise<Response> {
  const answer = await askProvider(url, request);
  if (answer.status !== 200) return answer;
  const body = await readObject(answer.clone());
  return typeof body?.["error"] === "string" ? Response.json(body, { status: 400 }) : answer;
}

/**
 * A renewal's ID token is used for nothing here, and a fault in it must not cost the rotated refresh
 * token beside it.
 */
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

/** `invalid_grant` (RFC 6749, section 5.2), and how GitHub and X say it. */
function isGrantOver(error: unknown): boolean {
  if (!(error instanceof oauth.ResponseBodyError)) return false;
  if (error.error === "invalid_grant" || error.error === "bad_refresh_token") return true;
  return (
    error.error === "invalid_request" &&
    /^value passed for the (refresh )?token was invalid/i.test(error.error_description ?? "")
  );
}
