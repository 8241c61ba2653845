/** The consent page in a browser: a client's address is another origin, so the whole way back is real. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectForEverybody, fillSignIn, SCREENS, usePages } from "../support/pages_in_browser.ts";

const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const pages = usePages("authorize");

/** A client on this machine that describes itself by a document. */
let server: Server;
let origin: string;
/** The queries that its callback received. */
const received: URLSearchParams[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", origin);
    if (pathname === "/client.json") {
      response.setHeader("Content-Type", "application/json");
      response.end(
        JSON.stringify({
          client_id: `${origin}/client.json`,
          client_name: "Sketch agent",
          redirect_uris: [`${origin}/callback`],
          post_logout_redirect_uris: [`${origin}/bye`],
          token_endpoint_auth_method: "none",
        }),
      );
      return;
    }
    if (pathname === "/callback") received.push(searchParams);
    response.setHeader("Content-Type", "text/html");
    response.end(`<!doctype html><title>Client</title><h1>Back at the client</h1>
      <script>opener?.postMessage(location.search, "*")</script>`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "localhost", resolve);
  });
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server?.close());
beforeEach(() => received.splice(0));

function authorizeUrl(changes: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: `${origin}/client.json`,
    redirect_uri: `${origin}/callback`,
    scope: "openid email write",
    state: "state-1",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...changes,
  });
  return `${pages.url}/oauth/authorize?${query.toString()}`;
}

async function look(page: Page, name: string): Promise<void> {
  await pages.picture(page, name);
  await expectForEverybody(page, name);
}

const asked = (page: Page, title = "Connect Sketch agent?") =>
  page.getByRole("heading", { name: title }).waitFor();
const atClient = (page: Page) =>
  page.getByRole("heading", { name: "Back at the client" }).waitFor();

/** The consent page of a person with 100 credits. */
async function openConsent(email: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await pages.signIn(email, options);
  await page.request.get(`${pages.url}/api/wallet?app=demo`, { headers: { Origin: pages.url } });
  await page.goto(authorizeUrl());
  await asked(page);
  return page;
}

describe("allowing a client in a browser", () => {
  it("a person signs in, allows a client with the keyboard, and arrives at the client with a code", async () => {
    const page = await pages.openPage();
    await page.goto(authorizeUrl());
    await fillSignIn(page, "ada@example.com");
    await asked(page);
    await look(page, "ask");
    await page.getByLabel("Largest number of credits", { exact: true }).focus();
    const reached: string[] = [];
    for (let step = 0; step < 5; step += 1) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      reached.push((await focused.getAttribute("name")) ?? (await focused.innerText()));
      const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
      expect(outline).toBe("solid");
    }
    expect(reached).toEqual([
      "period",
      "More limits",
      "days",
      "In localhost only – change",
      "Allow",
    ]);
    await page.keyboard.press("Enter");
    await atClient(page);
    expect(received).toHaveLength(1);
    expect(Object.fromEntries(received[0] ?? [])).toEqual({
      code: expect.stringMatching(/^pb_ac_/),
      state: "state-1",
      iss: pages.url,
    });
    expect(await page.evaluate(() => document.referrer)).toBe("");
    expect(pages.log()).not.toContain(received[0]?.get("code"));
  });
});

