import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../src/commands/development_settings.ts";
import { freePort, startLocalWorker, type LocalWorker } from "../../src/commands/local_worker.ts";
import { launchBrowser } from "../support/outside/chromium.ts";
import { spreadOverDays } from "./history.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SCREENSHOTS = ".scratch/account";
const PICTURES = "https://pictures.example";
const PAGE_MAX_BYTES = 60 * 1024;

const SCREENS = {
  light: { colorScheme: "light", viewport: { width: 1200, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1200, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 800 } },
} as const satisfies Record<string, BrowserContextOptions>;

let directory: string;
let passbook: LocalWorker;
let browser: Browser;
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-account-"));
  const env_file = join(directory, "settings.env");
  await writeFile(env_file, await developmentSettings());
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

/** A browser of somebody's own, with no cookies yet; it knows one host of pictures. */
async function openBrowser(options: BrowserContextOptions = SCREENS.light): Promise<Page> {
  const context = await browser.newContext(options);
  contexts.push(context);
  await context.route(`${PICTURES}/**`, (route) =>
    route.fulfill({
      contentType: "image/svg+xml",
      body:
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" ` +
        `fill="#b8cbe0"/><path d="M0 8 3 4l2 2 1-1 2 3z" fill="#4c6f8f"/></svg>`,
    }),
  );
  return context.newPage();
}

/** Someone signed in, in a browser and as a client of the API. */
interface Person {
  readonly page: Page;
  post(path: string, body: object): Promise<Record<string, never>>;
  get(path: string): Promise<Record<string, never>>;
}

async function signIn(email: string, options?: BrowserContextOptions): Promise<Person> {
  const page = await openBrowser(options);
  await page.goto(`${passbook.url}/signin`);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${passbook.url}/account`);
  const { token } = await page.request
    .get(`${passbook.url}/api/sessionToken`)
    .then((answer) => answer.json());
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    page,
    get: async (path) => (await fetch(passbook.url + path, { headers: authorization })).json(),
    post: async (path, body) => {
      const headers = { ...authorization, "Content-Type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(passbook.url + path, init)).json();
    },
  };
}

interface Work {
  readonly app: string;
  readonly action: string;
  readonly estimate: number;
  /** Null: it goes on running; "failed": it fails. */
  readonly cost: number | "failed" | null;
  readonly metadata?: object;
}

const WORK: readonly Work[] = [
  { app: "paint", action: "image.generate", estimate: 12, cost: 9 },
  { app: "voice", action: "speech.transcribe", estimate: 20, cost: 14 },
  { app: "paint", action: "image.upscale", estimate: 6, cost: 6 },
  {
    app: "notes-studio",
    action: "summary.write",
    estimate: 4,
    cost: 3,
    metadata: { description: "Minutes of the Tuesday meeting, with open questions" },
  },
  {
    app: "paint",
    action: "image.generate",
    estimate: 12,
    cost: 11,
    metadata: {
      description: "Mountains in the morning, watercolour, wide",
      previewUrl: `${PICTURES}/mountains.svg`,
    },
  },
  { app: "voice", action: "speech.transcribe", estimate: 15, cost: "failed" },
  {
    app: "paint",
    action: "image.generate",
    estimate: 10,
    cost: null,
    metadata: { description: "A heron over the pond" },
  },
  { app: "notes-studio", action: "summary.write", estimate: 2, cost: null },
];

async function work(person: Person, jobs: readonly Work[] = WORK): Promise<void> {
  for (const app of new Set(jobs.map((job) => job.app))) await person.get(`/api/wallet?app=${app}`);
  for (const { app, action, estimate: cost_estimate, cost, metadata } of jobs) {
    const created = await person.post("/api/jobs", { app, action, cost_estimate, metadata });
    const { job_id } = created;
    if (cost === "failed") await person.post("/api/jobs/fail", { job_id });
    else if (cost !== null) await person.post("/api/jobs/complete", { job_id, actual_cost: cost });
  }
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, "utf8"));
  const results = await page.evaluate((): Promise<AxeResults> =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`,
  );
}

