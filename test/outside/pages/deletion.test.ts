/** Deleting an account with the keyboard, without scripts, on small and dark screens. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { launchBrowser } from "../support/chromium.ts";
import { startTestWorker } from "../support/test_worker.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SCREENSHOTS = ".scratch/deletion";
const SCREENS = {
  light: { colorScheme: "light", viewport: { width: 1000, height: 800 } },
  dark: { colorScheme: "dark", viewport: { width: 1000, height: 800 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 800 } },
} as const satisfies Record<string, BrowserContextOptions>;

let directory: string;
let passbook: LocalWorker;
let browser: Browser;
let axe: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-deletion-"));
  const env_file = join(directory, "settings.env");
  await writeFile(env_file, await developmentSettings());
  const persist_to = join(directory, "state");
  passbook = await startTestWorker({ port: await freePort(), persist_to, env_file });
  browser = await launchBrowser();
  axe = await readFile(AXE, "utf8");
  await mkdir(SCREENSHOTS, { recursive: true });
});

afterAll(async () => {
  await browser?.close();
  await passbook?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The deletion page of a person with credits and a running job. */
async function openDeletion(email: string, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(`${passbook.url}/signin`);
  await page.getByLabel("E-mail address").fill(email);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${passbook.url}/account`);
  const headers = { Origin: passbook.url };
  await page.request.get(`${passbook.url}/api/wallet?app=demo`, { headers });
  const data = { app: "demo", action: "draw", cost_estimate: 30 };
  await page.request.post(`${passbook.url}/api/jobs`, { headers, data });
  await page.getByRole("link", { name: "delete your account" }).click();
  await page.waitForURL(`${passbook.url}/account/delete`);
  return page;
}

/** Expects no accessibility violation and no sideways scrolling, and takes a screenshot. */
async function expectWell(page: Page, name: string, screen: string): Promise<void> {
  await page.screenshot({ path: `${SCREENSHOTS}/${name}-${screen}.png`, fullPage: true });
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(widths[0], name).toBeLessThanOrEqual(widths[1] ?? 0);
  await page.evaluate(axe);
  const { violations } = await page.evaluate((): Promise<AxeResults> =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`),
  ).toEqual([]);
}

describe.each(Object.entries(SCREENS))("deleting an account in %s", (screen, options) => {
  it("the account is deleted with only the keyboard, on pages without accessibility violation", async () => {
    const page = await openDeletion(`${screen}@example.com`, options);
    await expectWell(page, "ask", screen);
    const reached: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      reached.push((await focused.getAttribute("id")) ?? (await focused.innerText()));
      const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
      expect(outline).toBe("solid");
      if (reached.at(-1) === "confirmation") await page.keyboard.type("remove");
    }
    expect(reached).toEqual([
      "download your data",
      "confirmation",
      "Delete my account",
      "Keep my account",
    ]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    // The field with the problem has the focus and is marked as invalid.
    const field = page.getByLabel("Type delete to confirm");
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator(":focus").getAttribute("id")).toBe("confirmation");
    await expectWell(page, "wrong-word", screen);
    await page.keyboard.type("delete");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your account is deleted" }).waitFor();
    await expectWell(page, "farewell", screen);
    await page.getByRole("link", { name: "Go to the sign-in page" }).press("Enter");
    await page.waitForURL(`${passbook.url}/signin`);
    await page.context().close();
  });
});

it("an account can be deleted without scripts", async () => {
  const options = { ...SCREENS.light, javaScriptEnabled: false };
  const page = await openDeletion("scripts-off@example.com", options);
  await page.locator("#confirmation").fill("delete");
  await page.getByRole("button", { name: "Delete my account" }).click();
  await page.getByRole("heading", { name: "Your account is deleted" }).waitFor();
  await page.goto(`${passbook.url}/account`);
  await page.waitForURL(/\/signin\?/);
  await page.context().close();
});
