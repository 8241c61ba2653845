/** How we use `oauth4webapi` with a provider: as which client, and within our limits. */
import * as oauth from "oauth4webapi";
import { requestUpstream, UpstreamFailure } from "./ask.ts";
import { clientAuthentication } from "./client_authentication.ts";
import type { OAuthProvider } from "./providers.ts";

/** A provider, prepared for the calls of `oauth4webapi`. */
export interface Conversation {
  readonly provider: OAuthProvider;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly client_authentication: oauth.ClientAuth;
}

/** A request that `oauth4webapi` asks us to send. */
export interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | undefined;
}

/** Accepted signature algorithms of ID tokens: no symmetric one, and not "none". */
const ID_TOKEN_ALGORITHMS =
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/**
 * Created for each sign-in or renewal. `oauth4webapi` shares keys, and requests for them, between calls with
 * the same server object. In a Worker, one request must not wait for another one's I/O.
 */
export function openConversation(provider: OAuthProvider): Conversation {
  const { issuer, token_endpoint, userinfo_endpoint, jwks_uri } = provider;
  const server: oauth.AuthorizationServer = {
    issuer,
    token_endpoint,
    ...(userinfo_endpoint === null ? {} : { userinfo_endpoint }),
    ...(jwks_uri === null ? {} : { jwks_uri }),
    id_token_signing_alg_values_supported: ID_TOKEN_ALGORITHMS,
    authorization_response_iss_parameter_supported:
      provider.authorization_response_iss_parameter_supported,
  };
  const client = { client_id: provider.client_id };
  return { provider, server, client, client_authentication: clientAuthentication(provider) };
}

/**
 * Sends a request to a provider within our limits. A failure of its servers is thrown.
 * @throws UpstreamFailure
 */
export async function requestProvider(url: string, request: ProviderRequest): Promise<Response> {
  const { method, headers, body = null } = request;
  const { status, text } = await requestUpstream(url, { method, headers, body });
  if (status >= 500) throw new UpstreamFailure("server_error", status);
  // Every response expected here is JSON. Others fail to parse.
  return new Response(text, { status, headers: { "Content-Type": "application/json" } });
}

export const OPTIONS = {
  [oauth.customFetch]: requestProvider,
  // The settings allow plain http only to this machine.
  [oauth.allowInsecureRequests]: true,
};

/** The reason of a failure for the operator's log: a fixed word or code, never a value of the exchange. */
export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return `${error.problem}, status ${error.status ?? "none"}`;
  if (error instanceof oauth.ResponseBodyError) return registeredWord(error.error);
  if (error instanceof oauth.AuthorizationResponseError) return registeredWord(error.error);
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** An error code in the form of RFC 6749 (section 5.2). Any other text may quote what was sent. */
function registeredWord(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "an unregistered error code";
}
