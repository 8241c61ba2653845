/** Connecting an app to a person's account: authorization code with PKCE (RFC 7636), `state` and `iss` (RFC 9207). */
import { PassbookError } from "../errors.ts";
import { readOrigin } from "../service_origin.ts";
import {
  createConnection,
  tokensOf,
  type Connection,
  type ConnectionOptions,
  type ConnectionTokens,
} from "./connection.ts";
import { TIMEOUT_MS } from "./protocol.ts";
import { detailsOf, type SpendingLimits } from "./spending_limits.ts";
import {
  encoded,
  oauthCodeOf,
  requestTokens,
  type Endpoints,
  type OAuthFetch,
} from "./token_endpoint.ts";

/** The service, and your client as it is registered or described by its document. */
export interface OAuthClientOptions {
  /** The service's origin, such as `https://passbook.example.com`. */
  readonly baseUrl: string;
  /** The id of a registered client, or the https address of your client's metadata document. */
  readonly clientId: string;
  /** For a registered client with a server. Keep it secret there. */
  readonly clientSecret?: string | undefined;
  /** Where the person returns to. It must be one of the client's registered addresses. */
  readonly redirectUri: string;
  readonly fetch?: OAuthFetch;
  /** How long one request may take, in milliseconds; 10,000 if omitted. */
  readonly timeoutMs?: number;
}

/** The rights that the person is asked for. */
export interface StartAuthorization {
  /**
   * The rights of the app: `read` and `write` for our API, `openid`, `profile` and `email` to know the person,
   * `offline_access` to stay connected after the person signs out; or the scopes of `resource`.
   */
  readonly scopes: readonly string[];
  /** The address of another protected resource, such as an MCP server; our API if omitted. */
  readonly resource?: string | undefined;
  /** Limits to suggest on the page. The person decides. */
  readonly limits?: SpendingLimits | undefined;
  /**
   * `login`: the person signs in again. `consent`: the page asks the person again. `none`: no page is shown, and the client
   * gets an error if one is needed. Only a client that cannot be identified, and an unregistered one of a person who is not
   * signed in, ends on a page also then.
   */
  readonly prompt?: "login" | "consent" | "none" | undefined;
}

/** Kept by the app until the person returns, for this browser only. Can be stored as JSON. */
export interface PendingAuthorization {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly scopes: readonly string[];
  readonly resource: string | null;
}

/** The address for the person's browser, and what you keep until they return. */
export interface StartedAuthorization {
  /** Send the person's browser here. */
  readonly url: string;
  readonly pending: PendingAuthorization;
}

/** The options of the new connection. */
export type CallbackOptions = ConnectionOptions;

/** Calls throw {@link PassbookError}. */
export interface OAuthClient {
  /**
   * Starts an authorization. It sends nothing.
   * @example
   * const { url, pending } = await oauth.start({ scopes: ["openid", "read", "write"] });
   * session.pending = pending; // the visitor's own session
   * response.redirect(url);
   */
  start(request: StartAuthorization): Promise<StartedAuthorization>;
  /**
   * Completes an authorization: `url` is the address that the person returned to, with its query. A code is valid once,
   * for a minute.
   * @throws PassbookError `signin_failed` if this browser did not start it, or if another service sent the response;
   * `access_denied` if the person refused; otherwise the error of the service
   * @example
   * const connection = await oauth.callback(request.url, session.pending);
   * await save(connection.tokens);
   */
  callback(
    url: string | URL,
    pending: PendingAuthorization | null | undefined,
    options?: CallbackOptions,
  ): Promise<Connection>;
  /**
   * The connection of tokens that the app stored. It sends nothing.
   * @example
   * const connection = oauth.connection(await load(), { onTokens: save });
   */
  connection(tokens: ConnectionTokens, options?: ConnectionOptions): Connection;
}

/** 256 bits, which fit every parameter. */
const RANDOM_BYTES = 32;

/**
 * Makes the OAuth client of an app. It sends nothing yet.
 * @throws PassbookError `invalid_argument` if an option is invalid, or for a secret in a page
 * @example
 * const oauth = createOAuthClient({
 *   baseUrl: "https://passbook.example.com",
 *   clientId: "https://draw.example.com/oauth-client.json",
 *   redirectUri: "https://draw.example.com/callback",
 * });
 */
export function createOAuthClient(options: OAuthClientOptions): OAuthClient {
  const { redirectUri: redirect_uri } = options;
  const endpoints = endpointsOf(options);
  const { origin: issuer, client_id } = endpoints;
  return {
    async start({ scopes, resource, prompt, limits }) {
      const [state, nonce, verifier] = [random(), random(), random()];
      const url = new URL("/oauth/authorize", issuer);
      const parameters = encoded({
        response_type: "code",
        client_id,
        redirect_uri,
        scope: scopes.join(" "),
        state,
        code_challenge: await challengeOf(verifier),
        code_challenge_method: "S256",
        nonce: scopes.includes("openid") ? nonce : undefined,
        resource,
        prompt,
        authorization_details: limits && detailsOf(limits),
      });
      url.search = parameters.toString();
      const pending = { state, nonce, verifier, scopes: [...scopes], resource: resource ?? null };
      return { url: url.href, pending };
    },
    async callback(url, pending, connection_options) {
      const response = new URL(url, redirect_uri).searchParams;
      if (pending === null || pending === undefined || response.get("state") !== pending.state) {
        throw new PassbookError(
          "signin_failed",
          "This browser did not start that authorization. Start it again.",
        );
      }
      if (response.get("iss") !== issuer) {
        throw new PassbookError("signin_failed", `The response is not from ${issuer}.`);
      }
      const [error, code] = [response.get("error"), response.get("code")];
      if (error !== null) {
        const message = response.get("error_description") ?? error;
        throw new PassbookError(oauthCodeOf(error) ?? "invalid_response", message);
      }
      if (code === null) throw new PassbookError("invalid_response", "The response has no code.");
      const body = await requestTokens(endpoints, {
        grant_type: "authorization_code",
        code,
        redirect_uri,
        code_verifier: pending.verifier,
        resource: pending.resource ?? undefined,
      });
      const tokens = tokensOf(endpoints, body, pending, pending.nonce);
      return createConnection(endpoints, tokens, connection_options);
    },
    connection: (tokens, connection_options) =>
      createConnection(endpoints, tokens, connection_options),
  };
}

function endpointsOf(options: OAuthClientOptions): Endpoints {
  const { clientId: client_id, clientSecret, redirectUri } = options;
  if (clientSecret !== undefined && "document" in globalThis) {
    throw new PassbookError(
      "invalid_argument",
      "A page has no clientSecret: every visitor could read it. Register a public client.",
    );
  }
  if (!/^[\x21-\x7e]+$/.test(client_id) || !URL.canParse(redirectUri)) {
    const message = "clientId must be the id of a client, and redirectUri its address.";
    throw new PassbookError("invalid_argument", message);
  }
  return {
    origin: readOrigin(options.baseUrl),
    client_id,
    client_secret: clientSecret ?? null,
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  };
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
