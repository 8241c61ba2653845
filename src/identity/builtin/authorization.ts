/**
 * The authorization code flow with PKCE against one provider (RFC 6749, section 4.1; RFC 7636; RFC
 * 9207; OpenID Connect Core, section 3.1), on `oauth4webapi`.
 */
import * as oauth from "oauth4webapi";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { askUpstream, UpstreamFailure } from "../../upstream/ask.ts";
import { clientAuthentication } from "../../upstream/client_authentication.ts";
import type { SignInFailure } from "../port.ts";
import type { SignInProvider } from "../providers.ts";
import type { UpstreamTokens } from "../upstream_tokens.ts";
import { readProfile, readSubject, type Claims } from "./profile.ts";
import type { Profile } from "./users.ts";

/** What a flow draws at random and must find again at its end. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly code_verifier: string;
}

/** Who the provider says signed in, and the tokens it gave. */
export interface Authorized {
  readonly subject: string;
  readonly profile: Profile;
  readonly tokens: UpstreamTokens;
}

/** `reason` is for the operator's log: a fixed word or code, never a value of the exchange. */
export interface AuthorizationFailure {
  readonly failure: SignInFailure;
  readonly reason: string;
}

/** Signature algorithms of ID tokens; none that a shared secret or nothing at all would satisfy. */
const ID_TOKEN_ALGORITHMS =
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/** New secrets, 256 bits each. */
export function drawFlowSecrets(): FlowSecrets {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    code_verifier: oauth.generateRandomCodeVerifier(),
  };
}

