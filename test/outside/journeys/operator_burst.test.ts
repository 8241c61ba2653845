/**
 * What an operator comes with, through the pages only: an app that burns credits, and the id of a job that a person wrote.
 * Each step uses what the page before shows.
 */
import type { Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import { expectForEverybody, SCREENS, usePages } from "../support/pages_in_browser.ts";

const OPERATOR = "olga@example.com";
const MESSAGE = "Paint rests until tomorrow morning. Your credits are safe.";

const pages = usePages("operator_burst", { OPERATORS: OPERATOR });

/** Sends a request of a signed-in person, as an app with their token does. */
async function call(page: Page, method: "GET" | "POST", path: string, body?: object) {
  const session = await page.request.get(`${pages.url}/api/sessionToken`, { maxRetries: 2 });
  const { token } = (await session.json()) as { token: string };
  const response = await fetch(pages.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const JOB = { app: "paint", action: "image.generate", cost_estimate: 40 };

/** A person whose job of this app cost 40 credits. */
async function burn(email: string): Promise<{ page: Page; job_id: string }> {
  const page = await pages.signIn(email);
  await call(page, "GET", "/api/wallet?app=paint");
  const { body } = await call(page, "POST", "/api/jobs", JOB);
  const job_id = String(body["job_id"]);
  await call(page, "POST", "/api/jobs/complete", { job_id, actual_cost: 40 });
  return { page, job_id };
}

/** Pictures of a page on both screens and in both colour schemes, with `PICTURES=true`. */
async function pictures(page: Page, name: string): Promise<void> {
  for (const [screen, { viewport }] of Object.entries(SCREENS)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await pages.picture(page, `${name}-${screen}-${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(SCREENS.wide.viewport);
}

it("an operator sees which app burns credits today and whose, pauses it, and lets it continue", async () => {
  const olga = await pages.signIn(OPERATOR);
  const settings = { name: "Paint", starter_credits: 100, origins: [], daily_starter_budget: null };
  await olga.request.put(`${pages.url}/api/admin/apps/paint`, {
    headers: { Origin: pages.url },
    data: settings,
  });
  const { page: ada } = await burn("ada@example.com");

  await olga.goto(`${pages.url}/console`);
  // The read model follows within seconds.
  await vi.waitFor(
    async () => {
      await olga.getByLabel("Time", { exact: true }).selectOption({ label: "Today" });
      await olga.locator("#totals").getByRole("button", { name: "Show" }).click();
      await olga
        .getByRole("table", { name: "By app" })
        .getByRole("link", { name: "Paint" })
        .waitFor({ timeout: 1_000 });
    },
    { timeout: 30_000 },
  );
  await expectForEverybody(olga, "the overview of today");
  await pictures(olga, "today");
  await olga.getByRole("table", { name: "By app" }).getByRole("link", { name: "Paint" }).click();
  // The schedule writes this list.
  await fetch(`${pages.url}/cdn-cgi/handler/scheduled?cron=*/10+*+*+*+*`);
  await olga.reload();
  const top = olga.getByRole("table", { name: "The accounts that spend most" });
  expect(await top.getByRole("row").nth(1).innerText()).toMatch(/ada@example\.com\s+40/);
  await expectForEverybody(olga, "one app today");
  await pictures(olga, "today-app");

  await olga.getByRole("link", { name: "Pause this app" }).click();
  await olga.getByLabel("Reason").fill("burns credits since noon");
  await olga.getByRole("button", { name: "Pause this app" }).click();
  // A form that was refused keeps its input, and says at the field what is missing.
  expect(await olga.getByLabel("Reason").inputValue()).toBe("burns credits since noon");
  await olga.getByLabel("What people read").fill(MESSAGE);
  await expectForEverybody(olga, "pausing an app");
  await pictures(olga, "pause");
  await olga.getByRole("button", { name: "Pause this app" }).click();
  await olga.getByText("The app is paused.").waitFor();
  await expectForEverybody(olga, "a paused app");
  await pictures(olga, "paused");

  const refused = await call(ada, "POST", "/api/jobs", { ...JOB, cost_estimate: 1 });
  expect(refused).toEqual({ status: 403, body: { error: MESSAGE, code: "app_paused" } });
  await ada.goto(`${pages.url}/account/access`);
  await ada.getByText(`The operator paused this app: “${MESSAGE}”`).waitFor();

  await olga.getByRole("link", { name: "Continue" }).click();
  await olga.getByLabel("Reason").fill("release 41 repaired it");
  await olga.getByRole("button", { name: "Continue" }).click();
  await olga.getByText("The app continues.").waitFor();
  expect((await call(ada, "POST", "/api/jobs", { ...JOB, cost_estimate: 1 })).status).toBe(200);
});

it("an operator who has only a job's id finds the job, whose it is and the way to give credits back", async () => {
  const { job_id } = await burn("bob@example.com");
  const olga = await pages.signIn(OPERATOR);
  await olga.getByRole("link", { name: "Console" }).click();
  await vi.waitFor(
    async () => {
      const field = olga.getByRole("searchbox", { name: "Search", exact: true });
      await field.fill(job_id);
      await field.press("Enter");
      await olga.waitForURL(`**/jobs/${job_id}`, { timeout: 1_000 });
    },
    { timeout: 30_000 },
  );
  await olga.getByText("bob@example.com").first().waitFor();
  await olga.getByRole("button", { name: "Review the refund" }).waitFor();
  await expectForEverybody(olga, "the job that was found");

  const field = olga.getByRole("searchbox", { name: "Search", exact: true });
  await field.fill("nobody-has-this");
  await field.press("Enter");
  await olga.getByText("Nothing was found.").waitFor();
  await expectForEverybody(olga, "a search without a hit");
  await pictures(olga, "search");
});
