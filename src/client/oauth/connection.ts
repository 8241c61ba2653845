/** A connection to one person's account: it renews its tokens, sends requests, and makes narrower connections. */
import { PassbookError } from "../errors.ts";
import { readPerson } from "./id_token.ts";
import { ACCESS_TOKEN_TYPE, EXCHANGE, REFRESH_TOKEN_TYPE } from "./protocol.ts";
import { detailsOf, type SpendingLimits } from "./spending_limits.ts";
import { requestTokens, revokeToken, type Endpoints, type TokenBody } from "./token_endpoint.ts";

/** The tokens of a connection, as the app stores them. They are secrets. Can be stored as JSON. */
export interface ConnectionTokens {
  readonly access_token: string;
  /** When the access token expires, RFC 3339 in UTC. */
  readonly expires_at: string;
  /** Null: the connection ends with the access token. */
  readonly refresh_token: string | null;
  readonly scopes: readonly string[];
  /** The protected resource that the access token is for; null: our API. */
  readonly resource: string | null;
  /** The person, if the scopes have `openid`. */
  readonly identity_id: string | null;
}

/** The options of a connection. */
export interface ConnectionOptions {
  /** Stores the new tokens after each renewal. A renewal waits for it. */
  readonly onTokens?: (tokens: ConnectionTokens) => void | Promise<void>;
}

/** Limits of a narrower connection. Each may only shrink what this connection has. */
export interface ExchangeLimits extends SpendingLimits {
  readonly scopes?: readonly string[];
  /** The protected resource that it is for; the same as before if omitted. */
  readonly resource?: string;
}

/** Calls throw {@link PassbookError}; `invalid_grant` means that the connection has ended. */
export interface Connection {
  /** The current tokens. */
  readonly tokens: ConnectionTokens;
  /**
   * A valid access token, renewed in time. Concurrent calls share one renewal.
   * @example
   * const passbook = createClient({ baseUrl, token: connection.token });
   */
  readonly token: () => Promise<string>;
  /**
   * `fetch` with the access token, to our API or to the connection's resource only. After a 401 it renews the token and
   * sends the request once more.
   * @example
   * const me = await (await connection.fetch("/oauth/userinfo")).json();
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** Renews the tokens now. */
  refresh(): Promise<ConnectionTokens>;
  /**
   * Ends these tokens at the service, and the connection itself if `exchange` made it. A connection that the person
   * approved stays in their list with its limits, so that connecting again makes no second limit.
   */
  revoke(): Promise<void>;
  /**
   * Makes a narrower connection, such as for an agent. Its spending counts against this connection too. If this connection
   * has no refresh token, the narrower one ends with its access token.
   * @example
   * const agent = await connection.exchange({ caps: [{ credits: 50, period: "total" }], expiresIn: 3600 });
   */
  exchange(limits: ExchangeLimits): Promise<Connection>;
}

/** A token is renewed if it expires within this time: earlier than `createClient` needs, which is a minute. */
const RENEW_BEFORE_MS = 90_000;

type Expected = Pick<ConnectionTokens, "scopes" | "resource">;

/** The tokens of a response. `nonce`: that of the authorization; undefined: the response must have none of its own. */
export function tokensOf(
  { origin, client_id }: Endpoints,
  body: TokenBody,
  { scopes, resource }: Expected,
  nonce?: string,
): ConnectionTokens {
  const expected = { issuer: origin, client_id, ...(nonce === undefined ? {} : { nonce }) };
  const granted = body.scope?.split(" ").filter((scope) => scope !== "") ?? scopes;
  if (nonce !== undefined && granted.includes("openid") && body.id_token === undefined) {
    throw new PassbookError("invalid_response", "The response has no ID token.");
  }
  return {
    access_token: body.access_token,
    expires_at: new Date(Date.now() + body.expires_in * 1000).toISOString(),
    refresh_token: body.refresh_token ?? null,
    scopes: granted,
    resource,
    identity_id: body.id_token === undefined ? null : readPerson(body.id_token, expected),
  };
}

