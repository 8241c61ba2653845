/** How `oauth4webapi` speaks to a provider for us: as which client, and within our limits. */
import * as oauth from "oauth4webapi";
import { askUpstream, UpstreamFailure } from "./ask.ts";
import { clientAuthentication } from "./client_authentication.ts";
import type { OAuthProvider } from "./providers.ts";

/** One conversation with a provider. */
export interface Conversation {
  readonly provider: OAuthProvider;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly client_authentication: oauth.ClientAuth;
}

/** A request as `oauth4webapi` hands it over to be sent. */
export interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | undefined;
}

/** Signature algorithms of ID tokens; none that a shared secret or nothing at all would satisfy. */
const ID_TOKEN_ALGORITHMS =
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/**
 * Made anew for each sign-in or renewal: `oauth4webapi` shares keys, and requests for them, between
 * calls that have the same server object, and a Worker's request must not wait on another's.
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
 * Asks a provider within our limits; a failure of its own servers is no answer.
 * @throws UpstreamFailure
 */
export async function askProvider(url: string, request: ProviderRequest): Promise<Response> {
  const { method, headers, body = null } = request;
  const { status, text } = await askUpstream(url, { method, headers, body });
  if (status >= 500) throw new UpstreamFailure("server_error", status);
  // All that is asked for here is JSON; what is not fails to parse.
  return new Response(text, { status, headers: { "Content-Type": "application/json" } });
}

/** Options of every call of `oauth4webapi` that sends something. */
export const OPTIONS = {
  [oauth.customFetch]: askProvider,
  // The configuration admits plain http towards this machine only.
  [oauth.allowInsecureRequests]: true,
};

/**
 * Why a conversation failed, for the operator's log: a fixed word or code, never a value of the
 * exchange.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamFailure) return `${error.problem}, status ${error.status ?? "none"}`;
  if (error instanceof oauth.ResponseBodyError) return registeredWord(error.error);
  if (error instanceof oauth.AuthorizationResponseError) return registeredWord(error.error);
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** An error code as RFC 6749 (section 5.2) forms them; anything else may quote what was sent. */
function registeredWord(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "an unregistered error code";
}
