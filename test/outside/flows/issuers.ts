/** Issuers of apps' tokens on loopback: a real OpenID provider with JWT access tokens, and a stand-in for Clerk. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { serve } from "@hono/node-server";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { openClerk, type ClerkDouble } from "../../worker/support/clerk_double.ts";
import { goThroughProvider } from "./real_provider.ts";

export const AUDIENCE = "https://passbook.test/api";

export interface OpenIdIssuer {
  readonly issuer: string;
  /** Signs a person in to the app, as its own library does; returns the access token for {@link AUDIENCE}. */
  signIn(login: string): Promise<string>;
  /** Signs a person in on Passbook's pages; returns the cookies of the browser. */
  signInOnPages(passbook: string, login: string): Promise<string>;
  stop(): Promise<void>;
}

const CLIENT = { client_id: "passbook", client_secret: "passbook-client-secret" };
const APP = "app-of-acme";

/** The entry of the issuer in `SIGNIN_PROVIDERS`. */
export function signInSettings(issuer: string): object {
  return {
    id: "acme",
    name: "Acme",
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    scope: "openid",
    ...CLIENT,
  };
}

export async function startOpenIdIssuer(port: number, passbook: string): Promise<OpenIdIssuer> {
  const issuer = `http://localhost:${port}`;
  const app_uri = "https://app.test/back";
  const common = { grant_types: ["authorization_code"], response_types: ["code"] };
  const provider = new Provider(issuer, {
    clients: [
      { ...CLIENT, ...common, redirect_uris: [`${passbook}/signin/callback/acme`] },
      {
        ...common,
        client_id: APP,
        token_endpoint_auth_method: "none",
        redirect_uris: [app_uri],
      },
    ],
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: (_: unknown, client: { clientId: string }) =>
          client.clientId === APP ? AUDIENCE : undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "wallet",
          audience: AUDIENCE,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    scopes: ["openid", "wallet"],
    cookies: { keys: ["cookie-key"] },
  });
  const server = createServer(provider.callback());
  await listen(server, port);
  return {
    issuer,
    async signIn(login) {
      const verifier = randomBytes(32).toString("base64url");
      const start = new URL(`${issuer}/auth`);
      start.search = new URLSearchParams({
        client_id: APP,
        redirect_uri: app_uri,
        response_type: "code",
        scope: "openid wallet",
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
      }).toString();
      const back = await goThroughProvider(start, login, app_uri);
      const answer = await fetch(`${issuer}/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "authorization_code",
          client_id: APP,
          redirect_uri: app_uri,
          code_verifier: verifier,
          code: back.searchParams.get("code") ?? "",
        }),
      });
      const { access_token } = (await answer.json()) as { access_token: string };
      return access_token;
    },
    async signInOnPages(origin, login) {
      const started = await fetch(`${origin}/signin/acme`, {
        headers: { "Sec-Fetch-Site": "same-origin" },
        redirect: "manual",
      });
      const flow = cookiesOf(started);
      const callback = `${origin}/signin/callback/acme`;
      const at_provider = new URL(started.headers.get("Location") ?? "");
      const back = await goThroughProvider(at_provider, login, callback);
      const finished = await fetch(back, { headers: { Cookie: flow }, redirect: "manual" });
      return cookiesOf(finished);
    },
    stop: () => stop(server),
  };
}

function cookiesOf(answer: Response): string {
  const pairs = answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
  return pairs.filter((pair) => !pair.endsWith("=")).join("; ");
}

export interface ClerkInstance {
  /** The origin of its Frontend API and of its Backend API. */
  readonly url: string;
  readonly api: ClerkDouble;
  /** The PEM of its key, which Clerk's own library verifies session tokens with. */
  readonly jwt_key: string;
  /** A session token (version 2) of a person, as Clerk's browser library gets it. */
  sessionToken(user_id: string, azp: string, claims?: object): Promise<string>;
  stop(): Promise<void>;
}

/** Serves the keys of a Clerk instance, and the Backend API's stand-in. */
export async function startClerk(port: number): Promise<ClerkInstance> {
  const url = `http://localhost:${port}`;
  const api = openClerk();
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "ins_1", alg: "RS256", use: "sig" };
  const server = serve({
    port,
    fetch: (request) =>
      new URL(request.url).pathname === "/.well-known/jwks.json"
        ? Response.json({ keys: [jwk] })
        : api.handle(request),
  }) as Server;
  return {
    url,
    api,
    jwt_key: await exportSPKI(publicKey),
    sessionToken: (user_id, azp, claims = {}) =>
      new SignJWT({
        azp,
        fva: [0, -1],
        pla: "u:free",
        sid: "sess_1",
        sts: "active",
        v: 2,
        ...claims,
      })
        .setProtectedHeader({ alg: "RS256", cat: "cl_B7d4PD111AAA", kid: "ins_1", typ: "JWT" })
        .setIssuer(url)
        .setSubject(user_id)
        .setIssuedAt()
        .setNotBefore("-10s")
        .setExpirationTime("60s")
        .sign(privateKey),
    stop: () => stop(server),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => {
    server.listen(port, () => resolve());
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
