/** The example of an MCP server with a tool that costs credits, driven by the official MCP client. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { goThrough, openPassbookVisitor } from "../../worker/oauth/conformance/passbook_target.ts";
import { launchBrowser } from "../support/chromium.ts";
import type { Installed } from "../support/installed.ts";
import { fillSignIn } from "../support/pages_in_browser.ts";
import { providerOf } from "./clients/mcp.mjs";
import { installExamples, startOAuthService, startProgram, type OAuthService } from "./service.ts";

const EMAIL = "newcomer@example.com";
const REDIRECT_URI = "https://agent.example.com/callback";

let service: OAuthService;
let installed: Installed;
/** The server of the app `conformance`. */
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  [service, installed] = await Promise.all([startOAuthService("charging"), installExamples()]);
  server = await startServer();
});

afterAll(async () => {
  server?.stop();
  await service?.stop();
  await installed?.remove();
});

/** Registers the server, and starts it. */
async function startServer() {
  const port = await freePort();
  const url = `http://localhost:${port}/mcp`;
  const resource = { uri: url, scopes: ["draw"], charges: true };
  await service.operate("PUT", "/api/admin/apps/conformance/resources/paid", resource);
  const { client_id, client_secret } = await service.registerClient("server");
  const env = {
    PASSBOOK_URL: service.issuer,
    PORT: String(port),
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
  };
  const program = await startProgram(join(installed.folder, "mcp/paid.mjs"), env, /Listening/);
  return { url, stop: () => program.kill() };
}

/** Connects an agent, whose `visit` is what the person does in their browser. */
async function connect(provider: ReturnType<typeof providerOf>): Promise<Client> {
  const client = new Client({ name: "agent", version: "1.0.0" });
  const options = { authProvider: provider as never };
  const open = () => new StreamableHTTPClientTransport(new URL(server.url), options);
  const first = open();
  await expect(client.connect(first)).rejects.toThrow();
  const returned = new URL(String(provider.stored.returned));
  await first.finishAuth(returned.searchParams.get("code") ?? "");
  await client.connect(open());
  return client;
}

