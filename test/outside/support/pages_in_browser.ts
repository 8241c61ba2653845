/** A Worker and a real browser for the page tests of one file, and checks that every page must pass. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults, RunOptions } from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { launchBrowser } from "./chromium.ts";
import { startTestWorker } from "./test_worker.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The screens that pages are tested on. */
export const SCREENS = {
  wide: { viewport: { width: 1200, height: 900 } },
  phone: { viewport: { width: 390, height: 800 } },
} as const satisfies Record<string, BrowserContextOptions>;

/** Screenshots take a quarter of these tests' time, so they are optional: see `test/README.md`. */
const TAKES_PICTURES = process.env["PICTURES"] === "true";

export interface PagesInBrowser {
  /** The Worker's origin. Available while tests run. */
  readonly url: string;
  /** The folder of the Worker's stores. */
  readonly state: string;
  /** The Worker's output so far. */
  log(): string;
  /** A page in a new browser context without cookies. It closes after the test. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** Signs a person in, in a new browser context, and returns their account page. */
  signIn(email: string, options?: BrowserContextOptions): Promise<Page>;
  /** With `PICTURES=true`, saves a screenshot of the whole page in `.scratch`, for review by people. */
  picture(page: Page, name: string): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

/**
 * Starts a Worker and a browser for all tests of a file. `settings` are added to those of development. A function is
 * called before the Worker starts.
 */
export function usePages(
  name: string,
  settings: Settings | (() => Promise<Settings>) = {},
): PagesInBrowser {
  const pictures = join(".scratch", name);
  const contexts: BrowserContext[] = [];
  let directory: string;
  let passbook: LocalWorker;
  let browser: Browser;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), `passbook-${name}-`));
    const env_file = join(directory, "settings.env");
    const more = typeof settings === "function" ? await settings() : settings;
    const lines = Object.entries(more).map(([setting, value]) => `${setting}='${value}'\n`);
    await writeFile(env_file, (await developmentSettings()) + lines.join(""));
    const persist_to = join(directory, "state");
    passbook = await startTestWorker({ port: await freePort(), persist_to, env_file });
    browser = await launchBrowser();
    if (TAKES_PICTURES) await mkdir(pictures, { recursive: true });
  });

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });

  afterAll(async () => {
    await browser?.close();
    await passbook?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const pages: PagesInBrowser = {
    get url() {
      return passbook.url;
    },
    get state() {
      return join(directory, "state");
    },
    log: () => passbook.log(),
    async openPage(options = SCREENS.wide) {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context.newPage();
    },
    async signIn(email, options) {
      const page = await pages.openPage(options);
      await page.goto(`${pages.url}/signin`);
      await fillSignIn(page, email);
      await page.waitForURL(`${pages.url}/account`);
      return page;
    },
    async picture(page, title) {
      if (!TAKES_PICTURES) return;
      await page.screenshot({ path: join(pictures, `${title}.png`), fullPage: true });
    },
  };
  return pages;
}

/** Signs in with the form of the open page. */
export async function fillSignIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** The rules of axe whose result depends on colours. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** Loads axe into the page that is open. */
async function loadAxe(page: Page): Promise<void> {
  // Evaluates it through the debugger, because the page's CSP forbids script elements.
  await page.evaluate(await readFile(AXE, "utf8"));
}

/**
 * Violations of WCAG 2.2 A and AA and of axe's best practices, or of some of these rules, by rule and
 * element. Requires `loadAxe`.
 */
async function violations(page: Page, rules: readonly string[] | null): Promise<string[]> {
  const options: RunOptions = {
    resultTypes: ["violations"],
    // Off by default, although WCAG 2.2 AA requires it.
    rules: { "target-size": { enabled: true } },
    ...(rules === null ? {} : { runOnly: { type: "rule", values: [...rules] } }),
  };
  const results = await page.evaluate(
    (given): Promise<AxeResults> =>
      (globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(
        given,
      ),
    options,
  );
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** The least width and height of a link or control (WCAG 2.2, 2.5.8), in CSS pixels. */
const TARGET_PX = 24;

/**
 * Links and controls that are too small. axe accepts them if they are far enough from others. Not counted: links within
 * a sentence, what a larger label contains, and hidden text for screen readers.
 */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const isText = (node: Node | null): boolean =>
      node?.nodeType === Node.TEXT_NODE && (node.textContent ?? "").trim().length > 1;
    return [...document.querySelectorAll("a, button, summary, select, input, textarea")]
      .filter((element) => element.closest("label") === null)
      .filter(
        ({ previousSibling, nextSibling }) => !isText(previousSibling) && !isText(nextSibling),
      )
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 1 && (box.width < least || box.height < least))
      .map(
        ({ element, box }) => `${box.width} x ${box.height}: ${element.outerHTML.slice(0, 120)}`,
      );
  }, TARGET_PX);
}

async function expectNotSideways(page: Page, place: string): Promise<void> {
  const width = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  expect(width.content, place).toBeLessThanOrEqual(width.window);
}

/**
 * Expects a page without accessibility violations and small targets that does not scroll sideways: on its own screen and on
 * a phone, in light and in dark. The page is not loaded again, and dark changes its colours only.
 */
export async function expectForEverybody(page: Page, place: string): Promise<void> {
  const screen = page.viewportSize() ?? SCREENS.wide.viewport;
  // A heading is in the document before the styles are.
  await page.waitForLoadState("load");
  await loadAxe(page);
  expect(await violations(page, null), place).toEqual([]);
  expect(await smallTargets(page), place).toEqual([]);
  await expectNotSideways(page, place);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violations(page, COLOR_RULES), `${place}, in dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(SCREENS.phone.viewport);
  expect(await violations(page, null), `${place}, on a phone`).toEqual([]);
  expect(await smallTargets(page), `${place}, on a phone`).toEqual([]);
  await expectNotSideways(page, `${place}, on a phone`);
  await page.setViewportSize(screen);
}

/** Long enough for the changes that a page's scripts make after loading. */
const DRAWING_MS = 150;

/**
 * Tables and rows of text settle by a few pixels while a slow connection brings them. A fifth of what Web Vitals call
 * good (0.1) allows that, and no block that comes late.
 */
const SHIFT_MAX = 0.02;

/**
 * The elements that moved while the page was drawn, and by how much (Layout Instability API). None if all of it stays
 * within SHIFT_MAX.
 */
export function layoutShifts(page: Page): Promise<string[]> {
  return page.evaluate(
    ({ drawing_ms, shift_max }) =>
      new Promise<string[]>((resolve) => {
        const moved: string[] = [];
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const { value, sources } = entry as unknown as {
              value: number;
              sources: readonly { readonly node: Node | null }[];
            };
            sum += value;
            const nodes = sources.map(({ node }) => {
              const element = node instanceof Element ? node : node?.parentElement;
              return (element?.outerHTML ?? "an element that was removed").slice(0, 80);
            });
            moved.push(`${value}: ${nodes.join(", ")}`);
          }
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum > shift_max ? moved : []), drawing_ms);
      }),
    { drawing_ms: DRAWING_MS, shift_max: SHIFT_MAX },
  );
}
