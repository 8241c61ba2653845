/** OAuth clients that others wrote, against a running Worker and the example of an MCP server. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import type { Installed } from "../support/installed.ts";
import { useMcpServer as useMcpServerByAiSdk } from "./clients/ai_sdk.mjs";
import { SDKS, useMcpServer } from "./clients/mcp.mjs";
import { useOauth4webapi, useOpenidClient, useOpenidDevice } from "./clients/openid_client.mjs";
import {
  approveDevice,
  heard,
  installExamples,
  startOAuthService,
  startProgram,
  type OAuthService,
} from "./service.ts";

const WEB_REDIRECT = "https://client.test/callback";

let service: OAuthService;
let installed: Installed;
let mcp_server: ChildProcess;
let mcp_url: string;

beforeAll(async () => {
  const port = await freePort();
  mcp_url = `http://localhost:${port}/mcp`;
  [service, installed] = await Promise.all([startOAuthService("clients"), installExamples()]);
  const resource = { uri: mcp_url, scopes: ["draw"] };
  await service.operate("PUT", "/api/admin/apps/conformance/resources/mcp", resource);
  mcp_server = await startProgram(
    join(installed.folder, "mcp/server.mjs"),
    { PASSBOOK_URL: service.issuer, PORT: String(port) },
    /Listening/,
  );
});

afterAll(async () => {
  mcp_server?.kill();
  await service?.stop();
  await installed?.remove();
});

interface IssuedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** What a program with an official SDK saw. */
interface UsedServer {
  readonly before: string;
  readonly after: string;
  readonly granted: IssuedTokens;
  readonly refreshed: IssuedTokens;
  readonly authorizations: readonly URL[];
}

