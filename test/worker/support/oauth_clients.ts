/** OAuth clients for tests: connections as the consent page makes them, and requests to the endpoints. */
import { env } from "cloudflare:workers";
import { base64url, decodeJwt } from "jose";
import { HOLDER, type AuthorizeClientRequest } from "../../../src/account/contract.ts";
import { servicesFor } from "../../../src/services.ts";
import { send, type Answer, type SignedIn } from "./passbook.ts";

/** A public client that a document describes. Nothing fetches the document, because only consent needs it. */
export const CLIENT_ID = "https://client.example.com/oauth.json";
export const REDIRECT_URI = "https://client.example.com/callback";
export const RESOURCE = "https://mcp.example.com/mcp";
export const VERIFIER = "a-verifier-of-tests-with-43-characters-or-more";

const DAY_MS = 86_400_000;

export type Form = Readonly<Record<string, string>>;

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly id_token?: string;
}

export function oauthServices() {
  const services = servicesFor(env);
  if (!services.ok) throw new Error("misconfigured");
  return services.value;
}

export async function challengeOf(verifier: string): Promise<string> {
  const bytes = new TextEncoder().encode(verifier);
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Connects a client as the holder's consent does. @returns the code */
export async function authorize(
  person: SignedIn,
  request: Partial<AuthorizeClientRequest> = {},
): Promise<string> {
  const { identity_id, token } = person;
  const { code, code_hash } = await oauthServices().authorization_codes.issue(identity_id);
  const { sid } = decodeJwt<{ sid: string }>(token);
  const connected = await env.ACCOUNT.getByName(identity_id).authorizeClient(HOLDER, {
    client_id: CLIENT_ID,
    client_host: "client.example.com",
    client_name: "A client",
    redirect_uri: REDIRECT_URI,
    scopes: ["openid", "offline_access", "write"],
    resource: null,
    resource_app_slug: null,
    limits: { app_slugs: null, caps: [], expires_at_ms: Date.now() + 90 * DAY_MS },
    code_challenge: await challengeOf(VERIFIER),
    needs_assertion: false,
    nonce: null,
    auth_time_ms: Date.now(),
    session_id: sid,
    signin_method: "dev",
    session_ends_at_ms: null,
    code_hash,
    ...request,
  });
  if (!connected.ok || connected.value === null) throw new Error(JSON.stringify(connected));
  return code;
}

/** Posts a form to an OAuth endpoint. */
export function post(
  path: string,
  form: Form,
  headers: Record<string, string> = {},
  settings: object = {},
): Promise<Answer> {
  return send("POST", path, { headers, body: new URLSearchParams(form) }, settings);
}

/** The form that redeems a code. */
export const codeForm = (code: string, changed: Form = {}): Form => ({
  grant_type: "authorization_code",
  code,
  client_id: CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  code_verifier: VERIFIER,
  ...changed,
});

export const refreshForm = (refresh_token: string, changed: Form = {}): Form => ({
  grant_type: "refresh_token",
  refresh_token,
  client_id: CLIENT_ID,
  ...changed,
});

export const redeem = (code: string, changed: Form = {}): Promise<Answer> =>
  post("/oauth/token", codeForm(code, changed));

export const refresh = (refresh_token: string, changed: Form = {}): Promise<Answer> =>
  post("/oauth/token", refreshForm(refresh_token, changed));

/** A connected client's first tokens. */
export async function connect(
  person: SignedIn,
  request: Partial<AuthorizeClientRequest> = {},
): Promise<Tokens> {
  const { client_id = CLIENT_ID } = request;
  const answer = await redeem(await authorize(person, request), { client_id });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body as Tokens;
}

/** A request to our API with an access token. */
export function withToken(
  access_token: string,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const headers = { Authorization: `Bearer ${access_token}`, "Content-Type": "application/json" };
  return send(method, path, { headers, ...(body && { body: JSON.stringify(body) }) });
}
