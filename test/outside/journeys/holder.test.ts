/**
 * What account holders come for, each from their account page by what the pages show: no step uses an address, an id or a
 * word that is not on the page before it.
 */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { SCREENS, usePages } from "../support/pages_in_browser.ts";

const pages = usePages("journeys", {
  SUPPORT_URL: "https://help.example/ask",
  SIGNIN_METHODS: "passkey",
});

/** A person with 100 credits of Paint, of which a job took 9 and a running one holds 12. */
async function openHolder(email: string) {
  const page = await pages.signIn(email);
  const { token } = await (
    await page.request.get(`${pages.url}/api/sessionToken`, { maxRetries: 2 })
  ).json();
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const post = async (path: string, body: object): Promise<Record<string, never>> => {
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(pages.url + path, init)).json();
  };
  await fetch(`${pages.url}/api/wallet?app=paint`, { headers });
  const job = { app: "paint", action: "image.upscale", cost_estimate: 12 };
  const metadata = { description: "Logo in three variations" };
  const { job_id } = await post("/api/jobs", { ...job, metadata });
  await post("/api/jobs/complete", { job_id, actual_cost: 9 });
  await post("/api/jobs", job);
  await page.goto(`${pages.url}/account`);
  return { page };
}

const follow = (page: Page, name: string | RegExp) =>
  page.getByRole("link", { name }).first().click();

/** The number of a figure of the statement. */
const figure = (page: Page, name: string) =>
  page
    .locator(".sums div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd")
    .innerText();

describe("an account holder", () => {
  it("why is my balance 79? The statement begins with that number, names what is held, and each row leads to it", async () => {
    const { page } = await openHolder("balance@example.com");
    const balance = page.getByRole("region", { name: "Your balance" });
    await balance.getByText("79 credits", { exact: true }).waitFor();
    await page.getByText("12 held for 1 running job").waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Statement" }).click();
    expect(await figure(page, "Balance")).toBe("79");
    expect(await figure(page, "Held")).toBe("12");
    const rows = page.locator(".movements > li:not(.day)");
    expect(await rows.locator("summary .after").allInnerTexts()).toEqual(
      ["79", "91", "100", "0"].map((left) => expect.stringContaining(left)),
    );
    await page.setViewportSize(SCREENS.phone.viewport);
    expect(await rows.locator("summary .after").first().isVisible()).toBe(false);
    for (const [index, left] of ["79", "91", "100", "0"].entries()) {
      await rows.nth(index).locator("summary").click();
      const after = rows.nth(index).locator("td:last-child").first();
      expect(await after.innerText()).toBe(left);
    }
  });

  it("which job was that? One name leads from the account to the statement and to the job", async () => {
    const { page } = await openHolder("name@example.com");
    await page.getByRole("link", { name: "Logo in three variations" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Statement" }).click();
    await page.getByRole("heading", { name: "Statement" }).waitFor();
    await page.getByText("Logo in three variations").first().click();
    await follow(page, /^Open this job ?: Logo in three variations/);
    await page.getByRole("heading", { name: "Logo in three variations", level: 1 }).waitFor();
    await page.getByText("image.upscale").first().waitFor();
  });

  it("stop this app: the page of access stops it, and says that it has no access any more", async () => {
    const { page } = await openHolder("stop@example.com");
    await follow(page, "See all and stop");
    await follow(page, "Stop Paint");
    await page.getByRole("button", { name: "Stop Paint" }).click();
    const notice = page.getByRole("status").filter({ hasText: "Stopped." });
    await notice.waitFor();
    expect(await notice.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByText("Only this browser can use your account").waitFor();
    await page.getByRole("button", { name: "Allow again Paint" }).waitFor();
  });

  it("who has access? One page lists apps, tokens and browsers, and says so if there is nothing else", async () => {
    const { page } = await openHolder("access@example.com");
    await page.getByRole("navigation").getByRole("link", { name: "Access" }).click();
    await page.getByText("1 app can use your account.").waitFor();
    for (const name of ["Apps", "Connections", "Tokens", "Browsers"]) {
      await page.getByRole("heading", { name, exact: true }).waitFor();
    }
  });

  it("I want my money back: a job asks the operator about itself, and every page has the contact", async () => {
    const { page } = await openHolder("money@example.com");
    await page.getByRole("contentinfo").getByRole("link", { name: "Contact support" }).waitFor();
    await follow(page, "Logo in three variations");
    const ask = page.getByRole("link", { name: "Something wrong?" });
    const job_id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect(await ask.getAttribute("href")).toBe(`https://help.example/ask?job=${job_id}`);
    await page.getByRole("contentinfo").getByRole("link", { name: "Contact support" }).waitFor();
  });

  it("I want my data: one button on the account page downloads it", async () => {
    const { page } = await openHolder("data@example.com");
    const downloading = page.waitForEvent("download");
    await follow(page, "Download my data");
    const file = await readFile(await (await downloading).path(), "utf8");
    expect(JSON.parse(file)).toMatchObject({ person: { email: "data@example.com" } });
  });

  it("how do I sign in, and what if I lose that? Security is a page of its own", async () => {
    const { page } = await openHolder("security@example.com");
    await page.getByRole("navigation").getByRole("link", { name: "Security" }).click();
    await page.getByRole("heading", { name: "How you sign in" }).waitFor();
    await page.getByRole("button", { name: "Add a passkey" }).waitFor();
    await follow(page, "Access");
    await page.getByRole("heading", { name: "Browsers", exact: true }).waitFor();
  });
});
