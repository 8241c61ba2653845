/** The example of an MCP server with a tool that costs credits, driven by the official MCP client. */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { goThrough, openPassbookVisitor } from "../../worker/oauth/conformance/passbook_target.ts";
import type { Installed } from "../support/installed.ts";
import { providerOf } from "./clients/mcp.mjs";
import { installExamples, startOAuthService, startProgram, type OAuthService } from "./service.ts";

const EMAIL = "newcomer@example.com";
const REDIRECT_URI = "https://agent.example.com/callback";

let service: OAuthService;
let installed: Installed;

beforeAll(async () => {
  [service, installed] = await Promise.all([startOAuthService("charging"), installExamples()]);
});

afterAll(async () => {
  await service?.stop();
  await installed?.remove();
});

/** Registers the server of the app `conformance`, and starts it. */
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

it(
  "a person who has never used the app connects an agent, sets a limit, pays for three calls, allows a fourth and ends it",
  { tags: "slow" },
  async () => {
    const server = await startServer();
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
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: "agent", version: "1.0.0" });
      const options = { authProvider: provider as never };
      const open = () => new StreamableHTTPClientTransport(new URL(server.url), options);
      const first = open();
      await expect(client.connect(first)).rejects.toThrow();
      const returned = new URL(String(provider.stored.returned));
      await first.finishAuth(returned.searchParams.get("code") ?? "");
      await client.connect(open());
      return client;
    };
    try {
      const client = await connect();
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
    } finally {
      server.stop();
    }
  },
);

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
