/** The examples of OAuth, as programs against a running Worker. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOAuthClient } from "../../../src/client/oauth/index.ts";
import { freePort } from "../../../src/commands/local_worker.ts";
import { openVisitor, type Landing, type Page } from "../../worker/oauth/conformance/visitor.ts";
import { launchBrowser } from "../support/chromium.ts";
import type { Installed } from "../support/installed.ts";
import { fillSignIn } from "../support/pages_in_browser.ts";
import { installExamples, startOAuthService, startProgram, type OAuthService } from "./service.ts";

const REDIRECT_URI = "http://127.0.0.1/callback";

let service: OAuthService;
let installed: Installed;

beforeAll(async () => {
  [service, installed] = await Promise.all([startOAuthService("examples"), installExamples()]);
});

afterAll(async () => {
  await service?.stop();
  await installed?.remove();
});

/** Opens the account for an app, which has starter credits in development. */
async function giveCredits(email: string, app: string): Promise<void> {
  const landed = await fetch(`${service.issuer}/signin/dev`, {
    method: "POST",
    body: new URLSearchParams({ email, redirect_to: "http://localhost:3000/" }),
    redirect: "manual",
  });
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  const headers = { Authorization: `Bearer ${token}` };
  const wallet = await fetch(`${service.issuer}/api/wallet?app=${app}`, { headers });
  expect(await wallet.json()).toMatchObject({ account: { credits: 100 } });
}

function pageOf(landing: Landing): Page {
  if (landing.kind === "page") return landing.page;
  throw new Error(`It left to ${landing.url.href}.`);
}

/** The form with this button. */
function formOf(page: Page, button: RegExp) {
  const form = page.forms.find(({ buttons }) => buttons.some(({ text }) => button.test(text)));
  if (form === undefined) throw new Error(`No form: ${page.html}`);
  return form;
}

describe("the examples of OAuth", { tags: "slow" }, () => {
  it("the third-party app connects an account, spends, and disconnects", async () => {
    await giveCredits("dora@example.com", "draw");
    const port = await freePort();
    const env = { PASSBOOK_URL: service.issuer, PORT: String(port) };
    const app = await startProgram(join(installed.folder, "oauth/app.mjs"), env, /Listening/);
    try {
      const origin = `http://localhost:${port}`;
      const visitor = openVisitor(origin, fetch);
      const home = pageOf(await visitor.open(new URL(origin)));
      const left = await visitor.submit(formOf(home, /Connect/), {}, /Connect/);
      if (left.kind !== "left") throw new Error(left.page.html);
      const back = await service.visit("dora@example.com")(left.url);
      const connected = pageOf(await visitor.open(back));
      const drawn = pageOf(await visitor.submit(formOf(connected, /Draw/), {}, /Draw/));
      expect(drawn.html).toContain("Here is a lighthouse; you have 92 credits.");
      // The ports of a host share their cookies, so a browser sends those of Passbook too.
      const first = (await fetch(origin)).headers.get("Set-Cookie") ?? "";
      const Cookie = `passbook_session=of-the-service; ${first.split(";")[0]}`;
      const again = await fetch(origin, { headers: { Cookie } });
      expect(again.headers.get("Set-Cookie")).toBe(first);
      const after = pageOf(await visitor.submit(formOf(drawn, /Disconnect/), {}, /Disconnect/));
      expect(after.html).toContain("Connect");
      // The code of a visitor who started elsewhere is refused.
      const other = openVisitor(origin, fetch);
      expect(pageOf(await other.open(back)).html).toBe("It failed: signin_failed");
    } finally {
      app.kill();
    }
  });

  it("a person connects the third-party app in a browser, and pays for a drawing", async () => {
    await giveCredits("ina@example.com", "draw");
    const port = await freePort();
    const env = { PASSBOOK_URL: service.issuer, PORT: String(port) };
    const app = await startProgram(join(installed.folder, "oauth/app.mjs"), env, /Listening/);
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`http://localhost:${port}`);
      await page.getByRole("button", { name: /Connect/ }).click();
      await fillSignIn(page, "ina@example.com");
      await page.getByRole("button", { name: "Allow" }).click();
      await page.waitForURL(`http://localhost:${port}/**`);
      await page.getByRole("button", { name: /Draw/ }).click();
      await page.getByText("Here is a lighthouse; you have 92 credits.").waitFor();
      await page.reload();
      await page.getByRole("button", { name: /Disconnect/ }).click();
      await page.getByRole("button", { name: /^Connect/ }).waitFor();
    } finally {
      await browser.close();
      app.kill();
    }
  });

  it("the agent spends its budget of 50 credits, and no more", async () => {
    await giveCredits("eve@example.com", "conformance");
    const { client_id } = await service.registerClient("orchestrator", {
      public: true,
      redirect_uris: [REDIRECT_URI],
    });
    const oauth = createOAuthClient({
      baseUrl: service.issuer,
      clientId: client_id,
      redirectUri: REDIRECT_URI,
    });
    const scopes = ["openid", "read", "write", "offline_access"];
    const { url, pending } = await oauth.start({ scopes });
    const connection = await oauth.callback(await service.visit("eve@example.com")(url), pending);
    const tokens = join(installed.folder, "tokens.json");
    await writeFile(tokens, JSON.stringify(connection.tokens));
    const env = {
      PASSBOOK_URL: service.issuer,
      CLIENT_ID: client_id,
      REDIRECT_URI,
      TOKENS: tokens,
      APP: "conformance",
    };
    const script = join(installed.folder, "agent/agent.mjs");
    const agent = await startProgram(script, env, /The agent stopped: 10 credits/);
    await new Promise((ended) => agent.once("exit", ended));
    const wallet = await connection.fetch("/api/wallet");
    expect(await wallet.json()).toMatchObject({ account: { credits: 60 } });
  });
});

it("the third-party app has 90 lines, and the MCP server 30", () => {
  const linesOf = (file: string): number => readFileSync(file, "utf8").trimEnd().split("\n").length;
  expect(linesOf("examples/oauth/app.mjs")).toBeLessThanOrEqual(90);
  expect(linesOf("examples/mcp/server.mjs")).toBeLessThanOrEqual(30);
  expect(linesOf("examples/mcp/paid.mjs")).toBeLessThanOrEqual(45);
});
