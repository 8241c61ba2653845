/** An authorization server under test, and one client's way through it (OpenID Connect Core, section 3.1). */
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from "jose";
import { expect } from "vitest";
import type { Fetch, Landing, Page, Visitor } from "./visitor.ts";

export interface Client {
  readonly client_id: string;
  readonly client_secret: string;
  readonly authentication: "basic" | "post";
  readonly redirect_uri: string;
}

/** What a form of the server asks for. */
export type Step = "sign_in" | "consent";

export interface Target {
  readonly issuer: string;
  readonly fetch: Fetch;
  /** Registered confidential clients, which need no PKCE and may refresh. */
  readonly clients: { readonly basic: Client; readonly post: Client; readonly other: Client };
  openVisitor(): Visitor;
  /** Fills in the form of a page as this person; null if the page has no form of a sign-in or consent. */
  fill(
    visitor: Visitor,
    page: Page,
    email: string,
  ): { readonly step: Step; readonly next: Promise<Landing> } | null;
  /** Lets this many seconds pass. */
  wait(seconds: number): Promise<void>;
}

export interface Metadata {
  readonly [name: string]: unknown;
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly jwks_uri: string;
  readonly scopes_supported?: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly string[];
}

export async function readMetadata({ issuer, fetch }: Target): Promise<Metadata> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, {});
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toMatch(/^application\/json\b/);
  return response.json();
}

/** A person with a browser of their own, who uses one client. */
export interface Run {
  readonly target: Target;
  readonly metadata: Metadata;
  readonly client: Client;
  readonly visitor: Visitor;
  readonly email: string;
}

let people = 0;

export async function startRun(
  target: Target,
  client: Client = target.clients.basic,
): Promise<Run> {
  people += 1;
  const metadata = await readMetadata(target);
  const email = `person-${people}@example.com`;
  return { target, metadata, client, visitor: target.openVisitor(), email };
}

type Parameters = Readonly<Record<string, string | undefined>>;

export interface Answer {
  readonly request: Readonly<Record<string, string>>;
  readonly landing: Landing;
  /** The forms that the person had to fill in. */
  readonly steps: readonly Step[];
}

/** Sends an authorization request and completes the server's pages. `undefined` removes a parameter. */
export async function authorize(
  run: Run,
  parameters: Parameters = {},
  method: "GET" | "POST" = "GET",
): Promise<Answer> {
  const { target, metadata, client, visitor, email } = run;
  const all = {
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    response_type: "code",
    scope: "openid",
    state: crypto.randomUUID(),
    nonce: crypto.randomUUID(),
    ...parameters,
  };
  const request = Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const url = new URL(metadata.authorization_endpoint);
  const query = new URLSearchParams(request);
  if (method === "GET") url.search = query.toString();
  let landing = await (method === "GET" ? visitor.open(url) : visitor.post(url, query));
  const steps: Step[] = [];
  while (landing.kind === "page" && steps.length < 4) {
    const filled = target.fill(visitor, landing.page, email);
    if (filled === null) break;
    steps.push(filled.step);
    landing = await filled.next;
  }
  return { request, landing, steps };
}

/** The parameters of the redirect to the client. Checks the address, `state` and `iss` (RFC 9207). */
export function responseOf({ client, metadata }: Run, answer: Answer): URLSearchParams {
  const { landing, request } = answer;
  if (landing.kind === "page") {
    const { status, url, html } = landing.page;
    throw new Error(
      `No redirect, but a page at ${url.href} with status ${status}:\n${textOf(html)}`,
    );
  }
  expect(landing.url.href.split("?")[0]).toBe(client.redirect_uri);
  // RFC 9700, section 4.12: the browser must not repeat a POST at the client.
  expect([302, 303]).toContain(landing.status);
  const parameters = landing.url.searchParams;
  expect(parameters.get("state")).toBe(request["state"] ?? null);
  if (metadata["authorization_response_iss_parameter_supported"] === true) {
    expect(parameters.get("iss")).toBe(metadata.issuer);
  }
  return parameters;
}

function textOf(html: string): string {
  return html
    .replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, "")
    .replaceAll(/<[^>]*>|\s+/g, " ")
    .slice(0, 600);
}

/** 128 bits as base64url (RFC 6749, section 10.10). */
const SECRET_MIN_LENGTH = 22;

/** The code of a successful response. */
export function codeOf(run: Run, answer: Answer): string {
  const parameters = responseOf(run, answer);
  expect(parameters.get("error_description") ?? parameters.get("error")).toBeNull();
  const code = parameters.get("code") ?? "";
  expect(code.length).toBeGreaterThanOrEqual(SECRET_MIN_LENGTH);
  return code;
}

