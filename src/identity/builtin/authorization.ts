/**
 * The authorization code flow with PKCE against one provider (RFC 6749, section 4.1; RFC 7636; RFC
 * 9207; OpenID Connect Core, section 3.1), on `oauth4webapi`.
 */
import * as oauth from "oauth4webapi";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { readScope } from "../../domain/oauth_scopes.ts";
import { UpstreamFailure } from "../../oauth/ask.ts";
import {
  openConversation,
  OPTIONS,
  reasonOf,
  type Conversation,
} from "../../oauth/conversation.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import { redeemCode } from "../../oauth/token_endpoint.ts";
import type { GrantedTokens } from "../../oauth/upstream_tokens.ts";
import type { SignInFailure } from "../port.ts";
import type { Claims } from "../../domain/claims.ts";
import { readProfile, readSubject, type Profile } from "./profile.ts";

/** The random values of a flow, which its end must match. */
interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly code_verifier: string;
}

/** The values that the end of a flow must match. */
interface ExpectedEnd extends FlowSecrets {
  /** When the provider was requested to sign the person in again; null: it was not. */
  readonly again_at_ms: number | null;
}

/**
 * How much a provider's clock may be behind ours, like that of `oauth4webapi`. A sign-in that long before the request counts
 * as a new one.
 */
const CLOCK_TOLERANCE_MS = 30_000;

/** The subject that the provider names, and the tokens it issued. */
export interface Authorized {
  readonly subject: string;
  readonly profile: Profile;
  readonly tokens: GrantedTokens;
}

/** `reason` is for the operator's log: a fixed word or code, never a value of the exchange. */
interface AuthorizationFailure {
  readonly failure: SignInFailure;
  readonly reason: string;
}

/** New secrets of 256 bits each. */
export function drawFlowSecrets(): FlowSecrets {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    code_verifier: oauth.generateRandomCodeVerifier(),
  };
}

/** The provider's address that a sign-in continues at. `again`: also for a person who is signed in there. */
export async function authorizationUrl(
  provider: OAuthProvider,
  redirect_uri: string,
  secrets: FlowSecrets,
  again: boolean,
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
  if (again && provider.again_prompt !== null) {
    // Some providers refuse a repeated word, and all refuse the word `none` with another one.
    const keeps_consent = readScope(url.searchParams.get("prompt") ?? "").includes("consent");
    const again_prompt = provider.again_prompt;
    url.searchParams.set("prompt", keeps_consent ? `consent ${again_prompt}` : again_prompt);
  }
  return url.href;
}

/** Checks the provider's response, exchanges the code and reads the subject. */
export async function finishAuthorization(
  provider: OAuthProvider,
  redirect_uri: string,
  expected: ExpectedEnd,
  answer: URLSearchParams,
): Promise<Result<Authorized, AuthorizationFailure>> {
  const conversation = openConversation(provider);
  const { server, client } = conversation;
  let checked: URLSearchParams;
  try {
    checked = oauth.validateAuthResponse(server, client, answer, expected.state);
  } catch (error) {
    return refused(failureOfResponse(error));
  }
  if (!checked.get("code")) return refused({ failure: "mismatch", reason: "no code" });
  try {
    return await redeem(conversation, redirect_uri, expected, checked);
  } catch (error) {
    return refused(failureOfExchange(error));
  }
}

async function redeem(
  conversation: Conversation,
  redirect_uri: string,
  { nonce, code_verifier, again_at_ms }: ExpectedEnd,
  answer: URLSearchParams,
): Promise<Result<Authorized, AuthorizationFailure>> {
  const { provider } = conversation;
  const code = { answer, redirect_uri, code_verifier, nonce };
  const { tokens, id_token } = await redeemCode(conversation, code);
  if (again_at_ms !== null && isSignedInBefore(id_token, again_at_ms)) {
    return refused({ failure: "not_signed_in_again", reason: "auth_time" });
  }
  const claims: Claims = id_token ?? (await readUserInfo(conversation, tokens.access_token));
  const subject = readSubject(claims, provider.profile);
  if (subject === null) return refused({ failure: "provider_failed", reason: "no subject" });
  const profile =
    id_token === null
      ? readProfile(claims, provider.profile)
      : await completeProfile(conversation, id_token, tokens.access_token);
  return accepted({ subject, profile, tokens });
}

/**
 * Whether a provider says that the person signed in before it was requested to sign them in again (OpenID Connect Core,
 * section 3.1.3.7). A provider must send `auth_time` only for `max_age`, which is not sent: some then sign in for ever.
 */
function isSignedInBefore(id_token: oauth.IDToken | null, again_at_ms: number): boolean {
  const { auth_time = Infinity } = id_token ?? {};
  return auth_time * 1000 < again_at_ms - CLOCK_TOLERANCE_MS;
}

/**
 * The profile from the ID token, or from the user-info endpoint if the token has no e-mail address. It never
 * mixes the two, because `email_verified` of one must not verify the other's address.
 */
async function completeProfile(
  conversation: Conversation,
  id_token: oauth.IDToken,
  access_token: string,
): Promise<Profile> {
  const { server, client, provider } = conversation;
  const profile = readProfile(id_token, provider.profile);
  const complete = profile.email !== null || provider.profile.email === null;
  if (complete || provider.userinfo_endpoint === null) return profile;
  const response = await oauth.userInfoRequest(server, client, access_token, OPTIONS);
  const { sub } = id_token;
  const claims = await oauth.processUserInfoResponse(server, client, sub, response);
  return readProfile(claims, provider.profile);
}

/**
 * The user-info response of a provider without ID tokens. Its configuration says which field is the subject.
 */
async function readUserInfo(conversation: Conversation, access_token: string): Promise<Claims> {
  const { server, client } = conversation;
  const response = await oauth.userInfoRequest(server, client, access_token, OPTIONS);
  const claims: unknown = response.status === 200 ? await response.json() : null;
  if (typeof claims === "object" && claims !== null) return claims as Claims;
  throw new Error("the user-info response is not a JSON object");
}

function failureOfResponse(error: unknown): AuthorizationFailure {
  return { failure: kindOfResponse(error), reason: reasonOf(error) };
}

function kindOfResponse(error: unknown): SignInFailure {
  if (!(error instanceof oauth.AuthorizationResponseError)) return "mismatch";
  switch (error.error) {
    case "access_denied":
      return "cancelled";
    case "server_error":
    case "temporarily_unavailable":
      return "provider_unreachable";
    default:
      return "provider_failed";
  }
}

/** Problems that mean only that the provider is unavailable. */
const UNAVAILABLE = ["timeout", "network", "server_error"];

function failureOfExchange(error: unknown): AuthorizationFailure {
  const silent = error instanceof UpstreamFailure && UNAVAILABLE.includes(error.problem);
  return { failure: silent ? "provider_unreachable" : "provider_failed", reason: reasonOf(error) };
}