async function look(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

const PLACES = {
  account: "/account",
  "account-news": "/account?notice=linked",
  jobs: "/account/jobs",
  "jobs-filtered": "/account/jobs?app=voice&status=failed",
  "jobs-none": "/account/jobs?app=voice&status=started",
  statement: "/account/statement",
  tokens: "/account/tokens",
  device: "/device",
  problem: "/nowhere",
} as const;

describe.each(Object.entries(SCREENS))("pages in %s", (screen, options) => {
  it("are without violation, within their size, and ask only us and for pictures", async () => {
    for (const [state, jobs] of [
      ["full", WORK],
      ["new", []],
    ] as const) {
      const person = await signIn(`${state}-${screen}@example.com`, options);
      await work(person, jobs);
      if (state === "full") await spreadOverDays(join(directory, "state"), `${state}-${screen}`);
      const { page } = person;
      const refused: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" && !message.text().includes("404")) {
          refused.push(message.text());
        }
      });
      for (const [place, path] of Object.entries(PLACES)) {
        let bytes = 0;
        const hosts = new Set<string>();
        const weigh = async (answer: { url(): string; body(): Promise<Buffer> }): Promise<void> => {
          hosts.add(new URL(answer.url()).origin);
          if (answer.url().includes("/api/events")) return;
          const body = await answer.body().catch(() => null);
          bytes += body?.byteLength ?? 0;
        };
        page.on("response", weigh);
        await page.goto(passbook.url + path);
        await page.waitForTimeout(150);
        page.off("response", weigh);
        expect(await violations(page), `${state} ${place}`).toEqual([]);
        const widths = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          innerWidth,
        ]);
        expect(widths[0], `${state} ${place}`).toBeLessThanOrEqual(widths[1] ?? 0);
        expect(bytes, `${state} ${place}`).toBeLessThan(PAGE_MAX_BYTES);
        hosts.delete(PICTURES);
        expect([...hosts], place).toEqual([new URL(passbook.url).origin]);
        await look(page, `${place}-${state}-${screen}`);
      }
      expect(refused).toEqual([]);
    }
  });
});

describe("the account, live", () => {
  it("shows each change at once and the rest soon, without a reload", async () => {
    const ada = await signIn("live@example.com");
    await work(ada, [{ app: "paint", action: "image.generate", estimate: 10, cost: 4 }]);
    await ada.page.goto(`${passbook.url}/account`);
    const balance = ada.page.locator("[data-credits]");
    expect(await balance.textContent()).toBe("96");
    const following = ada.page.waitForResponse((answer) => answer.url().includes("/api/events"));
    await ada.page.reload();
    await following;
    const loaded = await ada.page.evaluate(() => performance.timeOrigin);
    const { job_id } = await ada.post("/api/jobs", {
      app: "paint",
      action: "image.generate",
      cost_estimate: 20,
      metadata: { description: "A fox in the snow" },
    });
    await ada.page.getByText("20 on hold for 1 running job").waitFor();
    await ada.page.getByRole("heading", { name: "A fox in the snow" }).waitFor();
    expect(await ada.page.locator("[data-credits]").textContent()).toBe("76");
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 11 });
    await ada.page.getByText("Nothing on hold").waitFor();
    expect(await ada.page.locator("[data-credits]").textContent()).toBe("85");
    expect(await ada.page.evaluate(() => performance.timeOrigin)).toBe(loaded);
  });

  it("ends in two browsers with the same balance after many jobs and lost connections", async () => {
    const ada = await signIn("busy@example.com");
    const other = await signIn("busy@example.com");
    await work(ada, []);
    await ada.get("/api/wallet?app=paint");
    for (const { page } of [ada, other]) await page.goto(`${passbook.url}/account`);
    const job = async (): Promise<void> => {
      const body = { app: "paint", action: "draw", cost_estimate: 2 };
      const { job_id } = await ada.post("/api/jobs", body);
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    };
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 10 }, job));
      await other.page.context().setOffline(round % 2 === 0);
    }
    await other.page.context().setOffline(false);
    for (const { page } of [ada, other]) {
      await page.getByText("50 credits in the last 30 days").waitFor();
      expect(await page.locator("[data-credits]").textContent()).toBe("50");
    }
  });
});