export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly id_token: string;
  readonly refresh_token?: string;
  readonly scope?: string;
}

/** Sends a request to the token endpoint, authenticated as `client`. */
export function requestTokens(
  { target, metadata }: Run,
  client: Client,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  const body = new URLSearchParams(parameters);
  const headers: Record<string, string> = {};
  if (client.authentication === "post") {
    body.set("client_id", client.client_id);
    body.set("client_secret", client.client_secret);
  } else {
    // RFC 6749, section 2.3.1: both parts are encoded as in a form.
    const pair = [client.client_id, client.client_secret].map(encodeURIComponent).join(":");
    headers["Authorization"] = `Basic ${btoa(pair)}`;
  }
  return target.fetch(metadata.token_endpoint, { method: "POST", headers, body });
}

export interface SignedIn {
  readonly code: string;
  readonly tokens: Tokens;
  readonly id_token: VerifiedIdToken;
  readonly steps: readonly Step[];
}

/** Goes the whole way, and checks everything that each module of the suite checks on the way. */
export async function signIn(
  run: Run,
  parameters: Parameters = {},
  options: { readonly method?: "POST"; readonly verifier?: string } = {},
): Promise<SignedIn> {
  const answer = await authorize(run, parameters, options.method);
  const code = codeOf(run, answer);
  const response = await redeem(run, code, options.verifier);
  expect(await response.clone().text()).not.toContain('"error"');
  expect(response.status).toBe(200);
  expect(response.headers.get("Cache-Control")).toContain("no-store");
  const tokens = (await response.json()) as Tokens;
  expect(tokens.token_type.toLowerCase()).toBe("bearer");
  expect(tokens.expires_in).toBeGreaterThan(0);
  expect(tokens.access_token.length).toBeGreaterThanOrEqual(SECRET_MIN_LENGTH);
  const id_token = await verifyIdToken(run, tokens.id_token);
  expect(id_token.claims["nonce"]).toBe(answer.request["nonce"]);
  return { code, tokens, id_token, steps: answer.steps };
}

export function redeem(run: Run, code: string, verifier?: string): Promise<Response> {
  return requestTokens(run, run.client, {
    grant_type: "authorization_code",
    code,
    redirect_uri: run.client.redirect_uri,
    ...(verifier === undefined ? {} : { code_verifier: verifier }),
  });
}

export interface VerifiedIdToken {
  readonly alg: string;
  readonly claims: JWTPayload;
}

/** Verifies an ID token as a strict client does (OpenID Connect Core, section 3.1.3.7). */
export async function verifyIdToken(run: Run, id_token: string): Promise<VerifiedIdToken> {
  const { metadata, client } = run;
  const keys = createLocalJWKSet(await readKeys(run));
  const { payload, protectedHeader } = await jwtVerify(id_token, keys, {
    issuer: metadata.issuer,
    audience: client.client_id,
    requiredClaims: ["sub", "iat", "exp"],
  });
  expect(protectedHeader.kid).toEqual(expect.any(String));
  // The client requested no algorithm, so RS256 is the only one that it may get.
  expect(protectedHeader.alg).toBe("RS256");
  expect([payload.aud].flat()).toEqual([client.client_id]);
  // At most 255 ASCII characters (section 8).
  expect(payload.sub).toMatch(/^[\x21-\x7e]{1,255}$/);
  for (const claim of PROFILE_CLAIMS) expect(payload).not.toHaveProperty(claim);
  return { alg: protectedHeader.alg, claims: payload };
}

/** With an access token, these claims are at the user-info endpoint only (section 5.4). */
const PROFILE_CLAIMS = ["name", "given_name", "family_name", "picture", "email", "email_verified"];

export async function readKeys({ target, metadata }: Run): Promise<JSONWebKeySet> {
  const response = await target.fetch(metadata.jwks_uri, {});
  expect(response.status).toBe(200);
  return response.json();
}

/** Requests the user-info endpoint. The token is in a header, or in a form. */
export function requestUserinfo(
  { target, metadata }: Run,
  access_token: string,
  how: "get" | "post_header" | "post_body" = "get",
): Promise<Response> {
  const headers = { Authorization: `Bearer ${access_token}` };
  const url = metadata.userinfo_endpoint;
  if (how === "get") return target.fetch(url, { headers });
  if (how === "post_header") return target.fetch(url, { method: "POST", headers });
  const body = new URLSearchParams({ access_token });
  return target.fetch(url, { method: "POST", body });
}
