/** Apps with their own sign-in service: a running Worker, and real issuers on this machine. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClerkClient, verifyToken } from "@clerk/backend";
import { OAuth2Server } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { CLERK_SECRET_KEY } from "../../worker/support/clerk_double.ts";
import { startTestWorker } from "../support/test_worker.ts";
import {
  AUDIENCE,
  signInSettings,
  startClerk,
  startOpenIdIssuer,
  type ClerkInstance,
  type OpenIdIssuer,
} from "./issuers.ts";

const APP = "http://localhost:3000";

let directory: string;
let worker: LocalWorker;
let acme: OpenIdIssuer;
let clerk: ClerkInstance;
let mock: OAuth2Server;
let silent: Server;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-"));
  const port = await freePort();
  const passbook = `http://localhost:${port}`;
  acme = await startOpenIdIssuer(await freePort(), passbook);
  clerk = await startClerk(await freePort());
  mock = new OAuth2Server();
  await mock.issuer.keys.generate("RS256", { kid: "first" });
  await mock.start(0, "localhost");
  // An issuer that accepts connections and never responds.
  silent = createServer(() => undefined);
  const silent_port = await freePort();
  await new Promise<void>((resolve) => silent.listen(silent_port, () => resolve()));
  const issuers = [
    {
      issuer: acme.issuer,
      jwks_uri: `${acme.issuer}/jwks`,
      audience: AUDIENCE,
      starter_credits: true,
    },
    {
      preset: "clerk",
      issuer: clerk.url,
      any_audience: true,
      upstream: true,
      upstream_tokens: "clerk",
    },
    {
      issuer: mock.issuer.url,
      jwks_uri: `${mock.issuer.url}/jwks`,
      audience: "passbook",
      name: "Mock",
    },
    { issuer: `http://localhost:${silent_port}`, audience: "passbook" },
  ];
  const env_file = join(directory, "settings");
  const lines = [
    await developmentSettings(),
    `TRUSTED_ISSUERS='${JSON.stringify(issuers)}'`,
    `SIGNIN_PROVIDERS='${JSON.stringify([signInSettings(acme.issuer)])}'`,
    `CLERK_SECRET_KEY=${CLERK_SECRET_KEY}`,
    `CLERK_API_URL=${clerk.url}`,
    "SOCIAL_PROVIDER=github",
  ];
  await writeFile(env_file, lines.join("\n"));
  worker = await startTestWorker({ port, persist_to: join(directory, "state"), env_file });
});

afterAll(async () => {
  await worker?.stop();
  await acme?.stop();
  await clerk?.stop();
  await mock?.stop().catch(() => undefined);
  silent?.close();
  silent?.closeAllConnections();
  await rm(directory, { recursive: true, force: true });
});

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly account?: { identity_id: string } };
}

async function call(
  token: string,
  path = "/api/wallet?app=demo",
  body: object | null = null,
): Promise<Reply> {
  const answer = await fetch(worker.url + path, {
    method: body === null ? "GET" : "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: body === null ? null : JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Reply["body"] };
}

const identityOf = ({ body }: Reply): string => body.account?.identity_id ?? "";

describe("an app that signs people in with an OpenID provider", () => {
  it("its access token opens the wallet, runs a job, and belongs to the person who approves a device on our pages", async () => {
    const token = await acme.signIn("ada");
    const wallet = await call(token);
    expect(wallet.status).toBe(200);
    const job = await call(token, "/api/jobs", { app: "demo", action: "draw", cost_estimate: 5 });
    expect(job.status).toBe(200);
    const done = { job_id: job.body["job_id"], actual_cost: 2 };
    expect((await call(token, "/api/jobs/complete", done)).body).toMatchObject({ credits: 98 });

    const started = await fetch(`${worker.url}/api/device/start`, { method: "POST" });
    const login = (await started.json()) as { user_code: string; device_code: string };
    const approval = { user_code: login.user_code };
    expect((await call(token, "/api/device/complete", approval)).status).toBe(401);
    const cookies = await acme.signInOnPages(worker.url, "ada");
    const approved = await fetch(`${worker.url}/api/device/complete`, {
      method: "POST",
      headers: { Cookie: cookies, Origin: worker.url, "Content-Type": "application/json" },
      body: JSON.stringify(approval),
    });
    expect(approved.status).toBe(200);
    const poll = new URL("/api/device/poll", worker.url);
    poll.searchParams.set("device_code", login.device_code);
    const { token: personal_token } = (await (await fetch(poll)).json()) as { token: string };
    const by_device = await call(personal_token);
    expect(identityOf(by_device)).toBe(identityOf(wallet));
    const account = await fetch(`${worker.url}/account`, { headers: { Cookie: cookies } });
    expect(await account.text()).toContain("98");
  });

  it("an access token for another audience and an ID token are refused", async () => {
    const token = await acme.signIn("ben");
    const [header, payload, signature] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...claims, aud: "other" })).toString("base64url");
    expect((await call(`${header}.${changed}.${signature}`)).status).toBe(401);
    expect((await call(token)).status).toBe(200);
  });
});

describe("an app that signs people in with Clerk", () => {
  it("a session token that Clerk's library accepts opens the wallet, and other tokens of Clerk do not", async () => {
    const token = await clerk.sessionToken("user_ada", APP);
    const authorized = { jwtKey: clerk.jwt_key, authorizedParties: [APP] };
    expect(await verifyToken(token, authorized)).toMatchObject({ sub: "user_ada" });
    expect((await call(token)).status).toBe(200);
    const again = await clerk.sessionToken("user_ada", APP, { sid: "sess_2" });
    expect(identityOf(await call(again))).toBe(identityOf(await call(token)));
    const of_template = await clerk.sessionToken("user_ada", APP, { sid: undefined });
    expect((await call(of_template)).status).toBe(401);
    const pending = await clerk.sessionToken("user_ada", APP, { sts: "pending" });
    expect((await call(pending)).status).toBe(401);
    expect((await call(await clerk.sessionToken("user_ada", "https://evil.test"))).status).toBe(
      401,
    );
  });

  it("the upstream token is the one that Clerk's own client returns", async () => {
    clerk.api.connect("user_ada", "github", { kind: "token", token: "gho_ada" });
    const backend = createClerkClient({ secretKey: CLERK_SECRET_KEY, apiUrl: clerk.url });
    const { data } = await backend.users.getUserOauthAccessToken("user_ada", "github");
    const token = await clerk.sessionToken("user_ada", APP);
    const held = { token: data[0]?.token };
    expect(held.token).toBe("gho_ada");
    expect((await call(token, "/api/oauthToken/github")).body).toEqual(held);
    expect((await call(token, "/api/socialToken")).body).toEqual(held);
    const none = await call(token, "/api/oauthToken/google");
    expect(none).toMatchObject({ status: 404, body: { code: "token_not_found" } });
  });

  it("what Clerk's own client throws for is 404 reconnect_required and 502 here", async () => {
    const code = "oauth_missing_refresh_token";
    clerk.api.connect("user_eve", "github", { kind: "cannot_renew", code });
    const backend = createClerkClient({ secretKey: CLERK_SECRET_KEY, apiUrl: clerk.url });
    await expect(backend.users.getUserOauthAccessToken("user_eve", "github")).rejects.toMatchObject(
      { status: 400, errors: [{ code }] },
    );
    const token = await clerk.sessionToken("user_eve", APP);
    const over = await call(token, "/api/oauthToken/github");
    expect(over).toMatchObject({ status: 404, body: { code: "reconnect_required" } });
    clerk.api.respond(() => new Response("down", { status: 503 }));
    const down = await call(token, "/api/oauthToken/github");
    expect(down).toMatchObject({ status: 502, body: { code: "upstream_unavailable" } });
    clerk.api.respond(null);
  });
});

describe("an issuer that changes and fails", () => {
  const token = (kid: string, sub = "zoe") =>
    mock.issuer.buildToken({
      kid,
      expiresIn: 600,
      scopesOrTransform: (_header, payload) => {
        Object.assign(payload, { sub, aud: "passbook" });
      },
    });

  it("a token of a known key works while the issuer is down, and one of an unknown key does not", async () => {
    expect((await call(await token("first"))).status).toBe(200);
    await mock.issuer.keys.generate("RS256", { kid: "second" });
    const [known, unknown] = [await token("first", "other"), await token("second")];
    await mock.stop();
    expect((await call(unknown)).status).toBe(401);
    expect((await call(known)).status).toBe(200);
  });

  it(
    "an issuer that never responds is 503 after ten seconds, and delays nobody else",
    { tags: ["slow"] },
    async () => {
      const [header, payload = "", signature] = (await clerk.sessionToken("slow", APP)).split(".");
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
      const { port } = silent.address() as { port: number };
      const slow_claims = { ...claims, iss: `http://localhost:${port}`, aud: "passbook" };
      const slow_payload = Buffer.from(JSON.stringify(slow_claims)).toString("base64url");
      const slow = call(`${header}.${slow_payload}.${signature}`);
      const quick = await call(await clerk.sessionToken("user_ada", APP));
      expect(quick.status).toBe(200);
      expect(await slow).toMatchObject({ status: 503, body: { code: "unavailable" } });
      await vi.waitFor(() => expect(worker.log()).toContain("issuer_keys_unavailable"));
    },
  );
});

it("no token and no secret is in the log", async () => {
  const log = worker.log();
  expect(log).toContain("POST /api/jobs");
  for (const secret of [CLERK_SECRET_KEY, "gho_ada", "eyJhbGciOi"]) {
    expect(log.includes(secret), secret).toBe(false);
  }
});
