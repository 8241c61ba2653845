import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../src/commands/development_settings.ts";
import { freePort, startLocalWorker, type LocalWorker } from "../../src/commands/local_worker.ts";
import { awaitToken, startDevice, type DeviceOptions } from "../device/client.ts";
import { launchBrowser } from "./browser.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SCREENSHOTS = ".scratch/device";

const LIGHT: BrowserContextOptions = { colorScheme: "light" };
const DARK: BrowserContextOptions = { colorScheme: "dark" };
const PHONE: BrowserContextOptions = { viewport: { width: 375, height: 740 }, isMobile: true };

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
    await page.getByText(login.user_code).waitFor();
    const facts = await page.locator("dl.facts").innerText();
    for (const words of ["Build agent", "demo", "Node.js", "just now"])
      expect(facts).toContain(words);
    await look(page, "confirm-light");

    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    await look(page, "approved-light");
    const outcome = await collecting;
    expect(outcome.kind).toBe("token");
    const token = outcome.kind === "token" ? outcome.token : "";
    const headers = { Authorization: `Bearer ${token}` };
    const wallet = await fetch(`${passbook.url}/api/wallet?app=demo`, { headers });
    expect(await wallet.json()).toMatchObject({ account: { credits: 100 } });
    for (const secret of [token, login.device_code]) expect(passbook.log()).not.toContain(secret);

    await page.goto(login.verification_uri_complete);
    await page.getByRole("heading", { name: "This code was already used" }).waitFor();
    await look(page, "used-light");
  });

  it("can be denied, which the device is told", async () => {
    const options = device("Unasked-for");
    const login = await startDevice(options);
    const page = await openBrowser(DARK);
    await page.goto(login.verification_uri_complete);
    await signIn(page, "bob@example.com");
    await look(page, "confirm-dark");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("heading", { name: "Request denied" }).waitFor();
    await look(page, "denied-dark");
    expect(await awaitToken(options, login)).toEqual({ kind: "denied" });
  });

  it("works with the keyboard alone, limits included", async () => {
    const options = device("Keyboard");
    const login = await startDevice(options);
    const collecting = awaitToken(options, login);
    const page = await openBrowser();
    await page.goto(login.verification_uri);
    await page.keyboard.press("Tab");
    await page.keyboard.type("carol@example.com");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Connect a device" }).waitFor();
    await look(page, "enter-light");
    await page.keyboard.press("Tab");
    await page.keyboard.type(login.user_code.toLowerCase().replace("-", " "));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Does your device show this code?" }).waitFor();

    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Tab");
    await page.keyboard.type("demo");
    await page.keyboard.press("Tab");
    await page.keyboard.type("50");
    await look(page, "limits-light");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Approve");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    const outcome = await collecting;
    const token = outcome.kind === "token" ? outcome.token : "";
    const headers = { Authorization: `Bearer ${token}` };
    const listed = await fetch(`${passbook.url}/api/tokens`, { headers });
    expect(await listed.json()).toMatchObject({
      tokens: [{ label: "Keyboard", apps: ["demo"], cap: { credits: 50, period: "total" } }],
    });

    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Devices and tokens" }).waitFor();
    await look(page, "tokens-light");
    // Past the navigation by its skip link.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("No device has access to your account.").waitFor();
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
      await look(page, `unknown-phone-${colorScheme}`);
      await page.getByLabel("Code").fill(login.user_code);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText("Limit what it may do").click();
      await look(page, `confirm-phone-${colorScheme}`);
    }
  });
});