it(
  "a person who has never used the app connects an agent, sets a limit, pays for three calls, allows a fourth and ends it",
  { tags: "slow" },
  async () => {
    const visitor = openPassbookVisitor(service);
    const client_id = service.publish("agent", {
      client_name: "An agent",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    });
    const provider = providerOf({
      client_id,
      redirect_uri: REDIRECT_URI,
      scope: undefined,
      visit: (url: URL) => goThrough(visitor, url, EMAIL, { credits: "60" }),
    });
    const client = await connect(provider);
    const draw = async () => {
      const { content, isError = false } = await client.callTool({ name: "draw", arguments: {} });
      const [{ text }] = content as [{ text: string }];
      return { text, isError };
    };
    const paid = { text: "A lighthouse, for 20 credits", isError: false };
    for (let call = 1; call <= 3; call += 1) expect(await draw()).toEqual(paid);
    // The limit of 60 credits is used up.
    const refused = await draw();
    expect(refused).toEqual({
      text: expect.stringMatching(/^Allow it at http\S+\/approve\/\S+$/),
      isError: true,
    });
    const address = refused.text.replace("Allow it at ", "");
    const asked = await visitor.open(new URL(address));
    if (asked.kind !== "page") throw new Error(asked.url.href);
    const [form] = asked.page.forms.filter(({ action }) => action.pathname.endsWith("/approve"));
    if (form === undefined) throw new Error(asked.page.html);
    await visitor.submit(form, {}, /^Approve/);
    expect(await draw()).toEqual(paid);
    expect((await draw()).isError).toBe(true);
    await endConnection(visitor);
    const { access_token } = provider.stored.tokens as unknown as { access_token: string };
    await expect(draw()).rejects.toThrow();
    const headers = { Authorization: `Bearer ${access_token}` };
    const late = await fetch(server.url, { method: "POST", headers });
    expect(late.status).toBe(401);
    expect(late.headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
  },
);

it(
  "in a browser, a person connects an agent with a budget, sees what a tool cost, and stops the agent",
  { tags: "slow" },
  async () => {
    const browser = await launchBrowser();
    const page = await browser.newPage();
    let leaves = false;
    const agent = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end("<h1>Back at the agent</h1>");
    });
    await new Promise<void>((listening) => agent.listen(0, "127.0.0.1", listening));
    const redirect_uri = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/callback`;
    const provider = providerOf({
      client_id: service.publish("browsed", {
        client_name: "Lantern",
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "none",
      }),
      redirect_uri,
      scope: undefined,
      visit: async (url: URL) => {
        if (leaves) throw new Error("nobody is there");
        await page.goto(url.href);
        await fillSignIn(page, "ida@example.com");
        await page.getByRole("heading", { name: "Connect Lantern?" }).waitFor();
        await page.getByLabel("Largest number of credits", { exact: true }).fill("30");
        await page.getByRole("button", { name: "Allow" }).click();
        await page.getByRole("heading", { name: "Back at the agent" }).waitFor();
        return new URL(page.url());
      },
    });
    try {
      const client = await connect(provider);
      const draw = () => client.callTool({ name: "draw", arguments: {} });
      const { content } = await draw();
      expect(content).toEqual([{ type: "text", text: "A lighthouse, for 20 credits" }]);

      await page.goto(`${service.issuer}/account`);
      const open_page = (name: string) =>
        page.getByRole("navigation", { name: "Account" }).getByRole("link", { name }).click();
      await open_page("Statement");
      const charge = page.getByRole("listitem").filter({ hasText: "by Lantern" });
      await charge.filter({ hasText: "draw" }).filter({ hasText: "−20" }).waitFor();
      await open_page("Access");
      await page.getByText("20 of 30 credits in total spent").waitFor();
      await page.getByRole("link", { name: "Revoke Lantern" }).click();
      await page.getByRole("button", { name: "Revoke" }).click();
      await page.getByText("Revoked. It stopped here at once.").waitFor();
      await page.getByText("Nothing else has access.").waitFor();

      await expect(refreshed(provider)).resolves.toMatchObject({
        error: "invalid_grant",
        error_description: expect.stringMatching(/^The person ended the connection/),
      });
      // The SDK may ask the person again, who now goes away.
      leaves = true;
      await expect(draw()).rejects.toThrow();
      await open_page("Statement");
      await charge.first().waitFor();
      expect(await page.getByRole("listitem").filter({ hasText: "draw" }).count()).toBe(1);
    } finally {
      await browser.close();
      agent.close();
    }
  },
);

/** Uses an agent's refresh token, as the SDK does after a 401. */
async function refreshed({ stored }: ReturnType<typeof providerOf>): Promise<unknown> {
  const { refresh_token } = stored.tokens as unknown as { refresh_token: string };
  const { client_id } = stored.client as unknown as { client_id: string };
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token, client_id });
  const response = await fetch(`${service.issuer}/oauth/token`, { method: "POST", body });
  return response.json();
}

/** Ends the only connection of the visitor's person, as its page does. */
async function endConnection(visitor: ReturnType<typeof openPassbookVisitor>): Promise<void> {
  const list = await visitor.open(new URL(`${service.issuer}/account/access`));
  if (list.kind !== "page") throw new Error(list.url.href);
  expect(list.page.html).toContain("80 of 60 credits");
  const [, link = ""] = /href="([^"]*\/revoke\?id=[^"]*)"/.exec(list.page.html) ?? [];
  const asked = await visitor.open(new URL(link, service.issuer));
  if (asked.kind !== "page") throw new Error(asked.url.href);
  const form = asked.page.forms.find(({ action }) => action.pathname.endsWith("/revoke"));
  if (form === undefined) throw new Error(asked.page.html);
  await visitor.submit(form);
}
