import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  expectForEverybody,
  layoutShifts,
  SCREENS,
  usePages,
} from "../support/pages_in_browser.ts";
import { spreadOverDays } from "./history.ts";

const PICTURES = "https://pictures.example";
/** Of the document. `docs.test.ts` limits the styles, which the browser keeps. */
const PAGE_MAX_BYTES = 60 * 1024;

const pages = usePages("account");

/** Serves the images of jobs to the test's browser. */
async function servePictures(page: Page): Promise<void> {
  await page.context().route(`${PICTURES}/**`, (route) =>
    route.fulfill({
      contentType: "image/svg+xml",
      body:
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" ` +
        `fill="#b8cbe0"/><path d="M0 8 3 4l2 2 1-1 2 3z" fill="#4c6f8f"/></svg>`,
    }),
  );
}

/** Someone signed in, in a browser and as a client of the API. */
interface Person {
  readonly page: Page;
  post(path: string, body: object): Promise<Record<string, never>>;
  get(path: string): Promise<Record<string, never>>;
}

async function signIn(email: string, options?: BrowserContextOptions): Promise<Person> {
  const page = await pages.signIn(email, options);
  await servePictures(page);
  const { token } = await page.request
    .get(`${pages.url}/api/sessionToken`)
    .then((answer) => answer.json());
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    page,
    get: async (path) => (await fetch(pages.url + path, { headers: authorization })).json(),
    post: async (path, body) => {
      const headers = { ...authorization, "Content-Type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(pages.url + path, init)).json();
    },
  };
}

interface Work {
  readonly app: string;
  readonly action: string;
  readonly estimate: number;
  /** Null if the job keeps running; "failed" if it fails. */
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

const PLACES = {
  account: "/account",
  "account-news": "/account/security?notice=linked",
  jobs: "/account/jobs",
  "jobs-filtered": "/account/jobs?app=voice&status=failed",
  "jobs-none": "/account/jobs?app=voice&status=started",
  statement: "/account/statement",
  purchases: "/account/purchases",
  tokens: "/account/access",
  security: "/account/security",
  "new-token": "/account/tokens/new",
  device: "/device",
  problem: "/nowhere",
} as const;

describe("the account's pages", () => {
  it(
    "the account pages have no accessibility violation, stay within their size and load only our files and job images",
    { tags: ["slow"] },
    async () => {
      for (const [state, jobs] of [
        ["full", WORK],
        ["new", []],
      ] as const) {
        const person = await signIn(`${state}@example.com`);
        await work(person, jobs);
        if (state === "full") await spreadOverDays(pages.state, state);
        const { page } = person;
        const refused: string[] = [];
        page.on("console", (message) => {
          if (message.type() === "error" && !message.text().includes("404")) {
            refused.push(message.text());
          }
        });
        for (const [place, path] of Object.entries(PLACES)) {
          const hosts = new Set<string>();
          const meet = (answer: { url(): string }): void =>
            void hosts.add(new URL(answer.url()).origin);
          page.on("response", meet);
          const answer = await page.goto(pages.url + path);
          await page.waitForTimeout(150);
          page.off("response", meet);
          await expectForEverybody(page, `${state} ${place}`);
          const bytes = (await answer?.body())?.byteLength;
          expect(bytes, `${state} ${place}`).toBeLessThan(PAGE_MAX_BYTES);
          hosts.delete(PICTURES);
          expect([...hosts], place).toEqual([new URL(pages.url).origin]);
          await pages.picture(page, `${place}-${state}`);
        }
        expect(refused).toEqual([]);
      }
    },
  );
});

describe("live updates of the account page", () => {
  it("an open account page updates its balance immediately and its other parts soon, without a reload", async () => {
    const ada = await signIn("live@example.com");
    await work(ada, [{ app: "paint", action: "image.generate", estimate: 10, cost: 4 }]);
    await ada.page.goto(`${pages.url}/account`);
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
    await ada.page.getByRole("main").getByText("20 held for 1 running job").waitFor();
    await ada.page.getByRole("link", { name: "A fox in the snow" }).waitFor();
    expect(await ada.page.locator("[data-credits]").textContent()).toBe("76");
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 11 });
    await ada.page.getByRole("main").getByText("Nothing held").waitFor();
    expect(await ada.page.locator("[data-credits]").textContent()).toBe("85");
    expect(await ada.page.evaluate(() => performance.timeOrigin)).toBe(loaded);
  });

