/** Attacks on a session by a sibling host, over https in a real browser. */
import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser } from "../support/chromium.ts";
import { makeCertificate } from "./certificate.ts";
import { PARENT_DOMAIN, startFamily, type Family } from "./family.ts";
import { startSibling, type Sibling } from "./sibling.ts";

let directory: string;
let family: Family;
let sibling: Sibling;
let browser: Browser;
let victim: BrowserContext;
let page: Page;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-"));
  const certificate = await makeCertificate(directory, `*.${PARENT_DOMAIN}`);
  family = await startFamily({}, certificate);
  sibling = await startSibling(`sibling.${PARENT_DOMAIN}`, certificate);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  sibling?.stop();
  await family?.stop();
  await rm(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  victim = await browser.newContext({ ignoreHTTPSErrors: true });
  page = await victim.newPage();
  page.setDefaultTimeout(10_000);
});

afterEach(async () => {
  await victim.close();
});

const SESSION = "__Host-passbook_session";
const TOKEN = "__Secure-passbook_token";

async function signIn(login: string, at = page): Promise<void> {
  await at.goto(`${family.passbook}/signin`);
  await at.getByRole("link", { name: "Continue with Real ID" }).click();
  await at.fill("[name=login]", login);
  await at.fill("[name=password]", "any");
  await at.click("[type=submit]");
  await at.click("[type=submit]");
  await at.waitForURL(`${family.passbook}/account`);
}

async function cookieOf(context: BrowserContext, name: string): Promise<string> {
  const cookies = await context.cookies(family.passbook);
  return cookies.find((cookie) => cookie.name === name)?.value ?? "";
}

/** The cookies of the sibling's owner, who is signed in here in another browser. */
async function attackersCookies() {
  const attacker = await browser.newContext({ ignoreHTTPSErrors: true });
  const at = await attacker.newPage();
  at.setDefaultTimeout(10_000);
  await signIn("mallory", at);
  const cookies = {
    session: await cookieOf(attacker, SESSION),
    token: await cookieOf(attacker, TOKEN),
  };
  await attacker.close();
  expect(cookies.session).toMatch(/^[\w-]{43}$/);
  return cookies;
}

/** The victim visits the sibling, which sets a cookie in every possible way. */
async function plant(name: string, value: string): Promise<void> {
  const shared = `Domain=${PARENT_DOMAIN}; Secure; SameSite=None; HttpOnly`;
  for (const path of ["/", "/account", "/account/link", "/api", "/api/wallet", "/signout"]) {
    await page.goto(sibling.setting(`${name}=${value}; Path=${path}; ${shared}`));
  }
  await page.goto(sibling.setting(`${name}=${value}; Path=/; Secure`));
}

async function walletOwnersName(): Promise<string> {
  await page.goto(`${family.passbook}/account`);
  return (await page.textContent("main")) ?? "";
}

/** The API's response to the victim's browser with all its cookies. */
async function apiStatusAndOwner(): Promise<{ status: number | undefined; owner: unknown }> {
  const answer = await page.goto(`${family.passbook}/api/wallet`);
  const body = await answer?.json();
  return { status: answer?.status(), owner: body.account?.identity_id ?? null };
}

/** The status of a response to only these cookies. */
function statusOf(path: string, cookies: string): Promise<number | undefined> {
  const headers = { Cookie: cookies, Host: new URL(family.passbook).host };
  return new Promise((resolve, reject) => {
    const address = new URL(path, family.worker.url);
    get(address, { headers, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
}

describe("a sibling host", { tags: ["slow"] }, () => {
  it("a sibling host never gets the session cookie, only the 15-minute JWT", async () => {
    await signIn("ada");
    const session = await cookieOf(victim, SESSION);
    expect(session).toMatch(/^[\w-]{43}$/);
    await page.goto(sibling.reading);
    // The last page may have renewed the JWT, so the test reads the one that the sibling received.
    const token = new RegExp(`${TOKEN}=([\\w-]+\\.[\\w-]+\\.[\\w-]+)`).exec(
      sibling.read.at(-1) ?? "",
    )?.[1];
    expect(token).toBeDefined();
    expect(sibling.read.join()).not.toContain(session);
    const both = `${SESSION}=${session}; ${TOKEN}=${token}`;
    expect(await statusOf("/api/wallet", both)).toBe(200);
    expect(await statusOf("/api/wallet", `${TOKEN}=${token}`)).toBe(401);
    expect(await statusOf("/account", `${TOKEN}=${token}`)).toBe(303);
  });

  it("a sibling host cannot set a session cookie, whatever its name, path or domain", async () => {
    const mallory = await attackersCookies();
    await signIn("ada");
    const before = await apiStatusAndOwner();
    for (const name of [SESSION, "passbook_session"]) await plant(name, mallory.session);
    for (const name of [TOKEN, "passbook_token"]) await plant(name, mallory.token);
    expect(await walletOwnersName()).toContain("ada of Real ID");
    expect(await apiStatusAndOwner()).toEqual(before);
  });

  it("a sibling host cannot link a victim's provider to its own account", async () => {
    const mallory = await attackersCookies();
    await signIn("grace");
    for (const name of [SESSION, "passbook_session"]) await plant(name, mallory.session);
    await plant(TOKEN, mallory.token);
    await page.goto(`${family.passbook}/account/security`);
    await page.getByRole("button", { name: "Link Mock" }).click();
    await page.getByRole("status").waitFor();
    await page.goto(`${family.passbook}/account`);
    expect(await page.textContent("main")).toContain("grace of Real ID");
    await page.goto(`${family.passbook}/account/security`);
    expect(await page.getByRole("button", { name: "Unlink Mock" }).count()).toBe(1);
  });

  it("a sibling host cannot hide a live session behind an ended one", async () => {
    await signIn("ada");
    for (const name of [SESSION, TOKEN, "passbook_session"]) await plant(name, "d".repeat(43));
    expect(await walletOwnersName()).toContain("ada of Real ID");
    expect((await apiStatusAndOwner()).status).toBe(200);
  });

  it("a sibling host cannot keep a person signed in who signs out", async () => {
    const mallory = await attackersCookies();
    await signIn("ada");
    const session = await cookieOf(victim, SESSION);
    await plant(SESSION, mallory.session);
    await plant(TOKEN, mallory.token);
    await page.goto(`${family.passbook}/account`);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("status").waitFor();
    expect(await cookieOf(victim, SESSION)).toBe("");
    expect(await statusOf("/account", `${SESSION}=${session}`)).toBe(303);
    expect((await apiStatusAndOwner()).status).toBe(401);
  });
});
