/** Requests to the token and revocation endpoints (RFC 6749, RFC 7009, RFC 8693), and their errors. */
import type { Fetch, FetchedResponse, FetchInit } from "../transport.ts";
import { codeOf, OAUTH_ERROR_CODES, PassbookError, type PassbookErrorCode } from "../errors.ts";

/** A body of the token endpoint. */
export interface TokenBody {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly id_token?: string;
  readonly scope?: string;
}

/** The `fetch` of every runtime fits. */
export type OAuthFetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Endpoints {
  readonly origin: string;
  readonly client_id: string;
  readonly client_secret: string | null;
  readonly fetch: OAuthFetch;
  readonly timeoutMs: number;
}

/** For requests that need no more of `fetch` than the rest of this package. Without a client, a personal access token is sent. */
export type TokenEndpoint = Omit<Endpoints, "fetch" | "client_id"> & {
  readonly client_id: string | null;
  readonly fetch: OAuthFetch | Fetch;
};

type Form = Readonly<Record<string, string | undefined>>;

/**
 * Requests tokens, once.
 * @throws PassbookError with the service's error as `code`; `no_response`; `invalid_response`
 */
export async function requestTokens(endpoints: TokenEndpoint, form: Form): Promise<TokenBody> {
  const body = await post(endpoints, "/oauth/token", form);
  const { access_token, token_type, expires_in } = body as Partial<TokenBody>;
  const is_bearer = typeof token_type === "string" && token_type.toLowerCase() === "bearer";
  if (typeof access_token === "string" && is_bearer && Number.isFinite(expires_in)) {
    return body as unknown as TokenBody;
  }
  throw new PassbookError("invalid_response", `${endpoints.origin} sent no tokens. Check baseUrl.`);
}

/** Revokes a token. An unknown token counts as revoked (RFC 7009, section 2.2). */
export async function revokeToken(endpoints: TokenEndpoint, token: string): Promise<void> {
  await post(endpoints, "/oauth/revoke", { token });
}

/** Whether a token is active now (RFC 7662). */
export async function introspectToken(endpoints: TokenEndpoint, token: string): Promise<boolean> {
  const { active } = await post(endpoints, "/oauth/introspect", { token });
  if (typeof active === "boolean") return active;
  throw new PassbookError("invalid_response", `${endpoints.origin} did not introspect the token.`);
}

/** Without the undefined fields. */
export function encoded(form: Form): URLSearchParams {
  const fields = Object.entries(form).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return new URLSearchParams(fields);
}

async function post(
  { origin, client_id, client_secret, fetch, timeoutMs }: TokenEndpoint,
  path: string,
  form: Form,
): Promise<Readonly<Record<string, unknown>>> {
  const headers: Record<string, string> = {
    Accept: "application/json",
    "Content-Type": "application/x-www-form-urlencoded",
  };
  const body = encoded(form);
  if (client_id !== null && client_secret === null) body.set("client_id", client_id);
  if (client_id !== null && client_secret !== null) {
    headers["Authorization"] = basicOf(client_id, client_secret);
  }
  const init: FetchInit = {
    method: "POST",
    headers,
    body: body.toString(),
    // The service never redirects this request. A redirect could take the secrets elsewhere.
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  };
  let response: Pick<FetchedResponse, "status" | "headers" | "text">;
  let text: string;
  try {
    response = await fetch(origin + path, init);
    text = await response.text();
  } catch (cause) {
    const message = `${origin} gave no response. Check baseUrl, and that the service is running.`;
    throw new PassbookError("no_response", message, { cause });
  }
  const parsed = parseObject(text);
  if (response.status >= 200 && response.status < 300) return parsed;
  throw errorOf(response, parsed);
}

/** RFC 6749, section 2.3.1: both parts are encoded as in a form. */
function basicOf(client_id: string, client_secret: string): string {
  const [id, secret] = [client_id, client_secret].map((text) =>
    new URLSearchParams({ text }).toString().slice("text=".length),
  );
  return `Basic ${btoa(`${id}:${secret}`)}`;
}

function errorOf(
  response: Pick<FetchedResponse, "status" | "headers">,
  body: Readonly<Record<string, unknown>>,
): PassbookError {
  const { status } = response;
  const retry_after = response.headers.get("Retry-After") ?? "";
  const retryAfterMs = /^\d{1,6}$/.test(retry_after) ? Number(retry_after) * 1000 : undefined;
  const code = oauthCodeOf(body["error"]);
  if (code === null) {
    const message = `A response of status ${status} does not come from the token endpoint.`;
    return new PassbookError(status >= 500 ? "no_response" : "invalid_response", message, {
      status,
    });
  }
  const message = String(body["error_description"] ?? body["error"]);
  return new PassbookError(code, message, { status, body, retryAfterMs });
}

/** The code of an `error` parameter; null for text that cannot be one. */
export function oauthCodeOf(error: unknown): PassbookErrorCode | null {
  return OAUTH_ERROR_CODES.find((code) => code === error) ?? codeOf(error);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