describe("other ways through the consent page", { tags: ["slow"] }, () => {
  it("a person changes the limit, is asked about more, and sees one connection with it", async () => {
    const page = await openConsent("grace@example.com");
    await page.getByLabel("Largest number of credits", { exact: true }).fill("ten");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("alert").waitFor();
    await look(page, "problem");
    await page.getByRole("alert").getByRole("link").click();
    await page.getByLabel("Largest number of credits", { exact: true }).fill("40");
    await page.getByLabel("Period", { exact: true }).selectOption("month");
    await page.getByText("– change").click();
    await page.getByLabel("Lifetime").selectOption("7");
    await page.getByLabel("All apps").check();
    await look(page, "ask-open");
    await page.getByRole("button", { name: "Allow" }).click();
    await atClient(page);

    await page.goto(authorizeUrl({ scope: "openid email profile write offline_access" }));
    await asked(page, "Let Sketch agent do more?");
    await look(page, "ask-more");
    expect(await page.getByLabel("Largest number of credits", { exact: true }).inputValue()).toBe(
      "40",
    );
    await page.getByRole("button", { name: "Allow" }).click();
    await atClient(page);

    await page.goto(`${pages.url}/account/access`);
    expect(await page.getByRole("listitem").filter({ hasText: "Sketch agent" }).count()).toBe(1);
    await page.getByText("0 of 40 credits a month spent").waitFor();
    await look(page, "connections");
    await page.getByRole("link", { name: "Revoke Sketch agent" }).click();
    await look(page, "revoke");
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No app or agent is connected.").waitFor();
  });

  it("a person denies, and the client learns it", async () => {
    const page = await openConsent("deny@example.com");
    await page.getByRole("button", { name: "Deny" }).click();
    await atClient(page);
    expect(received[0]?.get("error")).toBe("access_denied");
  });

  it.each([
    ["on a phone", { ...SCREENS.phone, isMobile: true }],
    // 1280 px at 200% have room for 640 CSS pixels.
    ["at 200% zoom", { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
    ["without scripts", { ...SCREENS.phone, javaScriptEnabled: false }],
  ])("a person allows a client %s", async (name, options) => {
    const page = await openConsent("small@example.com", options);
    if (!("javaScriptEnabled" in options)) await look(page, `ask-${name.replaceAll(/\W+/g, "-")}`);
    await page.getByRole("button", { name: "Allow" }).click();
    await atClient(page);
    expect(received[0]?.get("code")).toMatch(/^pb_ac_/);
  });

  it("in German, the sentence about money follows the fields, and the page fits a narrow phone", async () => {
    const page = await pages.openPage({ viewport: { width: 320, height: 700 } });
    await page.goto(authorizeUrl());
    await page.getByRole("button", { name: "Deutsch" }).click();
    await page.getByLabel("E-Mail-Adresse").fill("gerda@example.com");
    await page.getByRole("button", { name: "Anmelden" }).click();
    await asked(page, "Sketch agent verbinden?");
    const sentence = page.locator(".money");
    await page.getByLabel("Höchstzahl an Credits", { exact: true }).fill("12345");
    await page.getByLabel("Zeitraum", { exact: true }).selectOption("week");
    await page.getByText("Weitere Grenzen").click();
    await page.getByLabel("Grenze 2: Höchstzahl an Credits").fill("1");
    await page.getByText("– ändern").click();
    await page.getByLabel("Alle Apps").check();
    expect(await sentence.innerText()).toMatch(
      /^Sie erlauben Ausgaben von höchstens 12\.345 Credits pro Woche \(ab Montag\) und 1 Credit pro Tag \(UTC\), in allen Apps, bis \d+\. [A-Z]/,
    );
    await look(page, "ask-german");
    await page.getByLabel("Höchstzahl an Credits", { exact: true }).fill("");
    await page.getByLabel("Grenze 2: Höchstzahl an Credits").fill("");
    expect(await sentence.innerText()).toContain("Sie erlauben, alle Ihre Credits auszugeben,");
    await page.getByRole("button", { name: "Erlauben" }).click();
    await page.getByRole("alert").waitFor();
    await look(page, "problem-german");
  });

  it("a client in a popup hears the result through its opener, also with sign-in on the way", async () => {
    const page = await pages.openPage();
    await page.goto(`${origin}/start`);
    const heard = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          addEventListener("message", ({ data }) => resolve(String(data)), { once: true });
        }),
    );
    const [popup] = await Promise.all([
      page.waitForEvent("popup"),
      page.evaluate((url) => void open(url, "authorize", "popup"), authorizeUrl()),
    ]);
    await fillSignIn(popup, "popup@example.com");
    await asked(popup);
    await popup.getByRole("button", { name: "Allow" }).click();
    expect(new URLSearchParams(await heard).get("code")).toMatch(/^pb_ac_/);
  });

  it("the pages about requests that cannot be decided are for everybody", async () => {
    const page = await openConsent("wrong@example.com");
    await page.goto(authorizeUrl({ redirect_uri: "https://evil.example/callback?secret=1" }));
    await page.getByRole("heading", { name: "We can’t send you back to that address" }).waitFor();
    await look(page, "cannot-ask");
    await page.goto(authorizeUrl({ scope: "admin" }));
    await page.getByRole("heading", { name: "Sketch agent cannot be connected" }).waitFor();
    await look(page, "client-error");
    await page.getByRole("link", { name: "Go back to Sketch agent" }).click();
    await atClient(page);
    expect(received[0]?.get("error")).toBe("invalid_scope");
    await page.goto(authorizeUrl({ prompt: "login" }));
    await page.getByRole("heading", { name: "Sign in again" }).waitFor();
    await look(page, "sign-in-again");
  });

  it("a client signs a person out after a question, and gets them back", async () => {
    const page = await openConsent("bye@example.com");
    const query = new URLSearchParams({
      client_id: `${origin}/client.json`,
      post_logout_redirect_uri: `${origin}/bye`,
      state: "state-2",
    });
    await page.goto(`${pages.url}/oauth/logout?${query.toString()}`);
    await page.getByRole("heading", { name: "Sign out of Passbook?" }).waitFor();
    await look(page, "sign-out");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${origin}/bye?state=state-2`);
    await page.goto(`${pages.url}/account`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});
