/** The holder's pages for everybody: on a phone, with large text, with a keyboard, and with a screen reader. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { SCREENS, usePages } from "../support/pages_in_browser.ts";

const pages = usePages("every_way");

const LISTS = ["/account/jobs", "/account/statement"] as const;
const PAGES = [
  "/account",
  ...LISTS,
  "/account/access",
  "/account/access/stop?app=paint",
  "/account/security",
  "/account/purchases",
  "/account/tokens/new",
  "/account/delete",
  "/device",
  "/nowhere",
] as const;

type Post = (path: string, body: object) => Promise<Record<string, never>>;

/** A person with jobs whose names, reasons and starters are long. */
async function open(email: string, options?: BrowserContextOptions) {
  const page = await pages.signIn(email, options);
  const { token } = await (
    await page.request.get(`${pages.url}/api/sessionToken`, { maxRetries: 2 })
  ).json();
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const post: Post = async (path, body) => {
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(pages.url + path, init)).json();
  };
  await fetch(`${pages.url}/api/wallet?app=paint`, { headers });
  const job = { app: "paint", action: "image.generate", cost_estimate: 5 };
  const description = "Minutes of the Tuesday meeting, with open questions and a list of decisions";
  for (const reason of [null, "The model is overloaded at the moment, please try again later"]) {
    const { job_id } = await post("/api/jobs", { ...job, metadata: { description } });
    if (reason === null) await post("/api/jobs/complete", { job_id, actual_cost: 4 });
    else await post("/api/jobs/fail", { job_id, reason });
  }
  const { job_id } = await post("/api/jobs", job);
  return { page, post, job_id };
}

/** What makes a page scroll sideways, with its right edge; empty if it does not scroll. */
const wideParts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.body.querySelectorAll("*")].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 1,
    );
    return wide.map((element) => {
      const { right } = element.getBoundingClientRect();
      return `${element.tagName}.${element.getAttribute("class")} to ${right} of ${clientWidth}`;
    });
  });

describe("the holder's pages", () => {
  it("on a phone, the rows of jobs and of the statement are at most 60 px high, and the navigation is one row", async () => {
    const { page } = await open("phone@example.com", SCREENS.phone);
    for (const path of LISTS) {
      await page.goto(pages.url + path);
      const rows = page.locator(".jobs > li, .movements > li:not(.day)");
      const heights = await rows.evaluateAll((all) =>
        all.map((row) => row.getBoundingClientRect().height),
      );
      expect(heights.length).toBeGreaterThan(2);
      expect(Math.max(...heights), path).toBeLessThanOrEqual(60);
      const tops = await page
        .getByRole("navigation", { name: "Account" })
        .getByRole("link")
        .evaluateAll((all) => all.map((link) => link.getBoundingClientRect().top));
      expect(new Set(tops).size).toBe(1);
    }
  });

  it.each([
    ["a phone", SCREENS.phone],
    ["a wide screen", SCREENS.wide],
  ])("with text of twice the size, no page scrolls sideways on %s", async (name, screen) => {
    const { page } = await open(`large-${screen.viewport.width}@example.com`, screen);
    const wider: string[] = [];
    for (const path of PAGES) {
      await page.goto(pages.url + path);
      await page.evaluate(() => {
        document.documentElement.style.fontSize = "200%";
      });
      wider.push(...(await wideParts(page)).map((part) => `${path}: ${part}`));
    }
    expect(wider, name).toEqual([]);
  });

  it("what changes by itself is said to screen readers: the balance, a job's end, and new rows", async () => {
    const { page, post, job_id } = await open("said@example.com");
    const said = (text: string | RegExp) => page.getByRole("status").filter({ hasText: text });
    await page.goto(`${pages.url}/account`);
    const name = "Your balance";
    await page.getByRole("region", { name }).getByText("5 held for 1 running job").waitFor();
    await post("/api/jobs/complete", { job_id, actual_cost: 3 });
    await said("Your balance is 93 credits. Nothing held.").waitFor({ state: "attached" });
    await page.goto(`${pages.url}/account/statement`);
    const job = { app: "paint", action: "draw", cost_estimate: 1 };
    const started = await post("/api/jobs", job);
    await said("1 new").getByRole("link", { name: "1 new" }).waitFor();
    await page.goto(`${pages.url}/account/jobs/${started["job_id"]}`);
    await post("/api/jobs/complete", { job_id: started["job_id"], actual_cost: 1 });
    await said("This job: Done").waitFor({ state: "attached" });
  });

  it("after a refused form the focus is on the summary, which leads to the field where the error is said once", async () => {
    const { page } = await open("forms@example.com");
    await page.goto(`${pages.url}/account/tokens/new`);
    await page.getByLabel("Largest number of credits", { exact: true }).fill("ten");
    await page.getByLabel("Name", { exact: true }).fill("Laptop");
    await page.getByLabel("All apps").check();
    await page.getByRole("button", { name: "Make the token" }).press("Enter");
    const summary = page.getByRole("alert");
    await summary.getByText("Please correct:").waitFor();
    expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const field = page.getByLabel("Largest number of credits", { exact: true });
    await page.waitForFunction(() => document.activeElement?.id === "credits");
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.inputValue()).toBe("ten");
    expect(await page.getByText("Enter a whole number of credits").count()).toBe(1);
  });

  it("after a form that worked, the focus is on the notice", async () => {
    const { page } = await open("notice@example.com");
    await page.goto(`${pages.url}/account/jobs?status=started`);
    await page.locator(".job-name").first().click();
    await page.getByText("Cancel this job").press("Enter");
    await page.getByRole("button", { name: "Yes, cancel it now" }).press("Enter");
    const notice = page.getByRole("status").filter({ hasText: "Cancelled." });
    await notice.waitFor();
    expect(await notice.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it("times show UTC as their title, and a button changes all of them to UTC and back, also on the next page", async () => {
    const tokyo = { ...SCREENS.wide, timezoneId: "Asia/Tokyo" };
    const { page } = await open("tokyo@example.com", tokyo);
    await page.goto(`${pages.url}/account/jobs`);
    const time = page.locator(".job time").first();
    const at = new Date((await time.getAttribute("datetime")) ?? "");
    const clockOf = (timeZone: string) =>
      new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone }).format(at);
    expect(await time.getAttribute("title")).toContain(`${clockOf("UTC")} UTC`);
    expect(await time.innerText()).toContain(clockOf("Asia/Tokyo"));
    await page.getByRole("button", { name: "Show UTC" }).press("Enter");
    expect(await time.innerText()).toContain(clockOf("UTC"));
    await page.getByText("Times are in UTC.").waitFor();
    await page.reload();
    await page.getByText("Times are in UTC.").waitFor();
    await page.getByRole("button", { name: "Show Asia/Tokyo" }).click();
    expect(await time.innerText()).toContain(clockOf("Asia/Tokyo"));
  });
});
