import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../src/commands/development_settings.ts";
import { freePort, startLocalWorker, type LocalWorker } from "../../src/commands/local_worker.ts";
import { awaitToken, startDevice, type DeviceOptions } from "../support/device_client.ts";
import { launchBrowser } from "../support/outside/chromium.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SCREENSHOTS = ".scratch/device";

const LIGHT: BrowserContextOptions = { colorScheme: "light" };
const DARK: BrowserContextOptions = { colorScheme: "dark" };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true };

let directory: string;
let passbook: LocalWorker;
let browser: Browser;
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-device-"));
  const env_file = join(directory, "settings.env");
  await writeFile(env_file, `${await developmentSettings()}DEVICE_POLL_INTERVAL_SECONDS=1\n`);
  const persist_to = join(directory, "state");
  passbook = await startLocalWorker({ port: await freePort(), persist_to, env_file });
  await registerApp(persist_to, "demo", "Demo");
  browser = await launchBrowser();
  await mkdir(SCREENSHOTS, { recursive: true });
});

afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});

afterAll(async () => {
  await browser?.close();
  await passbook?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Registers an app as its operator does. */
async function registerApp(persist_to: string, slug: string, name: string): Promise<void> {
  const values = `'${slug}', '${name}', 100, '[]', 0`;
  const sql = `insert into apps (slug, name, starter_credits, origins_json, created_at_ms) values (${values})`;
  const where = ["--local", "--persist-to", persist_to];
  await promisify(execFile)("wrangler", ["d1", "execute", "DIRECTORY", ...where, "--command", sql]);
}

/** A browser of somebody's own, with no cookies yet. */
async function openBrowser(options: BrowserContextOptions = LIGHT): Promise<Page> {
  const context = await browser.newContext(options);
  contexts.push(context);
  return context.newPage();
}

function device(client_name: string): DeviceOptions {
  return {
    base_url: passbook.url,
    client_name,
    app: "demo",
    user_agent: "node",
    fetch: (url, init) => fetch(url, init),
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
  };
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** What axe finds against WCAG 2.2 A and AA and its best practices, by rule and element. */
async function accessibilityProblems(page: Page): Promise<string[]> {
  // Through the debugger, not as a script element: the page's own CSP allows no script at all.
  await page.evaluate(await readFile(AXE, "utf8"));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

async function look(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  expect(await accessibilityProblems(page)).toEqual([]);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
  expect(overflow).toBe(false);
}

/** Opens the page of a login as somebody who signs in on the way. */
async function openSignedIn(
  page: Page,
  login: { verification_uri_complete: string },
  email: string,
) {
  await page.goto(login.verification_uri_complete);
  await signIn(page, email);
  await page.getByRole("heading", { name: "Connect this device?" }).waitFor();
}

async function tokensOf(token: string): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${passbook.url}/api/tokens`, { headers })).json();
}

const lastLetters = (page: Page) => page.getByLabel(/Type the four letters/);

describe("approving a device in a browser", () => {
  it("goes from the device through sign-in and comparison to a token that works", async () => {
    const options = device("Build agent");
    const login = await startDevice(options);
    const collecting = awaitToken(options, login);
    const page = await openBrowser();
    await page.goto(login.verification_uri_complete);
    expect(new URL(page.url()).pathname).toBe("/signin");
    await signIn(page, "ada@example.com");
    expect(page.url()).toBe(login.verification_uri_complete);
    const facts = await page.locator("dl.facts").innerText();
    for (const words of ["Build agent", "Demo (demo)", "Node.js", "just now"])
      expect(facts).toContain(words);
    expect(await page.getByLabel("Only these apps").isChecked()).toBe(true);
    expect(await page.getByLabel("Demo").isChecked()).toBe(true);
    expect(await page.getByLabel(/Also act as me/).isChecked()).toBe(false);
    await look(page, "confirm-light");

    await lastLetters(page).fill(login.user_code.slice(-4).toLowerCase());
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    await look(page, "approved-light");
    const outcome = await collecting;
    expect(outcome.kind).toBe("token");
    const token = outcome.kind === "token" ? outcome.token : "";
    const headers = { Authorization: `Bearer ${token}` };
    const wallet = await fetch(`${passbook.url}/api/wallet?app=demo`, { headers });
    expect(await wallet.json()).toMatchObject({ account: { credits: 100 } });
    expect(await tokensOf(token)).toMatchObject({
      tokens: [{ scopes: ["read", "write"], apps: ["demo"], cap: null }],
    });
    for (const secret of [token, login.device_code]) expect(passbook.log()).not.toContain(secret);

    await page.goto(login.verification_uri_complete);
    await page.getByRole("heading", { name: "This code was already used" }).waitFor();
    await look(page, "used-light");
  });

  it("can be denied, which the device is told", async () => {
    const options = device("Unasked-for");
    const login = await startDevice(options);
    const page = await openBrowser(DARK);
    await openSignedIn(page, login, "bob@example.com");
    await look(page, "confirm-dark");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("heading", { name: "Request denied" }).waitFor();
    await look(page, "denied-dark");
    expect(await awaitToken(options, login)).toEqual({ kind: "denied" });
  });

  it("keeps every choice through an error, and says it beside its field", async () => {
    for (const [name, options, email] of [
      ["light", LIGHT, "frida@example.com"],
      ["dark", DARK, "gina@example.com"],
      ["phone", PHONE, "hugo@example.com"],
    ] as const) {
      const asking = device("Careful");
      const login = await startDevice(asking);
      const collecting = awaitToken(asking, login);
      const page = await openBrowser(options);
      await openSignedIn(page, login, email);
      await page.getByLabel("Read only").check();
      await page.getByText("Other apps").click();
      await page.getByLabel("Their short names").fill("dmeo!");
      await page.getByLabel("At most this many credits").fill("25 or so");
      await page.getByLabel("Counted").selectOption("30_days");
      await lastLetters(page).fill("XXXX");
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("alert").waitFor();
      await look(page, `errors-${name}`);
      expect(await page.getByLabel("Read only").isChecked()).toBe(true);
      expect(await page.getByLabel("Demo").isChecked()).toBe(true);
      expect(await page.getByLabel("Their short names").inputValue()).toBe("dmeo!");
      expect(await page.getByLabel("Counted").inputValue()).toBe("30_days");
      const credits = page.getByLabel("At most this many credits");
      expect(await credits.inputValue()).toBe("25 or so");
      const described = (await credits.getAttribute("aria-describedby")) ?? "";
      expect(await page.locator(`#${described.split(" ")[0]}`).innerText()).toContain(
        "whole number",
      );
      await page.getByRole("alert").getByRole("link").first().click();
      await page.getByLabel("Their short names").fill("draw");
      await credits.fill("25");
      await lastLetters(page).fill(login.user_code);
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("heading", { name: "Device connected" }).waitFor();
      const outcome = await collecting;
      expect(await tokensOf(outcome.kind === "token" ? outcome.token : "")).toMatchObject({
        tokens: [
          { scopes: ["read"], apps: ["demo", "draw"], cap: { credits: 25, period: "30_days" } },
        ],
      });
    }
  });

  it("approves nothing by clicks alone, lured or doubled", async () => {
    const login = await startDevice(device("Lure"));
    const page = await openBrowser();
    await page.goto(`${passbook.url}/signin`);
    await signIn(page, "iris@example.com");
    await page.goto("about:blank");
    const lure = `<h1>Win</h1><a href="${login.verification_uri_complete}">Here</a>`;
    await page.route("http://elsewhere.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: lure }),
    );
    await page.goto("http://elsewhere.example/");
    await page.getByRole("link", { name: "Here" }).dblclick();
    await page.getByRole("heading", { name: "Connect a device" }).waitFor();
    expect(await page.getByLabel("Code").inputValue()).toBe(login.user_code);
    await look(page, "lured-light");
    await page.getByRole("button", { name: "Continue" }).dblclick();
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.dblclick();
    await page.getByRole("alert").waitFor();
    await approve.dblclick();
    const query = new URLSearchParams({ device_code: login.device_code });
    const polled = await fetch(`${passbook.url}/api/device/poll?${query.toString()}`);
    expect(polled.status).toBe(202);
  });

  it("works with the keyboard alone, limits included", async () => {
    const options = device("Keyboard");
    const login = await startDevice(options);
    const collecting = awaitToken(options, login);
    const page = await openBrowser();
    await page.goto(login.verification_uri);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("Tab");
    await page.keyboard.type("carol@example.com");
    await press("Enter");
    await page.getByRole("heading", { name: "Connect a device" }).waitFor();
    await look(page, "enter-light");
    await press("Tab");
    await page.keyboard.type(login.user_code.toLowerCase().replace("-", " "));
    await press("Enter");
    await page.getByRole("heading", { name: "Connect this device?" }).waitFor();

    // Read and spend, only these apps: Demo is ticked; others; credits; period; third parties.
    await press("Tab", "Tab", "Tab", "Tab", "Enter", "Tab");
    await page.keyboard.type("draw");
    await press("Tab");
    await page.keyboard.type("50");
    await press("Tab", "Tab", "Tab");
    await page.keyboard.type(login.user_code.slice(-4));
    await look(page, "limits-light");
    await press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Approve");
    await press("Enter");
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    const outcome = await collecting;
    const token = outcome.kind === "token" ? outcome.token : "";
    expect(await tokensOf(token)).toMatchObject({
      tokens: [
        { label: "Keyboard", apps: ["demo", "draw"], cap: { credits: 50, period: "total" } },
      ],
    });

    await press("Tab", "Enter");
    await page.getByRole("heading", { name: "Devices and tokens" }).waitFor();
    await look(page, "tokens-light");
    // Past the navigation by its skip link.
    await press("Tab", "Enter");
    await press("Tab", "Enter");
    await page.getByText("No device has access to your account.").waitFor();
    const headers = { Authorization: `Bearer ${token}` };
    const wallet = await fetch(`${passbook.url}/api/wallet`, { headers });
    expect(wallet.status).toBe(401);
  });

  it("fits a phone, in light and dark", async () => {
    for (const [colorScheme, email] of [
      ["light", "dora@example.com"],
      ["dark", "emil@example.com"],
    ] as const) {
      const login = await startDevice(device("A client with a rather long name, as some have"));
      const page = await openBrowser({ ...PHONE, colorScheme });
      await page.goto(login.verification_uri);
      await signIn(page, email);
      await look(page, `enter-phone-${colorScheme}`);
      await page.getByLabel("Code").fill("BCDF-GHJK");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "We do not know this code" }).waitFor();
      expect(await page.getByLabel("Code").inputValue()).toBe("BCDF-GHJK");
      await look(page, `unknown-phone-${colorScheme}`);
      await page.getByLabel("Code").fill(login.user_code);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "Connect this device?" }).waitFor();
      await look(page, `confirm-phone-${colorScheme}`);
    }
  });

  it("waits a minute after too many attempts, and then goes on with what was chosen", async () => {
    const login = await startDevice(device("Patient"));
    const page = await openBrowser(PHONE);
    await openSignedIn(page, login, "jana@example.com");
    await page.getByLabel("Read only").check();
    for (let attempt = 0; attempt < 12; attempt += 1) {
      if (await page.getByRole("heading", { name: "Too many attempts" }).isVisible()) break;
      await page.getByRole("button", { name: "Approve" }).click();
    }
    await page.getByRole("heading", { name: "Too many attempts" }).waitFor();
    await look(page, "too-many-phone");
    expect(await page.locator('input[name="access"]').inputValue()).toBe("read");
  });
});