  it(
    "an open account page reconnects after the service refused a stream",
    { tags: ["slow"] },
    async () => {
      const ada = await signIn("refused@example.com");
      await ada.get("/api/wallet?app=sketch");
      let requests = 0;
      await ada.page.route("**/api/events?*", (route) => {
        requests += 1;
        return requests <= 2 ? route.fulfill({ status: 503, body: "{}" }) : route.continue();
      });
      await ada.page.goto(`${pages.url}/account`);
      await expect.poll(() => requests, { timeout: 20_000 }).toBe(3);
      await ada.post("/api/jobs", { app: "sketch", action: "draw", cost_estimate: 30 });
      await ada.page.getByRole("main").getByText("30 held for 1 running job").waitFor();
    },
  );

  it(
    "two browsers show the same balance after many jobs and lost connections",
    { tags: ["slow"] },
    async () => {
      const ada = await signIn("busy@example.com");
      const other = await signIn("busy@example.com");
      await work(ada, []);
      await ada.get("/api/wallet?app=paint");
      for (const { page } of [ada, other]) await page.goto(`${pages.url}/account`);
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
    },
  );
});

describe("live lists", () => {
  it("open lists of jobs and entries say how many rows are new, and a link loads them", async () => {
    const ada = await signIn("lists@example.com");
    await work(ada, [{ app: "paint", action: "image.first", estimate: 5, cost: 4 }]);
    const other = await ada.page.context().newPage();
    await ada.page.goto(`${pages.url}/account/jobs`);
    await other.goto(`${pages.url}/account/statement`);
    await work(ada, [
      { app: "paint", action: "image.second", estimate: 5, cost: 3 },
      { app: "paint", action: "image.third", estimate: 5, cost: null },
    ]);
    for (const page of [ada.page, other]) {
      await page.bringToFront();
      await page.getByRole("link", { name: "2 new" }).click();
      await page.getByText("image.third").first().waitFor();
      expect(await page.locator(".new-rows").isVisible()).toBe(false);
    }
  });

  it("a job's page follows the job, and cancels it after a confirmation", async () => {
    const ada = await signIn("cancel@example.com");
    await ada.get("/api/wallet?app=paint");
    const body = { app: "paint", action: "image.generate", cost_estimate: 9 };
    const { job_id } = await ada.post("/api/jobs", body);
    const { page } = ada;
    await page.goto(`${pages.url}/account/jobs`);
    await page.getByRole("link", { name: "image.generate" }).click();
    await page.getByText("9 held", { exact: true }).first().waitFor();
    const confirm = page.getByRole("button", { name: "Yes, cancel it now" });
    expect(await confirm.isVisible()).toBe(false);
    await expectForEverybody(page, "a started job");
    await pages.picture(page, "job-started");
    await page.getByText("Cancel this job").click();
    await confirm.click();
    await page.getByText("You were not charged.").waitFor();
    await pages.picture(page, "job-cancelled");
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    await page.getByText("−5 credits").waitFor();
  });
});

