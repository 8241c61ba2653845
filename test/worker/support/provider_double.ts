/**
 * A sign-in provider in memory. It checks client, code, PKCE and redirect address as strictly as a real one,
 * and can misbehave on request. It serves the Worker's `fetch`, which reaches nothing else.
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";
import { base64url } from "jose";
import { vi } from "vitest";

export interface PersonAtProvider {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** Ways to misbehave. Each may change what a correct provider would send. */
export interface Misbehaviour {
  /** Changes the claims of the ID token before it is signed. */
  readonly claims?: (claims: Record<string, unknown>) => Record<string, unknown>;
  /** Changes the finished ID token. */
  readonly id_token?: (id_token: string) => string;
  /** Responds instead of an endpoint, by its path. */
  readonly answer?: (path: string) => Response | null | Promise<Response | null>;
}

/** A received request; `redirect` is its setting of `fetch`. */
export interface ProviderRequest {
  readonly path: string;
  readonly redirect: Request["redirect"];
}

export interface ProviderDouble {
  /** Its entry in `SIGNIN_PROVIDERS`. */
  readonly settings: Readonly<Record<string, unknown>> & { readonly id: string };
  /** The person agrees: returns the address that their browser is redirected to. */
  approve(authorization_url: string, person: PersonAtProvider): URL;
  misbehave(misbehaviour: Misbehaviour): void;
  /** Every code and token that it issued. */
  readonly given_secrets: readonly string[];
  /** Requests the Worker made to it. */
  readonly requests: readonly ProviderRequest[];
  handle(request: Request): Promise<Response>;
}

const { publicKey, privateKey } = await generateKeyPair("RS256");
const public_jwk: JWK = await exportJWK(publicKey);
const kid = await calculateJwkThumbprint(public_jwk);

/** Opens a provider; `protocol` "oauth" issues no ID token and has only user-info. */
export function openProviderDouble(
  id: string,
  overrides: Readonly<Record<string, unknown>> = {},
): ProviderDouble {
  const origin = `https://${id}.test`;
  const codes = new Map<string, { url: URL; person: PersonAtProvider }>();
  const people = new Map<string, PersonAtProvider>();
  const given_secrets: string[] = [];
  const requests: ProviderRequest[] = [];
  let misbehaviour: Misbehaviour = {};
  const settings = {
    id,
    name: id[0]?.toUpperCase() + id.slice(1),
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    userinfo_endpoint: `${origin}/userinfo`,
    jwks_uri: `${origin}/jwks`,
    scope: "openid email profile",
    client_id: `client-of-${id}`,
    client_secret: `secret-of-${id}`,
    ...overrides,
  };

  const redeem = async (request: Request): Promise<Response> => {
    const form = new URLSearchParams(new TextDecoder().decode(await request.arrayBuffer()));
    const expected = `Basic ${btoa(`${settings.client_id}:${settings.client_secret}`)}`;
    if (request.headers.get("Authorization") !== expected) return refusal("invalid_client", 401);
    const grant = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    if (grant === undefined) return refusal("invalid_grant", 400);
    const authorization_request = grant.url.searchParams;
    const verifier = new TextEncoder().encode(form.get("code_verifier") ?? "");
    const challenge = base64url.encode(
      new Uint8Array(await crypto.subtle.digest("SHA-256", verifier)),
    );
    if (challenge !== authorization_request.get("code_challenge"))
      return refusal("invalid_grant", 400);
    if (form.get("redirect_uri") !== authorization_request.get("redirect_uri")) {
      return refusal("invalid_grant", 400);
    }
    const access_token = `access-${crypto.randomUUID()}`;
    const refresh_token = `refresh-${crypto.randomUUID()}`;
    people.set(access_token, grant.person);
    given_secrets.push(access_token, refresh_token);
    const tokens = { access_token, refresh_token, token_type: "Bearer", expires_in: 3600 };
    if (!settings.scope.includes("openid")) return Response.json(tokens);
    const id_token = await signIdToken(grant.person, authorization_request.get("nonce"));
    given_secrets.push(id_token);
    return Response.json({ ...tokens, id_token });
  };
  const signIdToken = async (person: PersonAtProvider, nonce: string | null): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const audience = { iss: origin, aud: settings.client_id, iat: now, exp: now + 300 };
    const honest = { ...person, ...audience, ...(nonce === null ? {} : { nonce }) };
    const claims = misbehaviour.claims?.(honest) ?? honest;
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid })
      .sign(privateKey);
    return misbehaviour.id_token?.(token) ?? token;
  };

  return {
    settings,
    given_secrets,
    requests,
    approve(authorization_url, person) {
      const url = new URL(authorization_url);
      const code = `code-${crypto.randomUUID()}`;
      codes.set(code, { url, person });
      given_secrets.push(code);
      const back = new URL(url.searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      back.searchParams.set("iss", origin);
      return back;
    },
    misbehave: (next) => {
      misbehaviour = next;
    },
    async handle(request) {
      const path = new URL(request.url).pathname;
      requests.push({ path, redirect: request.redirect });
      const instead = (await misbehaviour.answer?.(path)) ?? null;
      if (instead !== null) return instead;
      if (path === "/token") return redeem(request);
      if (path === "/jwks") return Response.json({ keys: [{ ...public_jwk, kid, alg: "RS256" }] });
      const bearer = request.headers.get("Authorization")?.replace("Bearer ", "") ?? "";
      const person = people.get(bearer);
      return person === undefined ? refusal("invalid_token", 401) : Response.json(person);
    },
  };
}

function refusal(error: string, status: number): Response {
  return Response.json({ error }, { status });
}

/** Makes the Worker's `fetch` reach these providers, and returns the settings that name them. */
export function connect(...providers: readonly ProviderDouble[]): Record<string, string> {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    const provider = providers.find(({ settings }) => settings["issuer"] === origin);
    if (provider === undefined) throw new TypeError(`no such host: ${origin}`);
    return provider.handle(request);
  });
  return { SIGNIN_PROVIDERS: JSON.stringify(providers.map(({ settings }) => settings)) };
}