export function createConnection(
  endpoints: Endpoints,
  given: ConnectionTokens,
  { onTokens }: ConnectionOptions = {},
): Connection {
  let tokens = given;
  let renewing: Promise<ConnectionTokens> | null = null;

  const renew = async (): Promise<ConnectionTokens> => {
    tokens = await renewed(endpoints, tokens);
    await onTokens?.(tokens);
    return tokens;
  };
  // Concurrent callers share one renewal. A failed one is forgotten, so that the next caller tries again.
  const renewOnce = (): Promise<ConnectionTokens> => {
    renewing ??= renew().finally(() => void (renewing = null));
    return renewing;
  };
  const token = async (): Promise<string> => {
    const left_ms = Date.parse(tokens.expires_at) - Date.now();
    if (left_ms > RENEW_BEFORE_MS || (left_ms > 0 && tokens.refresh_token === null)) {
      return tokens.access_token;
    }
    return (await renewOnce()).access_token;
  };

  return {
    get tokens() {
      return tokens;
    },
    token,
    refresh: renewOnce,
    async fetch(url, init = {}) {
      const target = addressOf(endpoints, tokens, url);
      const send = async (access_token: string): Promise<Response> => {
        const headers = new Headers(init.headers);
        headers.set("Authorization", `Bearer ${access_token}`);
        return endpoints.fetch(target, { ...init, headers });
      };
      const sent = await token();
      const response = await send(sent);
      const is_repeatable = !(init.body instanceof ReadableStream);
      if (response.status !== 401 || tokens.refresh_token === null || !is_repeatable) {
        return response;
      }
      const { access_token } = tokens.access_token === sent ? await renewOnce() : tokens;
      await response.body?.cancel();
      return send(access_token);
    },
    revoke: () => revokeToken(endpoints, tokens.refresh_token ?? tokens.access_token),
    async exchange({ scopes, resource = tokens.resource ?? undefined, ...limits }) {
      // A renewal under way replaces the refresh token.
      const { refresh_token } = (await renewing?.catch(() => null)) ?? tokens;
      const body = await requestTokens(endpoints, {
        grant_type: EXCHANGE,
        subject_token: refresh_token ?? (await token()),
        subject_token_type: refresh_token === null ? ACCESS_TOKEN_TYPE : REFRESH_TOKEN_TYPE,
        scope: scopes?.join(" "),
        resource,
        authorization_details: detailsOf(limits),
      });
      const expected = { scopes: scopes ?? tokens.scopes, resource: resource ?? null };
      const { identity_id } = tokens;
      return createConnection(endpoints, { ...tokensOf(endpoints, body, expected), identity_id });
    },
  };
}

async function renewed(endpoints: Endpoints, tokens: ConnectionTokens): Promise<ConnectionTokens> {
  const { refresh_token, resource, identity_id } = tokens;
  if (refresh_token === null) {
    const message = "The connection has ended: it has no refresh token. Connect again.";
    throw new PassbookError("invalid_grant", message);
  }
  const form = {
    grant_type: "refresh_token",
    refresh_token,
    resource: resource ?? undefined,
  };
  const body = await requestTokens(endpoints, form).catch((error: unknown) => {
    if (!(error instanceof PassbookError) || error.code !== "no_response") throw error;
    // Safe: the service repeats its response to a token that it received a moment ago.
    return requestTokens(endpoints, form);
  });
  const next = tokensOf(endpoints, body, tokens);
  return {
    ...next,
    refresh_token: next.refresh_token ?? refresh_token,
    identity_id: next.identity_id ?? identity_id,
  };
}

/** A token is sent only to the server that it is for. @throws PassbookError `invalid_argument` */
function addressOf(
  { origin }: Endpoints,
  { resource }: ConnectionTokens,
  url: string | URL,
): string {
  const audience = resource ?? origin;
  const target = new URL(url, audience);
  if (target.origin === new URL(audience).origin) return target.href;
  const message = `This connection's token is for ${audience}, and is not sent to ${target.origin}.`;
  throw new PassbookError("invalid_argument", message);
}
