/** Narrower personal access tokens, for programs that cannot renew tokens (RFC 8693). */
import { PassbookError } from "../errors.ts";
import { readOrigin } from "../service_origin.ts";
import { EXCHANGE, ACCESS_TOKEN_TYPE, REFRESH_TOKEN_TYPE, TIMEOUT_MS } from "./protocol.ts";
import { detailsOf, type SpendingLimits } from "./spending_limits.ts";
import { requestTokens, type OAuthFetch } from "./token_endpoint.ts";

const PERSONAL_TOKEN_TYPE = "urn:passbook:token-type:personal";

/** The token to make a personal access token from, and the limits of the new one. */
export interface PersonalTokenRequest extends SpendingLimits {
  /** The service's origin, such as `https://passbook.example.com`. */
  readonly baseUrl: string;
  /** The token that the new one is made from: a personal access token, or the refresh token of a connection. */
  readonly token: string;
  /** The address of your client's document, for a refresh token. A registered client gets no such token. */
  readonly clientId?: string | undefined;
  /** What the new token may do, such as `read` and `write`; as much as `token` if omitted. */
  readonly scopes?: readonly string[] | undefined;
  /** How long it is valid, in seconds: at most a day. */
  readonly expiresIn: number;
  readonly fetch?: OAuthFetch;
  /** How long the request may take, in milliseconds; 10,000 if omitted. */
  readonly timeoutMs?: number;
}

/** A new personal access token. It is shown only now. */
export interface IssuedPersonalToken {
  /** Starts with `pb_pat_`. It cannot be renewed. */
  readonly token: string;
  /** When it expires, RFC 3339 in UTC. */
  readonly expires_at: string;
  readonly scopes: readonly string[];
}

/**
 * Makes a narrower personal access token, such as for a command or a worker that gets its token in the environment. It ends with
 * the token or the sign-in that it was made from, and what it spends counts against that too.
 * @throws PassbookError `invalid_scope` or `invalid_request` if it would be wider than `token`
 * @example
 * const { token } = await issuePersonalToken({
 *   baseUrl, clientId, token: connection.tokens.refresh_token,
 *   caps: [{ credits: 5, period: "total" }], expiresIn: 3600,
 * });
 */
export async function issuePersonalToken(
  request: PersonalTokenRequest,
): Promise<IssuedPersonalToken> {
  const { baseUrl, token, clientId, scopes, fetch, timeoutMs = TIMEOUT_MS, ...limits } = request;
  const origin = readOrigin(baseUrl);
  const endpoint = {
    origin,
    client_id: clientId ?? null,
    client_secret: null,
    fetch: fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    timeoutMs,
  };
  const body = await requestTokens(endpoint, {
    grant_type: EXCHANGE,
    subject_token: token,
    subject_token_type: clientId === undefined ? ACCESS_TOKEN_TYPE : REFRESH_TOKEN_TYPE,
    requested_token_type: PERSONAL_TOKEN_TYPE,
    scope: scopes?.join(" "),
    authorization_details: detailsOf(limits),
  });
  if (!body.access_token.startsWith("pb_pat_")) {
    throw new PassbookError("invalid_response", `${origin} sent another kind of token.`);
  }
  return {
    token: body.access_token,
    expires_at: new Date(Date.now() + body.expires_in * 1000).toISOString(),
    scopes: body.scope?.split(" ") ?? scopes ?? [],
  };
}
