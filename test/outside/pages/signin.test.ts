/** Signing in with a real browser and real providers, on two sites under one parent domain. */
import type { MutableResponse } from "oauth2-mock-server";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser } from "../support/chromium.ts";
import { startFamily, type Family } from "./family.ts";

let family: Family;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  family = await startFamily();
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await family?.stop();
});

beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
  page.setDefaultTimeout(10_000);
});

afterEach(async () => {
  await context.close();
});

const signInUrl = (): string =>
  `${family.passbook}/signin?${new URLSearchParams({ redirect_to: `${family.app}/back` }).toString()}`;

/** Fills in the provider's login form and returns to Passbook. */
async function agreeAtProvider(login: string): Promise<void> {
  await page.fill("[name=login]", login);
  await page.fill("[name=password]", "any");
  await page.click("[type=submit]");
  await page.click("[type=submit]");
}

async function signIn(login: string): Promise<string> {
  await page.goto(signInUrl());
  await page.getByRole("link", { name: "Continue with Real ID" }).click();
  await agreeAtProvider(login);
  await page.waitForURL(`${family.app}/back?token=*`);
  return new URL(page.url()).searchParams.get("token") ?? "";
}

/** A request of the app's page: with a bearer token, or with the browser's cookies. */
interface FromApp {
  readonly token?: string;
  readonly cookies?: boolean;
}

/** The response that the app's page can read; null if the browser blocks it (CORS). */
function fetchFromApp(
  path: string,
  { token = "", cookies = false }: FromApp = {},
): Promise<{ status: number; body: Record<string, unknown> } | null> {
  return page.evaluate(
    async ({ url, token, cookies }) => {
      const answer = await fetch(url, {
        headers: token === "" ? {} : { Authorization: `Bearer ${token}` },
        credentials: cookies ? "include" : "same-origin",
      }).catch(() => null);
      if (answer === null) return null;
      return { status: answer.status, body: await answer.json() };
    },
    { url: family.passbook + path, token, cookies },
  );
}

describe("signing in across two sites", () => {
  it("a sign-in returns a token, which works like the cookies, until the person signs out", async () => {
    const token = await signIn("ada");
    expect(await fetchFromApp("/api/wallet", { token })).toMatchObject({
      status: 200,
      body: { account: { identity_id: expect.stringMatching(/^user_/) } },
    });
    expect(await fetchFromApp("/api/wallet")).toMatchObject({ status: 401 });
    expect(await fetchFromApp("/api/wallet?app=demo", { cookies: true })).toMatchObject({
      status: 200,
      body: { account: { credits: 0 } },
    });
    const fresh = await fetchFromApp("/api/sessionToken", { cookies: true });
    expect(fresh).toMatchObject({ status: 200, body: { token: expect.any(String) } });

    await page.goto(`${family.passbook}/account`);
    expect(await page.textContent("main")).toContain("ada of Real ID");
    expect(await page.textContent("main")).toContain("ada@example.com");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    expect(await page.getByRole("status").textContent()).toBe("You are signed out.");
    await page.goto(`${family.app}/`);
    const refused = await fetchFromApp("/api/sessionToken", { cookies: true });
    expect(refused).toMatchObject({
      status: 401,
      body: { signin_url: expect.stringContaining("/signin?redirect_to=") },
    });
    expect(await fetchFromApp("/api/sessionToken", { token })).toMatchObject({ status: 401 });

    const log = family.worker.log();
    expect(log).toContain("/signin/callback/real");
    for (const secret of [token, String(fresh?.body["token"]), "code=", "state="]) {
      expect(log).not.toContain(secret);
    }
  });

  it("a signed-in person only confirms to continue to an app", async () => {
    await signIn("ada");
    await page.goto(signInUrl());
    await page.getByRole("button", { name: /^Continue/ }).press("Enter");
    await page.waitForURL(`${family.app}/back?token=*`);
    await page.goto(`${family.passbook}/signin`);
    expect(page.url()).toBe(`${family.passbook}/account`);
  });

  it("a signed-in person can use another account and returns to the same app", async () => {
    await signIn("ada");
    await page.goto(signInUrl());
    await page.getByRole("button", { name: "Use another account" }).click();
    await page.getByRole("link", { name: "Continue with Real ID" }).waitFor();
    const back = await page
      .getByRole("link", { name: "Continue with Real ID" })
      .getAttribute("href");
    expect(back).toContain(encodeURIComponent(`${family.app}/back`));
  });

  it("the app gets the provider's access token, renewed before it expires", async () => {
    const token = await signIn("ada");
    const tokens: unknown[] = [];
    for (const proof of [{ token }, { cookies: true }, { token }]) {
      const answer = await fetchFromApp("/api/oauthToken/real", proof);
      expect(answer?.status).toBe(200);
      tokens.push(answer?.body["token"]);
    }
    expect(new Set(tokens).size).toBe(3);
    const headers = { Authorization: `Bearer ${String(tokens.at(-1))}` };
    const person = await fetch(`${family.openid}/me`, { headers });
    expect(await person.json()).toMatchObject({ sub: "ada" });
  });

  it("the JWT cookie is on the parent domain, the session and flow cookies are only on this host, and scripts read none", async () => {
    await page.goto(signInUrl());
    await page.getByRole("link", { name: "Continue with Real ID" }).click();
    const flow = (await context.cookies()).find(({ name }) => name === "passbook_signin");
    expect(flow).toMatchObject({
      domain: new URL(family.passbook).hostname,
      httpOnly: true,
      secure: true,
      sameSite: "Lax",
    });
    await agreeAtProvider("ada");
    await page.waitForURL(`${family.app}/back?token=*`);
    const cookies = (await context.cookies()).filter(({ name }) => name.startsWith("passbook_"));
    expect(cookies.map(({ name }) => name).toSorted()).toEqual([
      "passbook_session",
      "passbook_token",
    ]);
    const own_host = new URL(family.passbook).hostname;
    for (const cookie of cookies) {
      const domain = cookie.name === "passbook_token" ? ".family.localhost" : own_host;
      expect(cookie).toMatchObject({ domain, httpOnly: true, secure: true });
    }
    expect(await page.evaluate(() => document.cookie)).toBe("");
  });

  it("pages of other sites cannot read responses", async () => {
    await signIn("ada");
    await page.goto(family.app.replace("app.family", "stranger.family"));
    expect(await fetchFromApp("/api/wallet", { cookies: true })).toBeNull();
    expect(await fetchFromApp("/api/sessionToken", { cookies: true })).toBeNull();
  });

  it("a form on another site does not sign the person out", async () => {
    await signIn("ada");
    await page.goto(family.app.replace("app.family", "stranger.family"));
    await page.evaluate((action) => {
      const form = document.createElement("form");
      form.method = "post";
      form.action = action;
      document.body.append(form);
      form.submit();
    }, `${family.passbook}/signout`);
    await page.getByRole("heading", { name: "This request came from another site" }).waitFor();
    await page.goto(`${family.passbook}/account`);
    expect(page.url()).toBe(`${family.passbook}/account`);
  });
});

