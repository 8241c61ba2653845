/**
 * Sites on this machine: Passbook and an app under one parent domain, and two providers on another site.
 * Browsers resolve every name under `localhost` to this machine.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuth2Server } from "oauth2-mock-server";
import { Provider } from "oidc-provider";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import type { Certificate } from "./certificate.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { startTestWorker } from "../support/test_worker.ts";

export const PARENT_DOMAIN = "family.localhost";

export interface Family {
  /** Passbook's origin. */
  readonly passbook: string;
  /** The app's origin; every page there is empty. */
  readonly app: string;
  /** The real OpenID provider's origin, on another site. */
  readonly openid: string;
  /** The mock provider; its handlers can change its responses. */
  readonly mock: OAuth2Server;
  readonly worker: LocalWorker;
  stop(): Promise<void>;
}

/**
 * Starts all of them with empty stores. `more`: additional settings of the Worker. With a certificate, the
 * Worker is served over https.
 */
export async function startFamily(
  more: Readonly<Record<string, string>> = {},
  certificate?: Certificate,
): Promise<Family> {
  const directory = await mkdtemp(join(tmpdir(), "passbook-"));
  const [port, app_port, openid_port] = [await freePort(), await freePort(), await freePort()];
  const scheme = certificate === undefined ? "http" : "https";
  const passbook = `${scheme}://passbook.${PARENT_DOMAIN}:${port}`;
  const app = `http://app.${PARENT_DOMAIN}:${app_port}`;
  const provider = await serveOpenId(openid_port, `${passbook}/signin/callback/real`);
  const site = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>App</title><h1>App</h1>");
  });
  await listen(site, app_port);
  const mock = new OAuth2Server();
  await mock.issuer.keys.generate("RS256");
  await mock.start(0, "localhost");

  const env_file = join(directory, "settings");
  const settings = {
    BASE_URL: passbook,
    COOKIE_DOMAIN: PARENT_DOMAIN,
    ALLOWED_ORIGINS: app,
    SIGNIN_PROVIDERS: `'${JSON.stringify([realSettings(openid_port), mockSettings(mock)])}'`,
    DEV_SIGNIN: "false",
    ...more,
  };
  const kept = (await developmentSettings())
    .split("\n")
    .filter((line) => !Object.keys(settings).some((name) => line.startsWith(`${name}=`)));
  const added = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  await writeFile(env_file, [...kept, ...added].join("\n"));
  const persist_to = join(directory, "state");
  const worker = await startTestWorker({
    port,
    persist_to,
    env_file,
    ...(certificate === undefined ? {} : { certificate }),
  });
  return {
    passbook,
    app,
    openid: `http://localhost:${openid_port}`,
    mock,
    worker,
    async stop() {
      await worker.stop();
      await mock.stop();
      for (const server of [site, provider]) {
        server.close();
        server.closeAllConnections();
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const CLIENT = { client_id: "passbook", client_secret: "secret_with-odd.characters~" };

function realSettings(port: number): object {
  const issuer = `http://localhost:${port}`;
  return {
    id: "real",
    name: "Real ID",
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    jwks_uri: `${issuer}/jwks`,
    scope: "openid email profile offline_access",
    authorization_parameters: { prompt: "consent" },
    authorization_response_iss_parameter_supported: true,
    ...CLIENT,
  };
}

function mockSettings(mock: OAuth2Server): object {
  const issuer = mock.issuer.url;
  return {
    id: "mock",
    name: "Mock",
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    scope: "profile",
    client_id: "passbook",
    client_secret: "mock-secret",
    profile: { subject: "sub", name: "name" },
  };
}

/** A strict OpenID provider that rotates refresh tokens and accepts any login. */
async function serveOpenId(port: number, redirect_uri: string): Promise<Server> {
  const provider = new Provider(`http://localhost:${port}`, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({
        sub,
        name: `${sub} of Real ID`,
        email: `${sub}@example.com`,
        email_verified: true,
      }),
    }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    // So short that the vault renews the token for every request.
    ttl: { AccessToken: 30, Grant: 86_400, RefreshToken: 86_400, Session: 86_400 },
    cookies: { keys: ["cookie-key"] },
  });
  const server = createServer(provider.callback());
  await listen(server, port);
  return server;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => {
    server.listen(port, () => resolve());
  });
}