/** The address at the provider where a sign-in goes on. */
export async function authorizationUrl(
  provider: SignInProvider,
  redirect_uri: string,
  secrets: FlowSecrets,
): Promise<string> {
  const url = new URL(provider.authorization_endpoint);
  for (const [name, value] of Object.entries(provider.authorization_parameters)) {
    url.searchParams.set(name, value);
  }
  const parameters = {
    response_type: "code",
    client_id: provider.client_id,
    redirect_uri,
    scope: provider.scope,
    state: secrets.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(secrets.code_verifier),
    code_challenge_method: "S256",
    ...(provider.protocol === "openid" ? { nonce: secrets.nonce } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Checks the provider's answer, exchanges the code, and reads who signed in. */
export async function finishAuthorization(
  provider: SignInProvider,
  redirect_uri: string,
  secrets: FlowSecrets,
  answer: URLSearchParams,
): Promise<Result<Authorized, AuthorizationFailure>> {
  const exchange = openExchange(provider);
  let checked: URLSearchParams;
  try {
    checked = oauth.validateAuthResponse(exchange.server, exchange.client, answer, secrets.state);
  } catch (error) {
    return refused(failureOfAnswer(error));
  }
  if (!checked.get("code")) return refused({ failure: "mismatch", reason: "no code" });
  try {
    return await redeem(exchange, redirect_uri, secrets, checked);
  } catch (error) {
    return refused(failureOfExchange(error));
  }
}

interface Exchange {
  readonly provider: SignInProvider;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly client_authentication: oauth.ClientAuth;
}

interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | undefined;
}

/** Asks a provider within our limits; a failure of its own servers is no answer. */
async function askProvider(url: string, request: ProviderRequest): Promise<Response> {
  const { method, headers, body = null } = request;
  const { status, text } = await askUpstream(url, { method, headers, body });
  if (status >= 500) throw new UpstreamFailure("network", status);
  // All that is asked for here is JSON; what is not fails to parse.
  return new Response(text, { status, headers: { "Content-Type": "application/json" } });
}

const OPTIONS = {
  [oauth.customFetch]: askProvider,
  // The configuration admits plain http towards this machine only.
  [oauth.allowInsecureRequests]: true,
};

/**
 * Made anew for each sign-in: `oauth4webapi` shares keys, and requests for them, between calls that
 * have the same server object, and a Worker's request must not wait on another's.
 */
function openExchange(provider: SignInProvider): Exchange {
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

async function redeem(
  exchange: Exchange,
  redirect_uri: string,
  secrets: FlowSecrets,
  answer: URLSearchParams,
): Promise<Result<Authorized, AuthorizationFailure>> {
  const { provider, server, client, client_authentication } = exchange;
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    client_authentication,
    answer,
    redirect_uri,
    secrets.code_verifier,
    OPTIONS,
  );
  const openid = provider.protocol === "openid";
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    response,
    openid ? { expectedNonce: secrets.nonce, requireIdToken: true } : {},
  );
  if (openid) await oauth.validateApplicationLevelSignature(server, response, OPTIONS);
  const id_token = openid ? oauth.getValidatedIdTokenClaims(tokens) : undefined;
  const claims: Claims = id_token ?? (await readUserInfo(exchange, tokens.access_token));
  const subject = readSubject(claims, provider.profile);
  if (subject === null) return refused({ failure: "provider_failed", reason: "no subject" });
  const profile =
    id_token === undefined
      ? readProfile(claims, provider.profile)
      : await completeProfile(exchange, id_token, tokens.access_token);
  return accepted({ subject, profile, tokens: upstreamTokens(provider, subject, tokens) });
}

/**
 * The profile of an ID token, or of the user-info endpoint where the token has no e-mail address. It
 * comes from one of them whole: an address from here must not be verified by a word from there.
 */
async function completeProfile(
  exchange: Exchange,
  id_token: oauth.IDToken,
  access_token: string,
): Promise<Profile> {
  const { server, client, provider } = exchange;
  const profile = readProfile(id_token, provider.profile);
  const complete = profile.email !== null || provider.profile.email === null;
  if (complete || provider.userinfo_endpoint === null) return profile;
  const response = await oauth.userInfoRequest(server, client, access_token, OPTIONS);
  const { sub } = id_token;
  const claims = await oauth.processUserInfoResponse(server, client, sub, response);
  return readProfile(claims, provider.profile);
}

/** The user-info answer of a provider without ID tokens; which field is the subject is its own. */
async function readUserInfo(exchange: Exchange, access_token: string): Promise<Claims> {
  const { server, client } = exchange;
  const response = await oauth.userInfoRequest(server, client, access_token, OPTIONS);
  const claims: unknown = response.status === 200 ? await response.json() : null;
  if (typeof claims === "object" && claims !== null) return claims as Claims;
  throw new Error("the user-info answer is no JSON object");
}

function upstreamTokens(
  provider: SignInProvider,
  subject: string,
  tokens: oauth.TokenEndpointResponse,
): UpstreamTokens {
  const { access_token, refresh_token, expires_in, scope } = tokens;
  return {
    provider: provider.id,
    subject,
    access_token,
    refresh_token: refresh_token ?? null,
    expires_at_ms: expires_in === undefined ? null : Date.now() + expires_in * 1000,
    scope: scope ?? null,
  };
}

function failureOfAnswer(error: unknown): AuthorizationFailure {
  if (!(error instanceof oauth.AuthorizationResponseError)) {
    return { failure: "mismatch", reason: codeOf(error) };
  }
  switch (error.error) {
    case "access_denied":
      return { failure: "cancelled", reason: "access_denied" };
    case "server_error":
    case "temporarily_unavailable":
      return { failure: "provider_unreachable", reason: error.error };
    default:
      return { failure: "provider_failed", reason: registeredWord(error.error) };
  }
}

function failureOfExchange(error: unknown): AuthorizationFailure {
  if (error instanceof UpstreamFailure) {
    const silent = error.problem === "timeout" || error.problem === "network";
    const reason = `${error.problem}, status ${error.status ?? "none"}`;
    return { failure: silent ? "provider_unreachable" : "provider_failed", reason };
  }
  const reason =
    error instanceof oauth.ResponseBodyError ? registeredWord(error.error) : codeOf(error);
  return { failure: "provider_failed", reason };
}

/** An error code as RFC 6749 (section 5.2) forms them; anything longer may quote what was sent. */
function registeredWord(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "an unregistered error code";
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