describe("a person who links a second provider", () => {
  it("a person with two linked providers signs in with either and can unlink one", async () => {
    family.mock.service.once("beforeUserinfo", (answer: MutableResponse) => {
      answer.body = { sub: "grace-at-mock", name: "Grace" };
    });
    const subject = (token: string) =>
      JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sub;
    const first = subject(await signIn("grace"));
    await page.goto(`${family.passbook}/account/security`);
    await page.getByRole("button", { name: "Link Mock" }).click();
    expect(await page.getByRole("status").textContent()).toContain("Linked.");

    await page.goto(`${family.passbook}/account/access`);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    family.mock.service.once("beforeUserinfo", (answer: MutableResponse) => {
      answer.body = { sub: "grace-at-mock", name: "Grace" };
    });
    await page.goto(signInUrl());
    await page.getByRole("link", { name: "Continue with Mock" }).click();
    await page.waitForURL(`${family.app}/back?token=*`);
    expect(subject(new URL(page.url()).searchParams.get("token") ?? "")).toBe(first);

    await page.goto(`${family.passbook}/account/security`);
    await page.getByRole("button", { name: "Unlink Mock" }).click();
    expect(await page.getByRole("status").textContent()).toContain("Unlinked.");
    expect(await page.getByRole("button", { name: /Unlink/ }).count()).toBe(0);
  });
});

describe("a person who cannot sign in", () => {
  it("after cancelling at the provider, the person can try again", async () => {
    await page.goto(signInUrl());
    await page.getByRole("link", { name: "Continue with Real ID" }).click();
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "You were not signed in" }).waitFor();
    await page.getByRole("link", { name: "Continue with Real ID" }).click();
    await agreeAtProvider("linus");
    await page.waitForURL(`${family.app}/back?token=*`);
  });

  it("an expired sign-in shows what to do next", async () => {
    await page.goto(`${family.passbook}/signin/callback/real?code=old&state=old`);
    await page.getByRole("heading", { name: "This sign-in has expired" }).waitFor();
  });

  it("a redirect address that is not allowed shows an error page", async () => {
    const answer = await page.goto(`${family.passbook}/signin?redirect_to=https://evil.test/`);
    expect(answer?.status()).toBe(400);
    await page.getByRole("heading", { name: "We can’t send you back to that address" }).waitFor();
  });
});