/** A client's document as MCP clients publish it. */
function publishAgent(host: string, redirect_uri: string): string {
  return service.publish(host, {
    client_name: `The agent ${host}`,
    redirect_uris: [redirect_uri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
}

describe("clients of the Model Context Protocol", { tags: "slow" }, () => {
  it.each(Object.entries(SDKS))(
    "an agent with the official %s gets a token for an MCP server only, calls it, and refreshes",
    async (name, sdk) => {
      const redirect_uri = `http://127.0.0.1:${await freePort()}/callback`;
      const client_id = publishAgent(name.includes("1.") ? "first" : "second", redirect_uri);
      const used: UsedServer = await useMcpServer(sdk, mcp_url, {
        client_id,
        redirect_uri,
        visit: service.visit(`${name}@example.com`.replaceAll(" ", "-")),
      });
      expect(used.authorizations).toHaveLength(1);
      const asked = used.authorizations[0]?.searchParams ?? new URLSearchParams();
      expect(asked.get("client_id")).toBe(client_id);
      expect(asked.get("resource")).toBe(mcp_url);
      expect(asked.get("code_challenge_method")).toBe("S256");
      const claims = decodeJwt(used.granted.access_token);
      expect(claims).toMatchObject({ iss: service.issuer, aud: mcp_url, client_id });
      expect(claims["scope"]).toMatch(/^draw\b/);
      expect(used.before).toBe(`A lighthouse for ${claims.sub}`);
      expect(used.after).toBe(used.before);
      expect(used.refreshed.access_token).not.toBe(used.granted.access_token);
      expect(used.refreshed.refresh_token).not.toBe(used.granted.refresh_token);
      // The token of the MCP server is not one of our API.
      const headers = { Authorization: `Bearer ${used.refreshed.access_token}` };
      expect((await fetch(`${service.issuer}/api/wallet`, { headers })).status).toBe(401);
    },
  );

  it.each(Object.entries(SDKS))(
    "an agent with the official %s registers itself at a service in development, which stores nothing",
    async (name, sdk) => {
      const redirect_uri = `http://127.0.0.1:${await freePort()}/callback`;
      const used: UsedServer = await useMcpServer(sdk, mcp_url, {
        client_id: undefined,
        redirect_uri,
        visit: service.visit(`registered-${name}@example.com`.replaceAll(" ", "-")),
      });
      const { client_id } = decodeJwt(used.refreshed.access_token);
      expect(client_id).toContain(`${service.issuer}/oauth/clients/development/`);
      expect(used.after).toBe(used.before);
    },
  );

  it.each(["with a document", "that registers itself in development"])(
    "an agent with the AI SDK, %s, calls an MCP server and refreshes",
    async (kind) => {
      const redirect_uri = `http://127.0.0.1:${await freePort()}/callback`;
      const client_id = kind === "with a document" ? publishAgent("ai", redirect_uri) : undefined;
      const used: Omit<UsedServer, "authorizations"> = await useMcpServerByAiSdk(mcp_url, {
        client_id,
        redirect_uri,
        visit: service.visit(`ai-${kind.length}@example.com`),
      });
      const claims = decodeJwt(used.granted.access_token);
      expect(claims).toMatchObject({ iss: service.issuer, aud: mcp_url });
      expect(claims["client_id"]).toEqual(
        client_id ?? expect.stringContaining("/oauth/clients/development/"),
      );
      expect(used.before).toBe(`A lighthouse for ${claims.sub}`);
      expect(used.after).toBe(used.before);
      expect(used.refreshed.access_token).not.toBe(used.granted.access_token);
    },
  );

  it("a token of our API gets 401 at an MCP server, which names its metadata document", async () => {
    const response = await fetch(mcp_url, {
      method: "POST",
      headers: { Authorization: "Bearer pb_at_of-another-audience" },
    });
    expect(response.status).toBe(401);
    const [, document = ""] =
      /resource_metadata="([^"]+)"/.exec(response.headers.get("WWW-Authenticate") ?? "") ?? [];
    expect(await (await fetch(document)).json()).toMatchObject({
      resource: mcp_url,
      authorization_servers: [service.issuer],
    });
  });

  it("mcp-remote signs in with its own client document, and calls the MCP server", async () => {
    const config = await mkdtemp(join(tmpdir(), "passbook-mcp-remote-"));
    const port = await freePort();
    const client_id = publishAgent("remote", `http://localhost:${port}/oauth/callback`);
    const args = [
      mcp_url,
      String(port),
      "--client-metadata-url",
      client_id,
      "--transport",
      "http-only",
    ];
    const child = spawn("mcp-remote", args, {
      // No program may open a browser of the machine.
      env: { ...process.env, MCP_REMOTE_CONFIG_DIR: config, BROWSER: "true" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    try {
      const lines = createInterface({ input: child.stdout });
      const responses = new Map<number, (message: { result?: unknown }) => void>();
      lines.on("line", (line) => {
        const message = JSON.parse(line) as { id?: number; result?: unknown };
        if (message.id !== undefined) responses.get(message.id)?.(message);
      });
      const send = (message: object): void =>
        void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      const ask = (id: number, method: string, params: object): Promise<{ result?: unknown }> =>
        new Promise((answered) => {
          responses.set(id, answered);
          send({ id, method, params });
        });
      const asked = heard(child, /(http:\S+\/oauth\/authorize\S+)/);
      const clientInfo = { name: "desktop", version: "1.0.0" };
      const initialized = ask(1, "initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo,
      });
      const [, address = ""] = await asked;
      expect(new URL(address).searchParams.get("client_id")).toBe(client_id);
      const back = await service.visit("remote@example.com")(address);
      expect((await fetch(back)).status).toBe(200);
      expect(await initialized).toMatchObject({ result: { serverInfo: { name: "Lighthouses" } } });
      send({ method: "notifications/initialized" });
      expect(await ask(2, "tools/call", { name: "draw", arguments: {} })).toMatchObject({
        result: { content: [{ text: expect.stringMatching(/^A lighthouse for /) }] },
      });
    } finally {
      child.kill();
      await rm(config, { recursive: true, force: true });
    }
  });

  it("the service passes the protocol's own conformance tests of authorization servers", async () => {
    const port = await freePort();
    const { client_id } = await service.registerClient("mcp-conformance", {
      public: true,
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
    });
    const options = ["--url", service.issuer, "--client-id", client_id, "--resource", mcp_url];
    const child = spawn("conformance", ["authorization", ...options, "--port", String(port)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<number | null>((exited) => child.once("exit", exited));
    const [, address = ""] = await heard(child, /(http:\S+\/oauth\/authorize\S+)/);
    await fetch(await service.visit("tester@example.com")(address));
    expect(await ended, output).toBe(0);
    expect(output).not.toMatch(/FAILURE|✗/);
  });
});

describe("clients of OpenID Connect", { tags: "slow" }, () => {
  it.each([
    ["a client with a secret", false],
    ["a public client", true],
  ])("openid-client signs %s in, refreshes and revokes", async (name, is_public) => {
    const id = is_public ? "openid-public" : "openid-web";
    const { client_id, client_secret } = await service.registerClient(id, { public: is_public });
    const used = await useOpenidClient({
      issuer: service.issuer,
      client_id,
      client_secret: is_public ? undefined : client_secret,
      redirect_uri: WEB_REDIRECT,
      scope: "openid email offline_access",
      visit: service.visit(`${id}@example.com`),
    });
    expect(used.userinfo).toMatchObject({ sub: used.sub, email: `${id}@example.com` });
    expect(used.ended).toBe("invalid_grant");
    expect(name).not.toBe("");
  });

  it("openid-client signs a device in with a code that a person approves", async () => {
    const { client_id } = await service.registerClient("openid-tv", { public: true });
    const approve = (user_code: string) => approveDevice(service, user_code, "tv@example.com");
    const { issuer } = service;
    const tokens = await useOpenidDevice({ issuer, client_id, scope: "read write", approve });
    const headers = { Authorization: `Bearer ${tokens.access_token}` };
    expect((await fetch(`${issuer}/api/wallet`, { headers })).status).toBe(200);
  });

  it("oauth4webapi signs a person in, verifies the ID token's signature, and refreshes", async () => {
    const { client_id, client_secret } = await service.registerClient("web-api");
    const used = await useOauth4webapi({
      issuer: service.issuer,
      client_id,
      client_secret,
      redirect_uri: WEB_REDIRECT,
      scope: "openid email offline_access",
      visit: service.visit("webapi@example.com"),
    });
    expect(used.userinfo).toMatchObject({ sub: used.sub, email: "webapi@example.com" });
    expect(used.refreshed).toBe(true);
  });
});

it("the log of the Worker has no code and no token", { tags: "slow" }, () => {
  expect(service.log()).not.toMatch(/pb_ac_|pb_rt_|pb_at_|eyJ[\w-]+\.[\w-]+\./);
});