describe("a reader's own time", () => {
  it("is shown with its zone's name, and UTC without scripts", async () => {
    const tokyo = { ...SCREENS.light, timezoneId: "Asia/Tokyo" };
    const { page } = await signIn("tokyo@example.com", tokyo);
    await page.goto(`${passbook.url}/account/statement`);
    await page.getByText("Times are in Asia/Tokyo.").waitFor();
    const time = page.locator("td.when time").first();
    const at = new Date((await time.getAttribute("datetime")) ?? "");
    const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", timeZone: "Asia/Tokyo" });
    expect(await time.textContent()).toContain(`${hour.format(at)}:`);

    const context = await browser.newContext({ ...tokyo, javaScriptEnabled: false });
    contexts.push(context);
    await context.addCookies(await page.context().cookies());
    const silent = await context.newPage();
    await silent.goto(`${passbook.url}/account/statement`);
    await silent.getByText("Times are in UTC.").waitFor();
    await silent.goto(`${passbook.url}/account/jobs`);
    await silent.getByLabel("Status").selectOption("failed");
    await silent.getByRole("button", { name: "Show" }).click();
    await silent.getByText("No job matches.").waitFor();
    await silent.getByRole("link", { name: "Show all jobs" }).click();
    await silent.waitForURL(`${passbook.url}/account/jobs`);
  });
});

describe("the acts of the account", () => {
  it("work with the keyboard alone", async () => {
    const { page } = await signIn("keys@example.com");
    await page.goto(`${passbook.url}/account`);
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").textContent()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "main");
    await page.goto(`${passbook.url}/account`);
    for (const name of ["Skip", "Passbook", "Account", "Jobs"]) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      expect(await focused.textContent()).toContain(name);
      const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
      expect(outline).toBe("solid");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  });

  it("end another browser, which has to sign in again", async () => {
    const here = await signIn("two@example.com");
    const there = await signIn("two@example.com");
    await here.page.goto(`${passbook.url}/account`);
    await here.page.getByRole("button", { name: /^End the session/ }).click();
    await here.page.getByText("Ended. That browser has to sign in again.").waitFor();
    await there.page.goto(`${passbook.url}/account`);
    await there.page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("take a person's data and statement away as files", async () => {
    const { page } = await signIn("files@example.com");
    const [data] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download my data" }).click(),
    ]);
    expect(data.suggestedFilename()).toBe("my-data.json");
    await page.getByRole("link", { name: "Statement" }).first().click();
    const [statement] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download as CSV" }).click(),
    ]);
    expect(statement.suggestedFilename()).toMatch(/^statement-\d{4}-\d{2}\.csv$/);
  });

  it("print as a statement, without what only a screen needs", async () => {
    const ada = await signIn("print@example.com");
    await work(ada);
    await ada.page.goto(`${passbook.url}/account/statement`);
    await ada.page.emulateMedia({ media: "print" });
    expect(await ada.page.getByRole("navigation", { name: "Account" }).isVisible()).toBe(false);
    expect(await ada.page.getByRole("table").isVisible()).toBe(true);
    await look(ada.page, "statement-print");
  });

  it("move nothing while a page is drawn", async () => {
    const ada = await signIn("still@example.com");
    await work(ada);
    for (const path of ["/account", "/account/jobs", "/account/statement"]) {
      await ada.page.goto(passbook.url + path);
      await ada.page.waitForTimeout(300);
      const moved = await ada.page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            let sum = 0;
            new PerformanceObserver((list) => {
              for (const entry of list.getEntries()) {
                sum += (entry as unknown as { value: number }).value;
              }
            }).observe({ type: "layout-shift", buffered: true });
            setTimeout(() => resolve(sum), 100);
          }),
      );
      expect(moved, path).toBe(0);
    }
  });
});