describe("charts", () => {
  it("the balance chart shows date and value to pointer and keyboard, also without scripts", async () => {
    const ada = await signIn("chart@example.com", { ...SCREENS.wide, javaScriptEnabled: false });
    await work(ada);
    await ada.page.goto(`${pages.url}/account`);
    const columns = ada.page.locator(".points label");
    expect(await columns.count()).toBe(30);
    const text = columns.nth(29).locator("span");
    const opacity = () => text.evaluate((element) => getComputedStyle(element).opacity);
    expect(await opacity()).toBe("0");
    await columns.nth(29).hover();
    expect(await text.textContent()).toMatch(/\d\d:\d\d: \d+ credits$/);
    expect(await opacity()).toBe("1");
    await ada.page.mouse.move(0, 0);
    await columns.nth(28).locator("input").focus();
    expect(await opacity()).toBe("0");
    await ada.page.keyboard.press("ArrowRight");
    expect(await opacity()).toBe("1");
    await pages.picture(ada.page, "chart-focus");
  });
});

describe("a reader's own time", () => {
  it("times are in the reader's time zone, and in UTC without scripts", async () => {
    const tokyo = { ...SCREENS.wide, timezoneId: "Asia/Tokyo" };
    const { page } = await signIn("tokyo@example.com", tokyo);
    await page.goto(`${pages.url}/account/statement`);
    await page.getByText("Times are in Asia/Tokyo.").waitFor();
    const time = page.locator(".movement time").first();
    const at = new Date((await time.getAttribute("datetime")) ?? "");
    const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", timeZone: "Asia/Tokyo" });
    expect(await time.textContent()).toContain(`${hour.format(at)}:`);

    const silent = await pages.openPage({ ...tokyo, javaScriptEnabled: false });
    await silent.context().addCookies(await page.context().cookies());
    await silent.goto(`${pages.url}/account/statement`);
    await silent.getByText("Times are in UTC.").waitFor();
    await silent.goto(`${pages.url}/account/jobs`);
    await silent.getByLabel("Status").selectOption("failed");
    await silent.getByRole("button", { name: "Show" }).click();
    await silent.getByText("No jobs match.").waitFor();
    await silent.getByRole("link", { name: "Show all jobs" }).click();
    await silent.waitForURL(`${pages.url}/account/jobs`);
  });
});

describe("the actions of the account page", () => {
  it("the account page works with only the keyboard", async () => {
    const { page } = await signIn("keys@example.com");
    await page.goto(`${pages.url}/account`);
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").textContent()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "main");
    await page.goto(`${pages.url}/account`);
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

  it("a browser whose session is ended has to sign in again", async () => {
    const here = await signIn("two@example.com");
    const there = await signIn("two@example.com");
    await here.page.goto(`${pages.url}/account/access`);
    await here.page.getByRole("button", { name: /^End/ }).click();
    await here.page.getByRole("heading", { name: "End 1 session?" }).waitFor();
    await pages.picture(here.page, "end-session");
    await expectForEverybody(here.page, "end-session");
    await here.page.getByRole("button", { name: "End 1 session" }).click();
    await here.page.getByText("Ended. That browser has to sign in again.").waitFor();
    await there.page.goto(`${pages.url}/account`);
    await there.page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("the data and the statement can be downloaded", async () => {
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

  it("the printed statement leaves out the navigation", { tags: ["slow"] }, async () => {
    const ada = await signIn("print@example.com");
    await work(ada);
    await ada.page.goto(`${pages.url}/account/statement`);
    await ada.page.emulateMedia({ media: "print" });
    expect(await ada.page.getByRole("navigation", { name: "Account" }).isVisible()).toBe(false);
    expect(
      await ada.page.locator(".movement .what", { hasText: "Starter credits" }).first().isVisible(),
    ).toBe(true);
    await pages.picture(ada.page, "statement-print");
  });

  it("the account pages have no layout shift", { tags: ["slow"] }, async () => {
    const ada = await signIn("still@example.com");
    await work(ada);
    for (const path of ["/account", "/account/jobs", "/account/statement"]) {
      await ada.page.goto(pages.url + path);
      expect(await layoutShifts(ada.page), path).toEqual([]);
    }
  });
});
